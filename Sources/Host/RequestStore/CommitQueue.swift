import Dispatch
import GRDB
import Synchronization
import TaskModel

/// Group commit: one writer takes every write that waits, commits once, and only then lets the callers go on.
///
/// A commit costs one fsync however many writes are in it, so the more callers wait, the more one fsync does. Each
/// write runs in a savepoint: one that is refused does not fail the others.
final class CommitQueue: Sendable {
    /// A write that waits.
    struct Write: Sendable {
        /// Does it, and returns what tells the caller so after the commit.
        let run: @Sendable (Database) throws -> @Sendable () -> Void
        /// Tells the caller that it was refused, or not committed.
        let fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var waiting: [Write] = []
        var isDraining = false
        var unwritten = UnwrittenProgress()
        var statistics = StoreStatistics()
    }

    let connection: StoreConnection
    private let state = Mutex(State())
    /// One thread at a time; blocking in fsync here holds up nobody else.
    private let writer = DispatchQueue(label: "bgtask.store.writer", qos: .userInitiated)

    init(connection: StoreConnection) {
        self.connection = connection
    }

    /// Runs a write in the next transaction; returns when it is durable, or refused.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async -> Result<Value, any Error> {
        await withCheckedContinuation { continuation in
            let write = Write(
                run: { db in
                    let value = try body(db)
                    return { continuation.resume(returning: .success(value)) }
                },
                fail: { continuation.resume(returning: .failure($0)) })
            startDraining { $0.waiting.append(write) }
        }
    }

    /// Keeps the newest progress of a launch for the next commit; makes one if the last is a second ago.
    func record(_ progress: TaskProgress, of launch: LaunchID, at moment: Moment) {
        let isDue = state.withLock { $0.unwritten.record(progress, of: launch, at: moment) }
        if isDue { startDraining { _ in } }
    }

    /// What is not yet in the database.
    func unwrittenProgress() -> [LaunchID: TaskProgress] { state.withLock { $0.unwritten.newest } }

    /// How many writes wait for the next transaction.
    func waitingCount() -> Int { state.withLock { $0.waiting.count } }

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
            let (batch, progress) = state.withLock { state in
                let taken = (state.waiting, state.unwritten.take(ridingAlong: !state.waiting.isEmpty))
                state.waiting = []
                if taken.0.isEmpty && taken.1.isEmpty { state.isDraining = false }
                return taken
            }
            if batch.isEmpty && progress.isEmpty { return }
            commit(batch, progress)
        }
    }

    private func commit(_ batch: [Write], _ progress: [LaunchID: TaskProgress]) {
        let isAlone = batch.count == 1 && progress.isEmpty
        do {
            let answers = try connection.current().writeWithoutTransaction { db in
                var answers: [@Sendable () -> Void] = []
                try db.inTransaction(.immediate) {
                    for (launch, progress) in progress { try LaunchRow.set(progress, of: launch, in: db) }
                    for write in batch {
                        answers.append(try Self.answer(to: write, isAlone: isAlone, in: db))
                    }
                    return .commit
                }
                return answers
            }
            state.withLock { state in
                state.unwritten.didWrite(progress)
                state.statistics.commits += 1
                state.statistics.writes += batch.count
                state.statistics.largestCommit = max(state.statistics.largestCommit, batch.count)
            }
            for answer in answers { answer() }
        } catch {
            if (error as? DatabaseError)?.resultCode == .SQLITE_IOERR { connection.reopen() }
            for write in batch { write.fail(error) }
        }
    }

    /// Runs one write.
    ///
    /// A refusal is its own; an error of the database is everybody's, as the transaction may be gone. A write that is
    /// alone needs no savepoint: its transaction is one.
    private static func answer(to write: Write, isAlone: Bool, in db: Database) throws -> @Sendable () -> Void
    {
        if isAlone { return try write.run(db) }
        do {
            var answer: (@Sendable () -> Void)?
            try db.inSavepoint {
                answer = try write.run(db)
                return .commit
            }
            return answer ?? {}
        } catch let error as DatabaseError where error.resultCode != .SQLITE_CONSTRAINT {
            throw error
        } catch {
            return { write.fail(error) }
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
