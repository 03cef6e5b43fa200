import GRDB
import TaskModel

/// Converts launches to and from rows of the table `launches`.
enum LaunchRow {
    static func insert(_ launch: LaunchRecord, into db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO launches (id, request, identifier, bundle, kind, attempt, token, state,
                    started_ms, isolation, library_hash, is_simulated, explanation, title, subtitle,
                    tags)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            launch.id.rawValue, launch.request.rawValue, launch.identifier.rawValue, launch.bundle.rawValue,
            launch.kind.rawValue, launch.attempt, launch.token, launch.state.rawValue,
            launch.startedAt.milliseconds, StoredText.encode(launch.isolation), launch.libraryHash,
            launch.isSimulated,
            StoredText.encode(launch.explanation), StoredText.encode(launch.title),
            StoredText.encode(launch.subtitle), StoredTags.encode(launch.tags),
        ])
    }

    static func find(id: LaunchID, in db: Database) throws -> LaunchRecord? {
        let statement = try db.cachedStatement(sql: sql("WHERE id = ?"))
        return try Row.fetchOne(statement, arguments: [id.rawValue]).map(decode)
    }

    /// Reads launches; `tail` is the SQL after `FROM launches`, a constant with `?` for the arguments.
    static func all(_ tail: String, _ arguments: StatementArguments = [], in db: Database) throws
        -> [LaunchRecord]
    {
        // A row of a cursor has an index of its columns. A copied row compares the names one after the other,
        // which takes longer than all the rest.
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql(tail)), arguments: arguments)
        var records: [LaunchRecord] = []
        while let row = try rows.next() { records.append(try decode(row)) }
        return records
    }

    private static func sql(_ tail: String) -> String { "SELECT * FROM launches \(tail)" }

    /// Writes notes to the row of a launch, unless the launch has ended.
    static func set(_ notes: UnwrittenNotes.Notes, of id: LaunchID, in db: Database) throws {
        if let readyAt = notes.readyAt {
            try db.cachedStatement(
                sql: """
                    UPDATE launches SET ready_ms = ?, state = iif(state = 'starting', 'running', state)
                    WHERE id = ? AND state <> 'ended' AND ready_ms IS NULL
                    """
            ).execute(arguments: [readyAt.milliseconds, id.rawValue])
        }
        if let progress = notes.progress { try set(progress, of: id, in: db) }
    }

    /// Writes progress to the row of a launch, unless the launch has ended.
    static func set(_ progress: TaskProgress, of id: LaunchID, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE launches SET progress_completed = ?, progress_total = ?, progress_message = ?
                WHERE id = ? AND state <> 'ended'
                """
        ).execute(arguments: [
            progress.completed, progress.total, StoredText.encode(progress.message), id.rawValue,
        ])
    }

    /// Writes a title to the rows of a launch and its request.
    static func set(_ title: LaunchTitle, of id: LaunchID, _ request: RequestID, in db: Database) throws {
        let (first, second) = (StoredText.encode(title.title), StoredText.encode(title.subtitle))
        try db.cachedStatement(sql: "UPDATE launches SET title = ?, subtitle = ? WHERE id = ?")
            .execute(arguments: [first, second, id.rawValue])
        try db.cachedStatement(sql: "UPDATE requests SET title = ?, subtitle = ? WHERE id = ?")
            .execute(arguments: [first, second, request.rawValue])
    }

    /// Writes the end of a launch to its row.
    static func end(_ ended: EndedLaunch, in db: Database) throws {
        let end = ended.end
        try db.cachedStatement(
            sql: """
                UPDATE launches SET state = 'ended', ended_ms = ?, outcome = ?, reason = ?, message = ?,
                    signal = ?, exit_status = ?, phase = ?, code = ?, leftovers = ?, cpu_ns = ?,
                    cpu_is_lower_bound = ?, peak_memory = ?, report = ?, termination = ?, calls = ?,
                    received_bytes = ?, sent_bytes = ?
                WHERE id = ?
                """
        ).execute(arguments: [
            ended.at.wall.milliseconds, end.outcome.rawValue, end.reason?.rawValue,
            StoredText.encode(end.message), end.signal, end.exitStatus, end.phase?.rawValue, end.code,
            end.leftovers, ended.cpuTime.wholeNanoseconds, ended.cpuIsLowerBound, ended.peakMemory?.bytes,
            StoredText.encode(end.report), StoredTermination.encode(end.termination),
            StoredTermination.encode(end.calls), ended.network?.received.bytes, ended.network?.sent.bytes,
            ended.id.rawValue,
        ])
    }

    static func decode(_ row: Row) throws -> LaunchRecord {
        var launch = LaunchRecord(
            id: LaunchID(rawValue: try row.decode(forColumn: "id")), request: try request(of: row),
            token: try row.decode(forColumn: "token"), startedAt: try StoredTime.decode(row, "started_ms"),
            isolation: try StoredText.decode(row, "isolation"),
            libraryHash: try row.decode(forColumn: "library_hash"),
            isSimulated: try row.decode(forColumn: "is_simulated"))
        launch.title = try StoredText.decode(row, "title")
        launch.subtitle = try StoredText.decode(row, "subtitle")
        launch.tags = try StoredTags.decode(row)
        launch.state = try StoredWord.decode(row, "state")
        launch.readyAt = try StoredTime.decodeOptional(row, "ready_ms")
        launch.endedAt = try StoredTime.decodeOptional(row, "ended_ms")
        launch.end = try end(of: row)
        launch.expiration = try StoredWord.decodeOptional(row, "expiration")
        launch.progress = try progress(of: row)
        launch.hasNewCheckpoint = try row.decode(forColumn: "has_new_checkpoint")
        launch.cpuTime = .nanoseconds(try row.decode(Int64.self, forColumn: "cpu_ns"))
        launch.cpuIsLowerBound = try row.decode(forColumn: "cpu_is_lower_bound")
        let peak: Int64? = try row.decode(forColumn: "peak_memory")
        launch.peakMemory = peak.map(ByteCount.init(bytes:))
        launch.network = try network(of: row)
        launch.explanation = try StoredText.decodeOptional(row, "explanation")
        launch.stopExplanation = try StoredText.decodeOptional(row, "stop_explanation")
        return launch
    }

    /// The parts of the request that `LaunchRecord.init` copies; the other values are placeholders.
    private static func request(of row: Row) throws -> TaskRequest {
        let submission = TaskSubmission(
            identifier: try TaskIdentifier(row.decode(forColumn: "identifier")), origin: .client)
        return TaskRequest(
            id: RequestID(rawValue: try row.decode(forColumn: "request")), submission: submission,
            bundle: try BundleIdentifier(row.decode(forColumn: "bundle")),
            kind: try StoredWord.decode(row, "kind"),
            submittedAt: WallTime(milliseconds: 0), attempt: try row.decode(forColumn: "attempt"),
            notBefore: nil,
            deadline: WallTime(milliseconds: 0))
    }

    private static func end(of row: Row) throws -> LaunchEnd? {
        guard let outcome: Outcome = try StoredWord.decodeOptional(row, "outcome") else { return nil }
        var end = LaunchEnd(
            outcome: outcome, reason: try StoredWord.decodeOptional(row, "reason"),
            message: try StoredText.decodeOptional(row, "message"))
        end.report = try StoredText.decodeOptional(row, "report")
        end.termination = try StoredTermination.decode(row, "termination")
        end.calls = try StoredTermination.decode(row, "calls")
        end.signal = try row.decode(forColumn: "signal")
        end.exitStatus = try row.decode(forColumn: "exit_status")
        end.phase = try StoredWord.decodeOptional(row, "phase")
        end.code = try row.decode(forColumn: "code")
        end.leftovers = try row.decode(forColumn: "leftovers")
        return end
    }

    private static func network(of row: Row) throws -> NetworkBytes? {
        guard let received: Int64 = try row.decode(forColumn: "received_bytes"),
            let sent: Int64 = try row.decode(forColumn: "sent_bytes")
        else { return nil }
        return NetworkBytes(received: ByteCount(bytes: received), sent: ByteCount(bytes: sent))
    }

    private static func progress(of row: Row) throws -> TaskProgress? {
        guard let completed: Int64 = try row.decode(forColumn: "progress_completed"),
            let total: Int64 = try row.decode(forColumn: "progress_total")
        else { return nil }
        return TaskProgress(
            completed: completed, total: total,
            message: try StoredText.decodeOptional(row, "progress_message"))
    }
}
