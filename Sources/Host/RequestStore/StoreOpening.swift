import GRDB
import TaskModel

/// What opening a store found.
public struct StoreOpening: Equatable, Sendable {
    /// The database's file.
    public let file: String
    /// Whether there was none before.
    public let isNew: Bool
    /// Whether the last host stopped cleanly; otherwise the file was checked.
    public let wasClean: Bool
    /// What an operator should look at; empty is good.
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
        let wasClean = try isNew || inspect(files.database, migrator)
        let connection = try StoreConnection(file: files.database)
        let database = try connection.current()
        try migrator.migrate(database)
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "DELETE FROM meta WHERE key = 'clean_stop_ms'")
            // From here on the file itself says that a host runs: if its log is lost later, the next one sees
            // it.
            _ = try db.checkpoint(.truncate)
        }
        try files.syncNames()
        var opening = StoreOpening(file: files.database, isNew: isNew, wasClean: wasClean)
        if !wasClean && !hadLog {
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
        // The log does not follow the rename: all of it has to be in the file.
        _ = try connection.current().writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try connection.close()
        try files.finishMaking()
    }

    /// Looks at a database without the means to change it; true after a clean stop.
    ///
    /// Opening one for writing makes it a WAL database at once and writes back its log at the end, so it is
    /// not done before we know that it is a store and whole.
    private static func inspect(_ file: String, _ migrator: DatabaseMigrator) throws -> Bool {
        // SQLite takes an empty file for a new database, and then removes its log.
        if StoreFiles.isEmpty(file) { throw StoreError.damaged(file: file, finding: "it is empty") }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        let database = try DatabaseQueue(path: file, configuration: configuration)
        let wasClean = try database.read { db in
            try checkOrigin(of: db, migrator, file: file)
            let wasClean = try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT * FROM meta WHERE key = 'clean_stop_ms')")
            if wasClean != true { try check(db, file: file) }
            return wasClean == true
        }
        try database.close()
        return wasClean
    }

    /// Refuses another program's database and one of a newer host.
    private static func checkOrigin(of db: Database, _ migrator: DatabaseMigrator, file: String) throws {
        let origin = try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        if origin != StoreSchema.applicationID {
            throw StoreError.damaged(
                file: file, finding: "it is another program's: its mark is \(origin)")
        }
        if try migrator.hasBeenSuperseded(db) {
            throw StoreError(
                code: .newerSchema, subject: file, finding: "a newer bgtaskd has written it",
                remedy: "Run that version or a later one, or name another directory with --state")
        }
    }

    private static func check(_ db: Database, file: String) throws {
        let findings = try String.fetchAll(db, sql: "PRAGMA quick_check(3)")
        if findings != ["ok"] {
            throw StoreError.damaged(file: file, finding: "SQLite found: \(findings.joined(separator: "; "))")
        }
    }
}
