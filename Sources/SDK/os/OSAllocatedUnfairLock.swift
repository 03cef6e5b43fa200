import Synchronization

/// A lock with what it guards.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    // Unchecked: the state is touched under the mutex alone.
    private final class Storage {
        let mutex = Mutex(())
        var state: State
        init(_ state: State) { self.state = state }
    }

    private let storage: Storage

    /// Guards a state that may be anything.
    ///
    /// - Parameter initialState: How it begins.
    public init(uncheckedState initialState: State) { storage = Storage(initialState) }

    /// Guards a state.
    ///
    /// - Parameter initialState: How it begins.
    public init(initialState: State) where State: Sendable { storage = Storage(initialState) }

    /// Runs a closure with the state, alone.
    ///
    /// - Parameter body: The closure; must not lock this lock again.
    /// - Returns: What it returned.
    public func withLock<Answer: Sendable>(_ body: @Sendable (inout State) throws -> Answer) rethrows
        -> Answer
    {
        try withLockUnchecked(body)
    }

    /// Runs a closure with the state, alone.
    ///
    /// - Parameter body: The closure; must not lock this lock again.
    /// - Returns: What it returned.
    public func withLockUnchecked<Answer>(_ body: (inout State) throws -> Answer) rethrows -> Answer {
        storage.mutex._unsafeLock()
        defer { storage.mutex._unsafeUnlock() }
        return try body(&storage.state)
    }
}

extension OSAllocatedUnfairLock where State == Void {
    /// Guards nothing but its holder.
    public init() { self.init(uncheckedState: ()) }

    /// Runs a closure alone.
    ///
    /// - Parameter body: The closure; must not lock this lock again.
    /// - Returns: What it returned.
    public func withLock<Answer: Sendable>(_ body: @Sendable () throws -> Answer) rethrows -> Answer {
        try withLockUnchecked { _ in try body() }
    }

    /// Waits for the lock and takes it.
    public func lock() { storage.mutex._unsafeLock() }

    /// Gives it back.
    public func unlock() { storage.mutex._unsafeUnlock() }
}
