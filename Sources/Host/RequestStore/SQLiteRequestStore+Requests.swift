import FoundationEssentials
import GRDB
public import TaskModel

extension SQLiteRequestStore {
    /// See ``RequestStore``.
    public func accept(
        _ submission: TaskSubmission, bundle: BundleIdentifier, kind: TaskKind, at time: WallTime,
        deadline: WallTime, pendingLimit: Int?
    ) async throws(SubmissionError) -> Acceptance {
        let result = await queue.perform { db in
            try Self.accept(
                submission, bundle: bundle, kind: kind, at: time, deadline: deadline,
                pendingLimit: pendingLimit,
                in: db)
        }
        switch result {
        case .success(let acceptance): return acceptance
        case .failure(let error as SubmissionError): throw error
        case .failure(let error):
            throw StoreError.translating(error, file: queue.connection.file)
                .asSubmissionError(of: submission.identifier)
        }
    }

    private static func accept(
        _ submission: TaskSubmission, bundle: BundleIdentifier, kind: TaskKind, at time: WallTime,
        deadline: WallTime, pendingLimit: Int?, in db: Database
    ) throws -> Acceptance {
        if let key = submission.idempotencyKey,
            let earlier = try find(submission.identifier, key: key, in: db)
        {
            return Acceptance(request: earlier.request, state: earlier.state, isRepeat: true, replaced: nil)
        }
        let replaced = try findPending(submission.identifier, in: db)
        if let replaced, submission.origin == .schedule, replaced.submission.origin != .schedule {
            return Acceptance(request: replaced, state: .pending, isRepeat: true, replaced: nil)
        }
        if let pendingLimit, submission.origin != .schedule {
            let taken = try countPending(bundle, kind, besides: replaced?.id, in: db)
            if taken >= pendingLimit {
                throw SubmissionError.tooManyPending(
                    submission.identifier, kind: kind, taken: taken, limit: pendingLimit)
            }
        }
        if let replaced { try end(replaced.id, .cancelled, nil, at: time, in: db) }
        let request = try RequestRow.insert(
            submission, bundle: bundle, kind: kind, at: time, deadline: deadline, into: db)
        if let replaced {
            try db.cachedStatement(sql: "UPDATE requests SET replaced_by = ? WHERE id = ?")
                .execute(arguments: [request.id.rawValue, replaced.id.rawValue])
        }
        return Acceptance(request: request, state: .pending, isRepeat: false, replaced: replaced)
    }

    private static func find(_ identifier: TaskIdentifier, key: String, in db: Database) throws
        -> RequestRecord?
    {
        let statement = try db.cachedStatement(
            sql: "SELECT * FROM requests WHERE identifier = ? AND idempotency_key = ?")
        return try Row.fetchOne(statement, arguments: [identifier.rawValue, StoredText.encode(key)]).map(
            RequestRow.decode)
    }

    static func findPending(_ identifier: TaskIdentifier, in db: Database) throws -> TaskRequest? {
        let statement = try db.cachedStatement(
            sql: "SELECT * FROM requests WHERE identifier = ? AND state = 'pending'")
        return try Row.fetchOne(statement, arguments: [identifier.rawValue]).map {
            try RequestRow.decode($0).request
        }
    }

    private static func countPending(
        _ bundle: BundleIdentifier, _ kind: TaskKind, besides replaced: RequestID?, in db: Database
    ) throws -> Int {
        let statement = try db.cachedStatement(
            sql: """
                SELECT count(*) FROM requests
                WHERE bundle = ? AND kind = ? AND state = 'pending' AND origin <> 'schedule' AND id <> ?
                """)
        return try Int.fetchOne(
            statement, arguments: [bundle.rawValue, kind.rawValue, replaced?.rawValue ?? 0]) ?? 0
    }

    /// Ends a request for good; its checkpoint has no reader any more.
    static func end(
        _ id: RequestID, _ outcome: Outcome, _ reason: Reason?, at time: WallTime, in db: Database
    ) throws {
        try db.cachedStatement(
            sql: """
                UPDATE requests SET state = 'done', outcome = ?, reason = ?, ended_ms = ?, checkpoint = NULL
                WHERE id = ?
                """
        ).execute(arguments: [outcome.rawValue, reason?.rawValue, time.milliseconds, id.rawValue])
    }

    /// See ``RequestStore``.
    public func pendingRequests() async throws(StoreError) -> [TaskRequest] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM requests WHERE state = 'pending' ORDER BY id")
                .map { try RequestRow.decode($0).request }
        }
    }

    /// See ``RequestStore``.
    public func request(_ id: RequestID) async throws(StoreError) -> RequestRecord? {
        try await read { try RequestRow.find(id: id, in: $0) }
    }

    /// See ``RequestStore``.
    public func cancelPending(_ id: RequestID, at time: WallTime, reason: Reason) async throws(StoreError)
        -> Bool
    {
        try await write { db in
            guard try RequestRow.find(id: id, in: db)?.state == .pending else { return false }
            try Self.end(id, .cancelled, reason, at: time, in: db)
            return true
        }
    }

    /// See ``RequestStore``.
    public func checkpoint(of request: RequestID) async throws(StoreError) -> [UInt8]? {
        let data = try await read { db in
            try Data.fetchOne(
                db, sql: "SELECT checkpoint FROM requests WHERE id = ?", arguments: [request.rawValue])
        }
        return data.map(Array.init)
    }
}

extension SubmissionError {
    fileprivate static func tooManyPending(
        _ identifier: TaskIdentifier, kind: TaskKind, taken: Int, limit: Int
    ) -> Self {
        Self(
            code: .tooManyPendingTaskRequests, subject: identifier.rawValue,
            finding: "\(taken) of \(limit) pending \(kind.rawValue) requests of the bundle are taken",
            remedy: "Cancel one, or wait for a launch")
    }
}
