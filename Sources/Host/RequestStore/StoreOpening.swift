import FoundationEssentials
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
        let hadLog = FileManager.default.fileExists(atPath: files.log)
        try files.makeDatabaseFile()
        let connection = try StoreConnection(file: files.database)
        let database = try connection.current()
        let isNew = try database.read { try $0.tableExists("meta") == false }
        try checkOrigin(of: database, isNew: isNew, file: files.database)
        let wasClean =
            try isNew
            || database.read { db in
                try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT * FROM meta WHERE key = 'clean_stop_ms')")
                    ?? false
            }
        if !wasClean { try check(database, file: files.database) }
        try StoreSchema.migrator(firstToken: max(0, time.milliseconds)).migrate(database)
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "DELETE FROM meta WHERE key = 'clean_stop_ms'")
            // From here on the file itself says that a host runs: if its log is lost later, the next one sees it.
            _ = try db.checkpoint(.truncate)
        }
        var opening = StoreOpening(file: files.database, isNew: isNew, wasClean: wasClean)
        if !wasClean && !hadLog {
            opening.warnings.append(
                "\(files.database): the last host did not stop cleanly, and its log \(files.log) is gone. If the "
                    + "database was copied without it, or it was removed, the newest requests may be missing")
        }
        return (connection, opening)
    }

    /// Refuses another program's database and one of a newer host.
    private static func checkOrigin(of database: any DatabaseWriter, isNew: Bool, file: String) throws {
        let (origin, tables, isNewer) = try database.read { db in
            (
                try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0,
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0,
                try StoreSchema.migrator(firstToken: 0).hasBeenSuperseded(db)
            )
        }
        if isNewer && origin == StoreSchema.applicationID {
            throw StoreError(
                code: .newerSchema, subject: file, finding: "a newer bgtaskd has written it",
                remedy: "Run that version or a later one, or name another directory with --state")
        }
        if origin != StoreSchema.applicationID && tables > 0 {
            throw StoreError.damaged(file: file, finding: "it is a database, but not one of bgtaskd's")
        }
    }

    private static func check(_ database: any DatabaseWriter, file: String) throws {
        let findings = try database.read { try String.fetchAll($0, sql: "PRAGMA quick_check(3)") }
        if findings != ["ok"] {
            throw StoreError.damaged(file: file, finding: "SQLite found: \(findings.joined(separator: "; "))")
        }
    }
}
