import GRDB
public import TaskModel

extension SQLiteRequestStore {
    /// See ``RequestStore``.
    public func launch(_ id: LaunchID) async throws(StoreError) -> LaunchRecord? {
        try await records { try LaunchRow.all("WHERE id = ?", [id.rawValue], in: $0) }.first
    }

    /// See ``RequestStore``.
    public func launches(
        _ filter: LaunchFilter, limit: Int, before: LaunchID?
    ) async throws(StoreError) -> [LaunchRecord] {
        let (tail, arguments) = Self.newest(filter, limit: limit, below: before?.rawValue ?? .max)
        return try await records { try LaunchRow.all(tail, arguments, in: $0) }
    }

    /// See ``RequestStore``.
    public func launchSummaries(
        _ filter: LaunchFilter, limit: Int, before: LaunchID?
    ) async throws(StoreError) -> [LaunchSummary] {
        let (tail, arguments) = Self.newest(filter, limit: limit, below: before?.rawValue ?? .max)
        // Copied before the read, as in `records(_:)`.
        let unwritten = queue.unwrittenNotes()
        var launches = try await read { try LaunchSummaryRow.all(tail, arguments, in: $0) }
        if unwritten.isEmpty { return launches }
        for index in launches.indices { unwritten[launches[index].id]?.apply(to: &launches[index]) }
        return launches
    }

    /// The SQL after `FROM launches`, with its arguments, for the newest launches below a number.
    private static func newest(
        _ filter: LaunchFilter, limit: Int, below number: Int64
    ) -> (tail: String, arguments: StatementArguments) {
        var (terms, arguments) = (["id < ?"], [number] as StatementArguments)
        func require(_ term: String, _ value: (some DatabaseValueConvertible)?) {
            guard let value else { return }
            terms.append(term)
            arguments += [value]
        }
        require("identifier = ?", filter.identifier?.rawValue)
        require("bundle = ?", filter.bundle?.rawValue)
        // No tag contains a space, so this finds whole tags only.
        require("tags <> '' AND instr(' ' || tags || ' ', ?) > 0", filter.tag.map { " \($0) " })
        require("outcome = ?", filter.outcome?.rawValue)
        require("started_ms >= ?", filter.since?.milliseconds)
        arguments += [max(0, limit)]
        return ("WHERE \(terms.joined(separator: " AND ")) ORDER BY id DESC LIMIT ?", arguments)
    }

    /// The launches of one task below a number, newest first.
    static func launches(
        of identifier: TaskIdentifier, limit: Int, below number: Int64 = .max, in db: Database
    ) throws -> [LaunchRecord] {
        let (tail, arguments) = newest(LaunchFilter(identifier: identifier), limit: limit, below: number)
        return try LaunchRow.all(tail, arguments, in: db)
    }

    /// See ``RequestStore``.
    public func launches(of request: RequestID) async throws(StoreError) -> [LaunchRecord] {
        try await records { try LaunchRow.all("WHERE request = ? ORDER BY id", [request.rawValue], in: $0) }
    }

    /// Reads launches, and adds the notes that are not in the database yet.
    private func records(
        _ body: @escaping @Sendable (Database) throws -> [LaunchRecord]
    ) async throws(StoreError) -> [LaunchRecord] {
        // The notes are copied before the read. Otherwise, notes that are written in between would be missed.
        let unwritten = queue.unwrittenNotes()
        return try await read(body).map { launch in
            var launch = launch
            unwritten[launch.id]?.apply(to: &launch)
            return launch
        }
    }

    /// See ``RequestStore``.
    public func lastSuccess(of identifier: TaskIdentifier) async throws(StoreError) -> WallTime? {
        try await read { try Self.lastSuccess(of: identifier, in: $0) }
    }

    /// When a launch of the identifier last succeeded.
    static func lastSuccess(of identifier: TaskIdentifier, in db: Database) throws -> WallTime? {
        let statement = try db.cachedStatement(sql: "SELECT at_ms FROM successes WHERE identifier = ?")
        return try Int64.fetchOne(statement, arguments: [identifier.rawValue])
            .map(WallTime.init(milliseconds:))
    }

    /// See ``RequestStore``.
    public func facts() async throws(StoreError) -> StoredFacts {
        try await read { try Self.facts(in: $0) }
    }

    /// Every fact, and the highest numbers.
    static func facts(in db: Database) throws -> StoredFacts {
        var facts = try FactRow.readAll(in: db)
        facts.lastRequest = try highest("requests", in: db)
        facts.lastLaunch = try highest("launches", in: db)
        facts.lastTransfer = try highest("transfers", in: db)
        try TransferRow.readAll(in: db, into: &facts)
        return facts
    }

    /// The highest number that a row of a table ever had, including deleted rows.
    private static func highest(_ table: String, in db: Database) throws -> Int64 {
        try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [table]) ?? 0
    }

    /// See ``RequestStore``.
    @discardableResult
    public func prune(keepingNewest count: Int, olderThan time: WallTime) async throws(StoreError) -> Int {
        try await write { db in
            try db.execute(
                sql: """
                    DELETE FROM launches WHERE state = 'ended' AND ended_ms < ?
                        AND id NOT IN (SELECT id FROM launches ORDER BY id DESC LIMIT ?)
                    """, arguments: [time.milliseconds, max(0, count)])
            let launches = db.changesCount
            try db.execute(
                sql: """
                    DELETE FROM requests WHERE state = 'done' AND ended_ms < ?
                        AND NOT EXISTS (SELECT * FROM launches WHERE launches.request = requests.id)
                    """, arguments: [time.milliseconds])
            return launches + db.changesCount
        }
    }
}
