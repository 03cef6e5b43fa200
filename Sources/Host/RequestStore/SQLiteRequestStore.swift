import GRDB
import LinuxSystem
import Synchronization
public import TaskModel

/// The durable store: one SQLite file in the state directory, and a lock that keeps other hosts away.
///
/// Thread-safe. Writes share commits (``statistics()``), reads run beside them.
public final class SQLiteRequestStore: RequestStore {
    /// What opening found; the host shows the warnings.
    public let opening: StoreOpening
    let queue: CommitQueue
    private let lock: Mutex<FileLock?>

    /// Opens the store of a state directory, or makes one.
    ///
    /// Blocks for as long as checking the file takes after an unclean stop (its size over the disk's speed).
    ///
    /// - Parameters:
    ///   - directory: The state directory; made with mode 0700 if missing.
    ///   - socket: The host's control socket, for the message to a second host.
    ///   - time: Now; tokens of a new store start above it.
    /// - Returns: The store, which holds the directory's lock until it is closed or let go.
    /// - Throws: ``StoreError``: `inUse`, `damaged`, `newerSchema`, `cannotOpen`, `notDurable`, `diskFull`,
    ///   `inputOutput`. Nothing of a damaged store is changed.
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

    /// A store that is gone with the process: the same code and SQL without a file, for tests of what is
    /// above.
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

    /// Marks a clean stop, closes the files and gives the lock back.
    ///
    /// Later calls fail with `closed`.
    ///
    /// - Parameter time: Now.
    /// - Throws: ``StoreError`` when the mark can't be written; the store is open then.
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

    /// How commits went since the store was opened.
    public func statistics() -> StoreStatistics { queue.statistics() }

    // MARK: Ways into the database

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
