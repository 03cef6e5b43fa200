import GRDB
import LinuxSystem
import Synchronization
import TaskModel

/// The connections to the database, which are replaced after an error of the disk.
final class StoreConnection: Sendable {
    /// The path of the database; "memory" for one without a file.
    let file: String
    private let database: Mutex<(any DatabaseWriter)?>
    /// The file that is open; `nil` for a database in memory.
    private let identity: Mutex<FileIdentity?>

    init(file: String) throws {
        self.file = file
        database = Mutex(try Self.open(file))
        identity = Mutex(try FileIdentity(of: file))
    }

    /// Checks that the file that is open still has its name.
    ///
    /// SQLite goes on to write a file that was removed, and its commits succeed. They would be lost with the
    /// process.
    ///
    /// - Throws: ``StoreError`` if the file was removed or replaced.
    func checkPlace() throws(StoreError) {
        guard let known = identity.withLock({ $0 }) else { return }
        if let present = try? FileIdentity(of: file), present.isSameInode(as: known) { return }
        throw StoreError(
            code: .inputOutput, subject: file,
            finding: "the file was removed or replaced while the host runs, so nothing can be stored",
            remedy: "Put the same file and its log back, or stop the host and restore a copy of both")
    }

    /// Creates a database in memory, for tests.
    init() throws {
        file = "memory"
        identity = Mutex(nil)
        database = Mutex(try DatabaseQueue())
    }

    /// The connections that are in use now; ``reopen()`` can replace them.
    func current() throws(StoreError) -> any DatabaseWriter {
        guard let current = database.withLock({ $0 }) else { throw StoreError.closed(file: file) }
        return current
    }

    /// Replaces the connections, because their caches can't be trusted after a failed fsync.
    ///
    /// Reads that have begun finish on the old connections. If opening fails, the old connections stay, and
    /// the next error causes another attempt.
    func reopen() {
        guard file != "memory", let fresh = try? Self.open(file) else { return }
        database.withLock { $0 = $0 == nil ? nil : fresh }
    }

    /// Writes the log into the database file, and closes the connections.
    func close() throws {
        let last = database.withLock { current in
            defer { current = nil }
            return current
        }
        // This fails if a reader is active. The log stays complete, and the next connection reads it.
        _ = try? last?.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try last?.close()
    }

    private static func open(_ file: String) throws -> any DatabaseWriter {
        var configuration = Configuration()
        configuration.label = "bgtask.store"
        configuration.busyMode = .timeout(5)
        configuration.foreignKeysEnabled = true
        configuration.maximumReaderCount = 3
        let pool = try DatabasePool(path: file, configuration: configuration)
        try pool.writeWithoutTransaction { db in
            // This can't be done in `prepareDatabase`: the pool later sets NORMAL, and then a power failure
            // could undo commits.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            // After a checkpoint, SQLite truncates the log to 4 MiB, so that a burst of writes does not keep
            // its space.
            _ = try Int.fetchOne(db, sql: "PRAGMA journal_size_limit = 4194304")
        }
        try checkDurability(of: pool, file: file)
        return pool
    }

    /// Checks the settings of SQLite that make a commit durable.
    static func checkDurability(of database: any DatabaseWriter, file: String) throws {
        let (synchronous, journal) = try database.writeWithoutTransaction { db in
            (
                try Int.fetchOne(db, sql: "PRAGMA synchronous") ?? -1,
                try String.fetchOne(db, sql: "PRAGMA journal_mode") ?? "unknown"
            )
        }
        guard synchronous == 2, journal == "wal" else {
            throw StoreError(
                code: .notDurable, subject: file,
                finding: "SQLite runs with synchronous=\(synchronous) and journal_mode=\(journal); "
                    + "2 and wal are required",
                remedy: "Keep the state directory on a local file system that can map files into memory")
        }
    }
}
