import FoundationEssentials
import GRDB
public import TaskModel

extension SQLiteRequestStore {
    // MARK: Writes

    /// Stores a request, unless one with the same idempotency key exists.
    static func accept(_ submission: TaskSubmission, _ terms: RequestTerms, in db: Database) throws
        -> Acceptance
    {
        if let queue = terms.queue { return try acceptQueued(submission, terms, queue, in: db) }
        if let key = submission.idempotencyKey,
            let earlier = try find(submission.identifier, key: key, in: db)
        {
            return Acceptance(request: earlier.request, state: earlier.state, isRepeat: true, replaced: nil)
        }
        let found = try findPending(submission.identifier, in: db)
        if let found, submission.origin == .schedule, found.submission.origin != .schedule {
            return Acceptance(request: found, state: .pending, isRepeat: true, replaced: nil)
        }
        let waiting = try findAppended(submission.identifier, in: db)
        if submission.ifPending == .keep, let kept = found ?? waiting {
            return Acceptance(request: kept, state: .pending, isRepeat: true, replaced: nil, isKept: true)
        }
        if let found, submission.isLessUrgent(than: found, kind: terms.kind) {
            throw SubmissionError.moreUrgentWaits(submission.identifier, found.id)
        }
        var before: RequestID?
        if submission.ifPending == .append {
            before = try found?.id ?? findLaunched(submission.identifier, in: db)
            if before != nil, let waiting {
                throw SubmissionError.alreadyAppended(submission.identifier, waiting: waiting.id)
            }
        }
        let replaced = before == nil ? found : nil
        if let limit = terms.pendingLimit, submission.origin != .schedule {
            let taken = try countPending(terms.bundle, terms.kind, besides: replaced?.id, in: db)
            if taken >= limit {
                throw SubmissionError.tooManyPending(
                    submission.identifier, kind: terms.kind, taken: taken, limit: limit)
            }
        }
        // The request that waits must not become pending when the replaced one ends. Until the new request
        // has a number, it waits for the number 0, which no request has.
        if let waiting, before == nil { try putAfter(RequestID(rawValue: 0), waiting.id, in: db) }
        if let replaced { try end(replaced.id, .cancelled, .replaced, at: terms.acceptedAt, in: db) }
        let open = try openPredecessors(of: submission, terms, in: db)
        let request = try RequestRow.insert(submission, terms, after: before, open: open, into: db)
        if let waiting, before == nil { try putAfter(request.id, waiting.id, in: db) }
        if let replaced {
            // Nothing uses the data of a replaced request any more, and a client may replace one many times.
            try db.cachedStatement(
                sql: "UPDATE requests SET replaced_by = ?, payload = NULL, checkpoint = NULL WHERE id = ?"
            ).execute(arguments: [request.id.rawValue, replaced.id.rawValue])
        }
        return Acceptance(request: request, state: .pending, isRepeat: false, replaced: replaced)
    }

    /// Stores a request of a queue, unless one with the same key has not ended, or ended only recently.
    private static func acceptQueued(
        _ submission: TaskSubmission, _ terms: RequestTerms, _ queue: QueueTerms, in db: Database
    ) throws -> Acceptance {
        if let key = submission.idempotencyKey,
            let earlier = try find(submission.identifier, key: key, in: db)
        {
            if queue.isRepeat(of: earlier, at: terms.acceptedAt) {
                return Acceptance(
                    request: earlier.request, state: earlier.state, isRepeat: true, replaced: nil)
            }
            try db.cachedStatement(sql: "UPDATE requests SET idempotency_key = NULL WHERE id = ?")
                .execute(arguments: [earlier.request.id.rawValue])
        }
        let open = try openPredecessors(of: submission, terms, in: db)
        let request = try RequestRow.insert(submission, terms, after: nil, open: open, into: db)
        return Acceptance(request: request, state: .pending, isRepeat: false, replaced: nil)
    }

    /// Ends a pending request as cancelled; returns false if the request is not pending.
    static func cancel(_ id: RequestID, _ reason: Reason, at time: WallTime, in db: Database) throws -> Bool {
        guard let found = try RequestRow.find(id: id, in: db), found.state == .pending else { return false }
        try keepBehindLaunch(found.request, in: db)
        try end(id, reason.outcomeWhilePending, reason, at: time, in: db)
        return true
    }

    /// If a request that ends came between a launch and the request that waits for both, the latter waits
    /// for the launch again.
    ///
    /// Otherwise it would become pending, and the launch's request could not be put back.
    static func keepBehindLaunch(_ ending: TaskRequest, in db: Database) throws {
        guard let waiting = try findAppended(ending.identifier, in: db), waiting.after == ending.id,
            let launched = try findLaunched(ending.identifier, in: db)
        else { return }
        try putAfter(launched, waiting.id, in: db)
    }

    private static func putAfter(_ before: RequestID, _ id: RequestID, in db: Database) throws {
        try db.cachedStatement(sql: "UPDATE requests SET after_request = ? WHERE id = ?")
            .execute(arguments: [before.rawValue, id.rawValue])
    }

    /// Ends a request, and settles those that wait for its end or its success.
    static func end(
        _ id: RequestID, _ outcome: Outcome, _ reason: Reason?, at time: WallTime, in db: Database
    ) throws {
        try endAlone(id, outcome, reason, at: time, in: db)
        try settleFollowers(of: id, outcome, at: time, in: db)
    }

    /// Ends a request, deletes its checkpoint, and makes the request pending that waited for its end.
    static func endAlone(
        _ id: RequestID, _ outcome: Outcome, _ reason: Reason?, at time: WallTime, in db: Database
    ) throws {
        try db.cachedStatement(
            sql: """
                UPDATE requests SET state = 'done', outcome = ?, reason = ?, ended_ms = ?, checkpoint = NULL,
                    after_request = NULL
                WHERE id = ?
                """
        ).execute(arguments: [outcome.rawValue, reason?.rawValue, time.milliseconds, id.rawValue])
        // The partial index is usually empty, so this costs microseconds.
        try db.cachedStatement(
            sql: """
                UPDATE requests SET after_request = NULL
                WHERE after_request IS NOT NULL AND after_request = ?
                    AND identifier = (SELECT identifier FROM requests WHERE id = ?)
                """
        ).execute(arguments: [id.rawValue, id.rawValue])
    }

    static func findPending(_ identifier: TaskIdentifier, in db: Database) throws -> TaskRequest? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT * FROM requests
                WHERE identifier = ? AND state = 'pending' AND after_request IS NULL AND queued = 0
                """)
        return try Row.fetchOne(statement, arguments: [identifier.rawValue]).map {
            try RequestRow.decode($0).request
        }
    }

    /// The request that waits for another one of its identifier.
    private static func findAppended(_ identifier: TaskIdentifier, in db: Database) throws -> TaskRequest? {
        let statement = try db.cachedStatement(
            sql: "SELECT * FROM requests WHERE identifier = ? AND after_request IS NOT NULL")
        return try Row.fetchOne(statement, arguments: [identifier.rawValue]).map {
            try RequestRow.decode($0).request
        }
    }

    /// The request of an identifier that has a launch now.
    private static func findLaunched(_ identifier: TaskIdentifier, in db: Database) throws -> RequestID? {
        let statement = try db.cachedStatement(
            sql: "SELECT request FROM launches WHERE state <> 'ended' AND identifier = ?")
        return try Int64.fetchOne(statement, arguments: [identifier.rawValue])
            .map(RequestID.init(rawValue:))
    }

    private static func find(_ identifier: TaskIdentifier, key: String, in db: Database) throws
        -> RequestRecord?
    {
        let statement = try db.cachedStatement(
            sql: "SELECT * FROM requests WHERE identifier = ? AND idempotency_key = ?")
        return try Row.fetchOne(statement, arguments: [identifier.rawValue, StoredText.encode(key)]).map(
            RequestRow.decode)
    }

    private static func countPending(
        _ bundle: BundleIdentifier, _ kind: TaskKind, besides replaced: RequestID?, in db: Database
    ) throws -> Int {
        let statement = try db.cachedStatement(
            sql: """
                SELECT count(*) FROM requests
                WHERE bundle = ? AND kind = ? AND state = 'pending' AND queued = 0 AND origin <> 'schedule'
                    AND id <> ?
                """)
        return try Int.fetchOne(
            statement, arguments: [bundle.rawValue, kind.rawValue, replaced?.rawValue ?? 0]) ?? 0
    }

    // MARK: Reads

    /// See ``RequestStore``.
    public func pendingRequests() async throws(StoreError) -> [TaskRequest] {
        try await read { try Self.pendingRequests(in: $0) }
    }

    /// All pending requests, oldest first.
    static func pendingRequests(in db: Database) throws -> [TaskRequest] {
        // A cursor's row knows the positions of its columns; copies of rows would search for each name.
        let rows = try Row.fetchCursor(
            db, sql: "SELECT * FROM requests WHERE state = 'pending' ORDER BY id")
        var requests: [TaskRequest] = []
        // There may be a million, and a growing array would copy them again and again.
        requests.reserveCapacity(
            try Int.fetchOne(db, sql: "SELECT count(*) FROM requests WHERE state = 'pending'") ?? 0)
        while let row = try rows.next() { requests.append(try RequestRow.decode(row).request) }
        return requests
    }

    /// See ``RequestStore``.
    public func request(_ id: RequestID) async throws(StoreError) -> RequestRecord? {
        try await read { try RequestRow.find(id: id, in: $0) }
    }

    /// See ``RequestStore``.
    public func request(
        _ identifier: TaskIdentifier, key: String
    ) async throws(StoreError) -> RequestRecord? {
        try await read { try Self.find(identifier, key: key, in: $0) }
    }

    /// See ``RequestStore``.
    public func checkpoint(of request: RequestID) async throws(StoreError) -> [UInt8]? {
        try await read { try Self.checkpoint(of: request, in: $0) }
    }

    /// The checkpoint of a request; `nil` if there is none.
    static func checkpoint(of request: RequestID, in db: Database) throws -> [UInt8]? {
        let statement = try db.cachedStatement(sql: "SELECT checkpoint FROM requests WHERE id = ?")
        return try Data.fetchOne(statement, arguments: [request.rawValue]).map(Array.init)
    }
}

extension SubmissionError {
    fileprivate static func tooManyPending(
        _ identifier: TaskIdentifier, kind: TaskKind, taken: Int, limit: Int
    ) -> Self {
        Self(
            code: .tooManyPendingTaskRequests, subject: identifier.rawValue,
            finding:
                "the bundle has \(taken) pending \(kind.rawValue) requests already; the limit is \(limit)",
            remedy: "Cancel one of them, or wait until one is launched")
    }
}
