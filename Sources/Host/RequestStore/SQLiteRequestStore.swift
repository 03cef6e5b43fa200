import GRDB
import LinuxSystem
import Synchronization
public import TaskModel

/// The durable request store: a SQLite database in the state directory, with a lock against other hosts.
///
/// It is thread-safe. Concurrent writes share commits; reads run at the same time as writes.
public final class SQLiteRequestStore: RequestStore {
    /// The findings while the store was opened; the host reports the warnings.
    public let opening: StoreOpening
    let queue: CommitQueue
    private let lock: Mutex<FileLock?>

    /// Opens the store in a state directory, or creates it.
    ///
    /// After an unclean stop, this method reads the whole database to check it, and blocks for that time.
    ///
    /// - Parameters:
    ///   - directory: The state directory; created with mode 0700 if it does not exist.
    ///   - socket: The path of the host's control socket, for the message that another host gets.
    ///   - time: The present time; the tokens of a new store start above it.
    /// - Returns: The store, which holds the directory's lock until it is closed or deallocated.
    /// - Throws: ``StoreError``: `inUse`, `damaged`, `newerSchema`, `cannotOpen`, `notDurable`, `diskFull` or
    ///   `inputOutput`. A damaged store is not changed.
    public static func open(
        directory: String, socket: String, at time: WallTime
    ) throws(StoreError) -> SQLiteRequestStore {
        let files = StoreFiles(directory: directory)
        let lock = try files.takeLock(details: "socket \(socket)")
        do {
            let (connection, opening) = try StoreOpening.open(files, at: time)
            return SQLiteRequestStore(connection: connection, opening: opening, lock: lock)
        } catch {
            throw StoreError.translating(error, file: files.database)
        }
    }

    /// Creates a store in memory, with the same code and SQL but without a file; for tests.
    public static func inMemory() throws(StoreError) -> SQLiteRequestStore {
        do {
            let connection = try StoreConnection()
            try StoreSchema.migrator(firstToken: 0).migrate(connection.current())
            return SQLiteRequestStore(
                connection: connection, opening: StoreOpening(file: "memory", isNew: true, wasClean: true),
                lock: nil)
        } catch {
            throw StoreError.translating(error, file: "memory")
        }
    }

    private init(connection: StoreConnection, opening: StoreOpening, lock: consuming FileLock?) {
        self.opening = opening
        queue = CommitQueue(connection: connection)
        self.lock = Mutex(lock)
    }

    /// Records a clean stop, closes the database and releases the lock.
    ///
    /// Later calls fail with `closed`.
    ///
    /// - Parameter time: The present time.
    /// - Throws: ``StoreError``; if the stop can't be recorded, the store stays open.
    public func close(at time: WallTime) async throws(StoreError) {
        try await write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO meta (key, value) VALUES ('clean_stop_ms', ?)",
                arguments: [time.milliseconds])
        }
        do {
            try queue.connection.close()
        } catch {
            throw StoreError.translating(error, file: queue.connection.file)
        }
        lock.withLock { $0 = nil }
    }

    /// Statistics of the commits since the store was opened.
    public func statistics() -> StoreStatistics { queue.statistics() }

    // MARK: Access to the database

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        switch await queue.perform(body) {
        case .success(let value): return value
        case .failure(let error): throw StoreError.translating(error, file: queue.connection.file)
        }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        let database = try queue.connection.current()
        do {
            return try await database.read(body)
        } catch {
            throw StoreError.translating(error, file: queue.connection.file)
        }
    }
}
