import GRDB
import TaskModel

/// What opening a store found.
public struct StoreOpening: Equatable, Sendable {
    /// The database's file.
    public let file: String
    /// Whether there was none before.
    public let isNew: Bool
    /// Whether the last host said goodbye; otherwise the file was checked.
    public let wasClean: Bool
    /// What somebody should look at; empty is good.
    public var warnings: [String] = []

    init(file: String, isNew: Bool, wasClean: Bool) {
        self.file = file
        self.isNew = isNew
        self.wasClean = wasClean
    }

    /// Opens, checks and migrates; the lock is held.
    static func open(_ files: StoreFiles, at time: WallTime) throws -> (StoreConnection, StoreOpening) {
        let migrator = StoreSchema.migrator(firstToken: max(0, time.milliseconds))
        let hadLog = files.exists(files.log)
        let isNew = !files.exists(files.database)
        if isNew { try make(files, migrator) }
        let connection = try StoreConnection(file: files.database)
        let database = try connection.current()
        try checkOrigin(of: database, migrator, file: files.database)
        let wasClean = try database.read { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT * FROM meta WHERE key = 'clean_stop_ms')")
                ?? false
        }
        if !wasClean && !isNew { try check(database, file: files.database) }
        try migrator.migrate(database)
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "DELETE FROM meta WHERE key = 'clean_stop_ms'")
            // From here on the file itself says that a host runs: if its log is lost later, the next one sees it.
            _ = try db.checkpoint(.truncate)
        }
        try files.syncNames()
        var opening = StoreOpening(file: files.database, isNew: isNew, wasClean: wasClean || isNew)
        if !opening.wasClean && !hadLog {
            opening.warnings.append(
                "\(files.database): the last host did not stop cleanly, and its log \(files.log) is gone. If the "
                    + "database was copied without it, or it was removed, the newest requests may be missing")
        }
        return (connection, opening)
    }

    /// Makes an empty store under another name and renames it when it is whole.
    ///
    /// So a file of the right name that is empty or half-made is damage, never a beginning.
    private static func make(_ files: StoreFiles, _ migrator: DatabaseMigrator) throws {
        if files.exists(files.log) {
            throw StoreError.damaged(
                file: files.database, finding: "it is gone, but its log \(files.log) is there")
        }
        try files.beginMaking()
        let connection = try StoreConnection(file: files.unfinished)
        try migrator.migrate(connection.current())
        try connection.close()
        try files.finishMaking()
    }

    /// Refuses another program's database and one of a newer host.
    private static func checkOrigin(
        of database: any DatabaseWriter, _ migrator: DatabaseMigrator, file: String
    ) throws {
        let (origin, isNewer) = try database.read { db in
            (
                try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0,
                try migrator.hasBeenSuperseded(db)
            )
        }
        if origin != StoreSchema.applicationID {
            throw StoreError.damaged(
                file: file, finding: "it is empty or another program's: its mark is \(origin)")
        }
        if isNewer {
            throw StoreError(
                code: .newerSchema, subject: file, finding: "a newer bgtaskd has written it",
                remedy: "Run that version or a later one, or name another directory with --state")
        }
    }

    private static func check(_ database: any DatabaseWriter, file: String) throws {
        let findings = try database.read { try String.fetchAll($0, sql: "PRAGMA quick_check(3)") }
        if findings != ["ok"] {
            throw StoreError.damaged(file: file, finding: "SQLite found: \(findings.joined(separator: "; "))")
        }
    }
}
