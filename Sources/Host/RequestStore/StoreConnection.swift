import GRDB
import Synchronization
import TaskModel

/// The database's file and its connections, which are opened again after an error of the disk.
final class StoreConnection: Sendable {
    /// The database's file; a word for people where it is in memory.
    let file: String
    private let database: Mutex<(any DatabaseWriter)?>

    init(file: String) throws {
        self.file = file
        database = Mutex(try Self.open(file))
    }

    /// A database in memory, for tests of what is above.
    init() throws {
        file = "memory"
        database = Mutex(try DatabaseQueue())
    }

    /// The connections to use now.
    func current() throws(StoreError) -> any DatabaseWriter {
        guard let current = database.withLock({ $0 }) else { throw StoreError.closed(file: file) }
        return current
    }

    /// Lets the connections go and opens others: after a failed fsync the old ones' caches can't be trusted.
    ///
    /// Readers that are under way finish on the old ones. If opening fails, the old ones stay, and the next
    /// failure comes here again.
    func reopen() {
        guard file != "memory", let fresh = try? Self.open(file) else { return }
        database.withLock { $0 = $0 == nil ? nil : fresh }
    }

    /// Writes the log back into the file and closes.
    func close() throws {
        let last = database.withLock { current in
            defer { current = nil }
            return current
        }
        // A reader may be in the way. The log is whole without this, and the next open reads it.
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
            // Here and not in `prepareDatabase`: the pool sets NORMAL after that, and a power cut could undo
            // commits.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            // The log is cut to this after it was written back, so that one burst does not keep its space.
            _ = try Int.fetchOne(db, sql: "PRAGMA journal_size_limit = 4194304")
        }
        try checkDurability(of: pool, file: file)
        return pool
    }

    /// Reads back what the promise "durable before acknowledged" rests on.
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
