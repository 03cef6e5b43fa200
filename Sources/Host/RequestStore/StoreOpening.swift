import GRDB
import TaskModel

/// The findings while a store was opened.
public struct StoreOpening: Equatable, Sendable {
    /// The path of the database.
    public let file: String
    /// Whether the store was created.
    public let isNew: Bool
    /// Whether the last host stopped cleanly; otherwise, the database was checked.
    public let wasClean: Bool
    /// Problems that an operator should look at.
    public var warnings: [String] = []

    init(file: String, isNew: Bool, wasClean: Bool) {
        self.file = file
        self.isNew = isNew
        self.wasClean = wasClean
    }

    /// Opens, checks and migrates the store; the caller must hold the lock.
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
            // From here on, the database file shows that a host is running. If its log is lost later, the
            // next host notices that.
            _ = try db.checkpoint(.truncate)
        }
        try files.syncNames()
        var opening = StoreOpening(file: files.database, isNew: isNew, wasClean: wasClean)
        if !wasClean && !hadLog {
            opening.warnings.append(
                "\(files.database): the last host did not stop cleanly, and its log \(files.log) is gone. If "
                    + "the log was lost, or not copied with the database, the newest requests may be missing")
        }
        return (connection, opening)
    }

    /// Creates an empty store under a temporary name, and renames it when it is complete.
    ///
    /// Therefore, an empty or incomplete file with the final name is always damage, and never a new store.
    private static func make(_ files: StoreFiles, _ migrator: DatabaseMigrator) throws {
        if files.exists(files.log) {
            throw StoreError.damaged(
                file: files.database, finding: "the file is missing, but its log \(files.log) exists")
        }
        try files.beginMaking()
        let connection = try StoreConnection(file: files.unfinished)
        try migrator.migrate(connection.current())
        // The log is not renamed, so all changes must be in the database file.
        _ = try connection.current().writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try connection.close()
        try files.finishMaking()
    }

    /// Checks a database without changing it; returns whether the last host stopped cleanly.
    ///
    /// Opening a database for writing changes it: SQLite converts it to WAL mode and writes its log back. So
    /// the file must first be checked to be an intact store.
    private static func inspect(_ file: String, _ migrator: DatabaseMigrator) throws -> Bool {
        // SQLite would use an empty file as a new database, and delete its log.
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

    /// Refuses the database of another program, and a database that a newer version of the host has written.
    private static func checkOrigin(of db: Database, _ migrator: DatabaseMigrator, file: String) throws {
        let origin = try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        if origin != StoreSchema.applicationID {
            throw StoreError.damaged(
                file: file, finding: "it belongs to another program: its application_id is \(origin)")
        }
        if try migrator.hasBeenSuperseded(db) {
            throw StoreError(
                code: .newerSchema, subject: file, finding: "a newer version of bgtaskd wrote it",
                remedy: "Run that version or a later one, or set 'paths.state' (--state) to another directory"
            )
        }
    }

    private static func check(_ db: Database, file: String) throws {
        let findings = try String.fetchAll(db, sql: "PRAGMA quick_check(3)")
        if findings != ["ok"] {
            throw StoreError.damaged(
                file: file, finding: "SQLite reported: \(findings.joined(separator: "; "))")
        }
    }
}
