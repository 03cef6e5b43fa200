import FoundationEssentials
import GRDB
public import TaskModel

extension SQLiteRequestStore {
    /// See ``RequestStore``.
    public func beginLaunch(
        of request: RequestID, at time: WallTime, isolation: String, libraryHash: String?, isSimulated: Bool,
        explanation: String?
    ) async throws(StoreError) -> LaunchRecord {
        try await write { db in
            let record = try RequestRow.one(id: request, in: db)
            guard record.state == .pending else {
                throw StoreError(
                    code: .notPending, subject: "\(request)",
                    finding: "the request is \(record.state.rawValue)",
                    remedy: "Only a pending request can be launched")
            }
            try db.cachedStatement(sql: "UPDATE requests SET state = 'launched' WHERE id = ?")
                .execute(arguments: [request.rawValue])
            var launch = LaunchRecord(
                id: try Self.nextLaunchID(in: db), request: record.request, token: try Self.nextToken(in: db),
                startedAt: WallTime(milliseconds: time.milliseconds), isolation: isolation,
                libraryHash: libraryHash,
                isSimulated: isSimulated)
            launch.explanation = explanation
            try LaunchRow.insert(launch, into: db)
            return launch
        }
    }

    /// One above every launch that ever was, pruned ones included.
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

    /// See ``RequestStore``.
    public func markReady(_ id: LaunchID, at time: WallTime) async throws(StoreError) {
        try await write { db in
            try db.cachedStatement(
                sql: """
                    UPDATE launches SET ready_ms = ?, state = iif(state = 'starting', 'running', state)
                    WHERE id = ? AND state <> 'ended' AND ready_ms IS NULL
                    """
            ).execute(arguments: [time.milliseconds, id.rawValue])
        }
    }

    /// See ``RequestStore``.
    public func markExpiring(
        _ id: LaunchID, reason: Reason, explanation: String?
    ) async throws(StoreError) {
        try await write { db in
            try db.cachedStatement(
                sql: """
                    UPDATE launches SET state = 'expiring', expiration = ?, stop_explanation = ?
                    WHERE id = ? AND state <> 'ended' AND expiration IS NULL
                    """
            ).execute(arguments: [reason.rawValue, StoredText.encode(explanation), id.rawValue])
        }
    }

    /// See ``RequestStore``.
    @discardableResult
    public func saveCheckpoint(_ id: LaunchID, _ bytes: [UInt8]) async throws(StoreError) -> Bool {
        try await write { db in
            try db.cachedStatement(
                sql: """
                    UPDATE requests SET checkpoint = ?
                    WHERE id = (SELECT request FROM launches WHERE id = ? AND state <> 'ended')
                    """
            ).execute(arguments: [Data(bytes), id.rawValue])
            return db.changesCount > 0
        }
    }

    /// See ``RequestStore``.
    public func setTitle(_ id: LaunchID, title: String, subtitle: String) async throws(StoreError) {
        try await write { db in
            let texts = [StoredText.encode(title), StoredText.encode(subtitle)]
            try db.execute(
                sql: "UPDATE launches SET title = ?, subtitle = ? WHERE id = ? AND state <> 'ended'",
                arguments: StatementArguments(texts + [id.rawValue.databaseValue]))
            guard db.changesCount > 0 else { return }
            try db.execute(
                sql:
                    "UPDATE requests SET title = ?, subtitle = ? WHERE id = (SELECT request FROM launches WHERE id = ?)",
                arguments: StatementArguments(texts + [id.rawValue.databaseValue]))
        }
    }

    /// See ``RequestStore``.
    public func recordProgress(_ id: LaunchID, _ progress: TaskProgress, at moment: Moment) {
        queue.record(progress, of: id, at: moment)
    }

    /// See ``RequestStore``.
    public func endLaunch(
        _ id: LaunchID, _ end: LaunchEnd, at time: WallTime, cpuTime: Duration, cpuIsLowerBound: Bool,
        peakMemory: ByteCount?, progress: TaskProgress?, putBack: PutBack?
    ) async throws(StoreError) -> TaskRequest? {
        try await write { db in
            guard let launch = try LaunchRow.find(id: id, in: db), launch.state != .ended else { return nil }
            if let progress { try LaunchRow.set(progress, of: id, in: db) }
            try LaunchRow.end(
                id, end, at: time, cpuTime: cpuTime, cpuIsLowerBound: cpuIsLowerBound, peakMemory: peakMemory,
                in: db)
            if end.outcome == .succeeded { try Self.noteSuccess(of: launch.identifier, at: time, in: db) }
            return try Self.settle(launch, end, at: time, putBack: putBack, in: db)
        }
    }

    private static func noteSuccess(of identifier: TaskIdentifier, at time: WallTime, in db: Database) throws
    {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO successes (identifier, at_ms) VALUES (?, ?)")
            .execute(arguments: [identifier.rawValue, time.milliseconds])
    }

    /// Puts the request of a launch that ended back, or ends it.
    private static func settle(
        _ launch: LaunchRecord, _ end: LaunchEnd, at time: WallTime, putBack: PutBack?, in db: Database
    ) throws -> TaskRequest? {
        guard let putBack, try findPending(launch.identifier, in: db) == nil else {
            try Self.end(launch.request, end.outcome, end.reason, at: time, in: db)
            return nil
        }
        try db.cachedStatement(
            sql: """
                UPDATE requests SET state = 'pending', attempt = attempt + 1, failures = failures + ?,
                    not_before_ms = ?
                WHERE id = ?
                """
        ).execute(arguments: [
            putBack.isRetry ? 1 : 0, putBack.notBefore?.milliseconds, launch.request.rawValue,
        ])
        return try RequestRow.one(id: launch.request, in: db).request
    }

    /// See ``RequestStore``.
    public func recover(
        at time: WallTime, isAtMostOnce: @escaping @Sendable (BundleIdentifier, TaskIdentifier) -> Bool,
        backOff: @escaping @Sendable (LaunchRecord) -> WallTime?
    ) async throws(StoreError) -> Recovery {
        try await write { db in
            var recovery = Recovery(lost: [], putBack: [])
            var end = LaunchEnd(outcome: .lost, reason: .hostDied)
            end.message = "The host ended without recording how this launch ended"
            for launch in try LaunchRow.all("WHERE state <> 'ended' ORDER BY id", in: db) {
                try LaunchRow.end(
                    launch.id, end, at: time, cpuTime: launch.cpuTime, cpuIsLowerBound: true, peakMemory: nil,
                    in: db)
                if let lost = try LaunchRow.find(id: launch.id, in: db) { recovery.lost.append(lost) }
                let isDue = PutBackRule.applies(
                    kind: launch.kind, outcome: .lost, completed: false, expiration: launch.expiration,
                    isAtMostOnce: isAtMostOnce(launch.bundle, launch.identifier))
                let putBack = isDue ? PutBack(notBefore: backOff(launch)) : nil
                if let request = try Self.settle(launch, end, at: time, putBack: putBack, in: db) {
                    recovery.putBack.append(request)
                }
            }
            return recovery
        }
    }
}
