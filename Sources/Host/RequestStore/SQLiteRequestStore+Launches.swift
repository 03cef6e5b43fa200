import FoundationEssentials
import GRDB
public import TaskModel

extension SQLiteRequestStore {
    /// Starts a launch for a pending request; its token is greater than all earlier tokens.
    static func begin(_ id: RequestID, _ terms: LaunchTerms, in db: Database) throws -> BegunLaunch {
        let found = try RequestRow.one(id: id, in: db)
        guard found.state == .pending else {
            throw StoreError(
                code: .notPending, subject: "\(id)", finding: "the request is \(found.state.rawValue)",
                remedy: "Only a pending request can be launched")
        }
        try db.cachedStatement(sql: "UPDATE requests SET state = 'launched' WHERE id = ?")
            .execute(arguments: [id.rawValue])
        var record = LaunchRecord(
            id: try terms.id ?? nextLaunchID(in: db), request: found.request, token: try nextToken(in: db),
            startedAt: terms.at.rounded, isolation: terms.isolation, libraryHash: terms.libraryHash,
            isSimulated: terms.isSimulated)
        record.explanation = terms.explanation
        try LaunchRow.insert(record, into: db)
        return BegunLaunch(
            record: record, checkpoint: try checkpoint(of: id, in: db),
            lastSuccess: try lastSuccess(of: record.identifier, in: db))
    }

    /// The number after the highest that a launch ever had, including deleted launches.
    private static func nextLaunchID(in db: Database) throws -> LaunchID {
        let statement = try db.cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = 'launches'")
        return LaunchID(rawValue: (try Int64.fetchOne(statement) ?? 0) + 1)
    }

    private static func nextToken(in db: Database) throws -> Int64 {
        let statement = try db.cachedStatement(
            sql: "UPDATE meta SET value = value + 1 WHERE key = 'token' RETURNING value")
        guard let token = try Int64.fetchOne(statement) else {
            throw StoredColumnError(finding: "the token counter is missing from the table meta")
        }
        return token
    }

    /// Records why a launch was asked to stop; only `cancelledByUser` replaces an earlier reason.
    static func markExpiring(
        _ id: LaunchID, _ reason: Reason, _ explanation: String?, in db: Database
    ) throws {
        try db.cachedStatement(
            sql: """
                UPDATE launches SET state = 'expiring', expiration = ?, stop_explanation = ?
                WHERE id = ? AND state <> 'ended' AND (expiration IS NULL OR ? = 'cancelledByUser')
                """
        ).execute(arguments: [
            reason.rawValue, StoredText.encode(explanation), id.rawValue, reason.rawValue,
        ])
    }

    /// Stores a checkpoint for the next attempt; returns false if the launch has ended.
    static func saveCheckpoint(_ id: LaunchID, _ bytes: [UInt8], in db: Database) throws -> Bool {
        if !bytes.isEmpty {
            try db.cachedStatement(
                sql: """
                    UPDATE launches SET has_new_checkpoint = 1
                    WHERE id = ? AND state <> 'ended' AND has_new_checkpoint = 0
                        AND (SELECT checkpoint FROM requests WHERE id = launches.request) IS NOT ?
                    """
            ).execute(arguments: [id.rawValue, Data(bytes)])
        }
        try db.cachedStatement(
            sql: """
                UPDATE requests SET checkpoint = ?
                WHERE id = (SELECT request FROM launches WHERE id = ? AND state <> 'ended')
                """
        ).execute(arguments: [Data(bytes), id.rawValue])
        return db.changesCount > 0
    }

    /// Ends a launch and its request, or puts that back; see ``StoreWrite/end``.
    static func end(
        _ ended: EndedLaunch, _ progress: TaskProgress?, _ title: LaunchTitle?, _ putBack: PutBack?,
        _ failure: FailureSubmission?, in db: Database
    ) throws -> StoreAnswer {
        guard let launch = try LaunchRow.find(id: ended.id, in: db), launch.state != .ended else {
            return .ended(putBack: nil)
        }
        if let progress { try LaunchRow.set(progress, of: ended.id, in: db) }
        if let title { try LaunchRow.set(title, of: ended.id, launch.request, in: db) }
        try LaunchRow.end(ended, in: db)
        if ended.end.outcome == .succeeded {
            try keepSuccess(of: launch.identifier, at: ended.at.wall, in: db)
        }
        return try settle(launch, ended, putBack, failure, in: db)
    }

    private static func keepSuccess(
        of identifier: TaskIdentifier, at time: WallTime, in db: Database
    ) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO successes (identifier, at_ms) VALUES (?, ?)")
            .execute(arguments: [identifier.rawValue, time.milliseconds])
    }

    /// Makes the request of an ended launch pending again, or ends it and submits what its failure demands.
    private static func settle(
        _ launch: LaunchRecord, _ ended: EndedLaunch, _ putBack: PutBack?, _ failure: FailureSubmission?,
        in db: Database
    ) throws -> StoreAnswer {
        guard let putBack, try canPutBack(launch, in: db) else {
            try end(launch.request, ended.end.outcome, ended.end.reason, at: ended.at.wall, in: db)
            guard let failure else { return .ended(putBack: nil) }
            do {
                return .endedInFailure(.success(try accept(failure.submission, failure.terms, in: db)))
            } catch let refusal as SubmissionError {
                return .endedInFailure(.failure(refusal))
            }
        }
        try db.cachedStatement(
            sql: """
                UPDATE requests SET state = 'pending', attempt = attempt + 1, failures = failures + ?,
                    not_before_ms = ?, waiting_since_ms = ?, attempts_without_progress = ?,
                    furthest_completed = ?, furthest_total = ?
                WHERE id = ?
                """
        ).execute(arguments: [
            putBack.isRetry ? 1 : 0, putBack.notBefore?.milliseconds, ended.at.wall.milliseconds,
            putBack.attempts.withoutProgress, putBack.attempts.furthest?.completed,
            putBack.attempts.furthest?.total, launch.request.rawValue,
        ])
        return .ended(putBack: try RequestRow.one(id: launch.request, in: db).request)
    }

    /// Whether the request of an ended launch can become pending: it is of a queue, or no other request of
    /// its identifier is pending.
    private static func canPutBack(_ launch: LaunchRecord, in db: Database) throws -> Bool {
        if try findPending(launch.identifier, in: db) == nil { return true }
        return try RequestRow.one(id: launch.request, in: db).request.isQueued
    }

    /// See ``RequestStore``.
    public func recover(_ terms: RecoveryTerms) async throws(StoreError) -> Recovery {
        try await write { db in
            var recovery = Recovery()
            for launch in try LaunchRow.all("WHERE state <> 'ended' ORDER BY id", in: db) {
                let request = try RequestRow.one(id: launch.request, in: db).request
                let (ended, putBack) = terms.settle(launch, request.attempts)
                try LaunchRow.end(ended, in: db)
                if let lost = try LaunchRow.find(id: launch.id, in: db) { recovery.lost.append(lost) }
                let failure = terms.failure(of: launch, request, ended, putBack)
                if case .ended(let request?) = try Self.settle(launch, ended, putBack, failure, in: db) {
                    recovery.putBack.append(request)
                }
            }
            recovery.pending = try Self.pendingRequests(in: db)
            for identifier in terms.scheduled {
                let launch = try Self.launches(of: identifier, limit: 1, in: db).first
                let request = try launch.map { try RequestRow.one(id: $0.request, in: db).request }
                recovery.note(last: launch, of: identifier, request)
            }
            // Only requests that have ended are read, by their index.
            let cancelled = try Row.fetchCursor(
                db,
                sql: """
                    SELECT * FROM requests WHERE state = 'done' AND outcome = 'cancelled'
                    AND origin = 'schedule' AND earliest_ms > ? ORDER BY id
                    """, arguments: [terms.at.milliseconds])
            while let row = try cancelled.next() {
                recovery.note(cancelled: try RequestRow.decode(row), terms)
            }
            recovery.facts = try Self.facts(in: db)
            return recovery
        }
    }
}
