import Dispatch
import GRDB
import Synchronization
import TaskModel

/// Group commit: one thread performs all waiting writes in one transaction, and then answers their callers.
///
/// A commit needs one fsync for any number of writes, so the cost per write falls when many callers wait. A
/// commit that contains only notes needs none: no caller waits for it, and the next one makes it durable,
/// too. Each write runs in a savepoint, so that a refused write does not affect the others.
final class CommitQueue: Sendable {
    /// The writes of one caller, who waits until each of them is durable or refused.
    private struct Entry: Sendable {
        let count: Int
        /// Performs the writes in the transaction.
        ///
        /// Throws an error that fails the whole transaction. Otherwise, returns a closure that answers the
        /// caller after the commit.
        let run: @Sendable (_ db: Database, _ isAlone: Bool) throws -> @Sendable () -> Void
        /// Reports to the caller that none of the writes was committed.
        let fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var waiting: [Entry] = []
        var isDraining = false
        var unwritten = UnwrittenNotes()
        var statistics = StoreStatistics()
        /// Whether SQLite syncs at the end of each transaction.
        var isSyncing = true
    }

    let connection: StoreConnection
    private let state = Mutex(State())
    /// The queue on which writes run, one batch at a time; it may block in fsync.
    private let writer = DispatchQueue(label: "bgtask.store.writer", qos: .userInitiated)

    init(connection: StoreConnection) {
        self.connection = connection
    }

    /// Performs writes in the next transaction, in order.
    ///
    /// - Parameters:
    ///   - bodies: The writes.
    ///   - answer: Called once, on any thread, when each write is durable or refused.
    func perform<Value: Sendable>(
        _ bodies: [@Sendable (Database) throws -> Value],
        answer: @escaping @Sendable ([Result<Value, any Error>]) -> Void
    ) {
        if bodies.isEmpty { return answer([]) }
        let entry = Entry(
            count: bodies.count,
            run: { db, isAlone in
                let results = try bodies.map { try Self.attempt($0, isAlone: isAlone, in: db) }
                return { answer(results) }
            },
            fail: { error in answer(bodies.map { _ in .failure(error) }) })
        startDraining { $0.waiting.append(entry) }
    }

    /// Performs one write in the next transaction; returns when it is durable or refused.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async -> Result<Value, any Error> {
        await withCheckedContinuation { caller in perform([body]) { caller.resume(returning: $0[0]) } }
    }

    /// Stores a note for the next commit.
    ///
    /// If no commit was started for a note within the last second, one starts now.
    func keep(_ note: StoreNote, of launch: LaunchID, at moment: Moment) {
        let isDue = state.withLock { $0.unwritten.keep(note, of: launch, at: moment) }
        if isDue { startDraining { _ in } }
    }

    /// The notes that are not in the database yet, by launch.
    func unwrittenNotes() -> [LaunchID: UnwrittenNotes.Notes] { state.withLock { $0.unwritten.newest } }

    /// The number of writes that wait for the next transaction.
    func waitingCount() -> Int { state.withLock { $0.waiting.reduce(0) { $0 + $1.count } } }

    /// Statistics since the store was opened.
    func statistics() -> StoreStatistics { state.withLock { $0.statistics } }

    private func startDraining(_ change: (inout State) -> Void) {
        let mustStart = state.withLock { state in
            change(&state)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if mustStart { writer.async { self.drain() } }
    }

    private func drain() {
        while true {
            let (batch, notes) = state.withLock { state in
                let taken = (state.waiting, state.unwritten.take(ridingAlong: !state.waiting.isEmpty))
                state.waiting = []
                if taken.0.isEmpty && taken.1.isEmpty { state.isDraining = false }
                return taken
            }
            if batch.isEmpty && notes.isEmpty { return }
            commit(batch, notes)
        }
    }

    private func commit(_ batch: [Entry], _ notes: [LaunchID: UnwrittenNotes.Notes]) {
        let count = batch.reduce(0) { $0 + $1.count }
        let isAlone = count == 1 && notes.isEmpty
        do {
            try connection.checkPlace()
            let answers = try connection.current().writeWithoutTransaction { db in
                try setSync(!batch.isEmpty, in: db)
                var answers: [@Sendable () -> Void] = []
                try db.inTransaction(.immediate) {
                    // The notes come first, because a launch that ends in this transaction must keep them.
                    for (launch, notes) in notes { try LaunchRow.set(notes, of: launch, in: db) }
                    for entry in batch { answers.append(try entry.run(db, isAlone)) }
                    return .commit
                }
                return answers
            }
            state.withLock { state in
                state.unwritten.didWrite(notes)
                state.statistics.commits += 1
                state.statistics.writes += count
                state.statistics.largestCommit = max(state.statistics.largestCommit, count)
            }
            for answer in answers { answer() }
        } catch {
            if (error as? DatabaseError)?.resultCode == .SQLITE_IOERR { connection.reopen() }
            for entry in batch { entry.fail(error) }
        }
    }

    /// Makes SQLite sync at the end of each transaction from now on, or not.
    ///
    /// A commit that callers wait for begins with this, so it fails if SQLite can't sync.
    private func setSync(_ syncs: Bool, in db: Database) throws {
        guard state.withLock({ $0.isSyncing }) != syncs else { return }
        try db.execute(sql: "PRAGMA synchronous = \(syncs ? "FULL" : "NORMAL")")
        state.withLock { $0.isSyncing = syncs }
    }

    /// Performs one write of a transaction.
    ///
    /// If the write is refused, only this write fails. An error of the database fails the whole transaction,
    /// which SQLite may have rolled back. A write that is alone needs no savepoint.
    private static func attempt<Value>(
        _ body: (Database) throws -> Value, isAlone: Bool, in db: Database
    ) throws -> Result<Value, any Error> {
        if isAlone { return .success(try body(db)) }
        do {
            var results: [Value] = []
            try db.inSavepoint {
                results.append(try body(db))
                return .commit
            }
            return .success(results[0])
        } catch let error as DatabaseError where error.resultCode != .SQLITE_CONSTRAINT {
            throw error
        } catch {
            return .failure(error)
        }
    }
}

/// Statistics of a store's commits since it was opened.
public struct StoreStatistics: Equatable, Sendable {
    /// The number of committed transactions.
    public var commits = 0
    /// The number of writes in these transactions, including refused writes.
    public var writes = 0
    /// The greatest number of writes in one transaction.
    public var largestCommit = 0
}
