import GRDB
import TaskModel

/// Reads the columns of the table `launches` that a table on a terminal shows.
///
/// Values are found by position, because to look up the name of each column takes longer than to read it.
enum LaunchSummaryRow {
    private static let columns = """
        id, identifier, state, outcome, reason, expiration, attempt, started_ms, ended_ms, cpu_ns,
        cpu_is_lower_bound, progress_completed, progress_total, progress_message
        """

    /// Reads launches; `tail` is the SQL after `FROM launches`, a constant with `?` for the arguments.
    static func all(_ tail: String, _ arguments: StatementArguments, in db: Database) throws
        -> [LaunchSummary]
    {
        let statement = try db.cachedStatement(sql: "SELECT \(columns) FROM launches \(tail)")
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var launches: [LaunchSummary] = []
        while let row = try rows.next() { launches.append(try decode(row)) }
        return launches
    }

    private static func decode(_ row: Row) throws -> LaunchSummary {
        var launch = LaunchSummary(
            id: LaunchID(rawValue: try row.decode(atIndex: 0)),
            identifier: try TaskIdentifier(row.decode(atIndex: 1)),
            state: try StoredWord.check(row.decode(atIndex: 2), "state"),
            attempt: try row.decode(atIndex: 6), startedAt: WallTime(milliseconds: try row.decode(atIndex: 7))
        )
        launch.outcome = try word(row, 3, "outcome")
        launch.reason = try word(row, launch.outcome == nil ? 5 : 4, "reason")
        launch.endedAt = try row.decode(Int64?.self, atIndex: 8).map(WallTime.init(milliseconds:))
        launch.cpuTime = .nanoseconds(try row.decode(Int64.self, atIndex: 9))
        launch.cpuIsLowerBound = try row.decode(atIndex: 10)
        if let completed = try row.decode(Int64?.self, atIndex: 11),
            let total = try row.decode(Int64?.self, atIndex: 12)
        {
            launch.progress = TaskProgress(
                completed: completed, total: total,
                message: try StoredText.decodeOptional(row.decode(atIndex: 13), "progress_message"))
        }
        return launch
    }

    private static func word<Word: RawRepresentable>(_ row: Row, _ index: Int, _ column: String) throws
        -> Word?
    where Word.RawValue == String {
        try row.decode(String?.self, atIndex: index).map { try StoredWord.check($0, column) }
    }
}
