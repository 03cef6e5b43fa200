import Dispatch
import GRDB
import Synchronization
import TaskModel

/// Group commit: one writer takes every write that waits, commits once, and only then answers the callers.
///
/// A commit costs one fsync however many writes it has, so one fsync does more the more callers wait. Each
/// write runs in a savepoint: one that is refused does not fail the others.
final class CommitQueue: Sendable {
    /// The writes of one caller, who waits until all of them are durable or refused.
    private struct Entry: Sendable {
        let count: Int
        /// Runs the writes in the transaction.
        ///
        /// Throws what fails the whole transaction; returns what answers the caller after the commit.
        let run: @Sendable (_ db: Database, _ isAlone: Bool) throws -> @Sendable () -> Void
        /// Answers the caller that none of the writes was committed.
        let fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var waiting: [Entry] = []
        var isDraining = false
        var unwritten = UnwrittenNotes()
        var statistics = StoreStatistics()
    }

    let connection: StoreConnection
    private let state = Mutex(State())
    /// One thread at a time, which may block in fsync.
    private let writer = DispatchQueue(label: "bgtask.store.writer", qos: .userInitiated)

    init(connection: StoreConnection) {
        self.connection = connection
    }

    /// Runs writes in the next transaction, in their order.
    ///
    /// - Parameters:
    ///   - bodies: The writes.
    ///   - answer: Called once, on any thread, when each is durable or refused.
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

    /// Runs one write in the next transaction; returns when it is durable or refused.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async -> Result<Value, any Error> {
        await withCheckedContinuation { caller in perform([body]) { caller.resume(returning: $0[0]) } }
    }

    /// Keeps a note for the next commit; makes a commit if the last one for notes was a second ago.
    func keep(_ note: StoreNote, of launch: LaunchID, at moment: Moment) {
        let isDue = state.withLock { $0.unwritten.keep(note, of: launch, at: moment) }
        if isDue { startDraining { _ in } }
    }

    /// The notes that are not in the database yet.
    func unwrittenNotes() -> [LaunchID: UnwrittenNotes.Notes] { state.withLock { $0.unwritten.newest } }

    /// How many writes wait for the next transaction.
    func waitingCount() -> Int { state.withLock { $0.waiting.reduce(0) { $0 + $1.count } } }

    /// What was done so far.
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
            let answers = try connection.current().writeWithoutTransaction { db in
                var answers: [@Sendable () -> Void] = []
                try db.inTransaction(.immediate) {
                    // Before the writes: a launch that ends in this transaction keeps what was noted of it.
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

    /// Runs one write.
    ///
    /// A refusal fails the write alone. An error of the database fails all, as the transaction may be gone. A
    /// write that is alone needs no savepoint: its transaction is one.
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

/// How the store's commits went since it was opened.
public struct StoreStatistics: Equatable, Sendable {
    /// Transactions that were committed.
    public var commits = 0
    /// Writes that callers waited for, refused ones included.
    public var writes = 0
    /// The most writes that one transaction had.
    public var largestCommit = 0
}
