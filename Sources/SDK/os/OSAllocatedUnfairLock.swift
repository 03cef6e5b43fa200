import Synchronization

/// A lock, together with the state that it guards.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    // Unchecked: the state is used only while the mutex is locked.
    private final class Storage {
        let mutex = Mutex(())
        var state: State
        init(_ state: State) { self.state = state }
    }

    private let storage: Storage

    /// Creates a lock for a state that need not be Sendable.
    ///
    /// - Parameter initialState: The initial state.
    public init(uncheckedState initialState: State) { storage = Storage(initialState) }

    /// Creates a lock for a state.
    ///
    /// - Parameter initialState: The initial state.
    public init(initialState: State) where State: Sendable { storage = Storage(initialState) }

    /// Runs a closure with the state while the lock is held.
    ///
    /// - Parameter body: The closure; it must not lock this lock again.
    /// - Returns: The value that the closure returned.
    public func withLock<Answer: Sendable>(_ body: @Sendable (inout State) throws -> Answer) rethrows
        -> Answer
    {
        try withLockUnchecked(body)
    }

    /// Runs a closure with the state while the lock is held, without the Sendable checks of `withLock`.
    ///
    /// - Parameter body: The closure; it must not lock this lock again.
    /// - Returns: The value that the closure returned.
    public func withLockUnchecked<Answer>(_ body: (inout State) throws -> Answer) rethrows -> Answer {
        storage.mutex._unsafeLock()
        defer { storage.mutex._unsafeUnlock() }
        return try body(&storage.state)
    }
}

extension OSAllocatedUnfairLock where State == Void {
    /// Creates a lock without a state.
    public init() { self.init(uncheckedState: ()) }

    /// Runs a closure while the lock is held.
    ///
    /// - Parameter body: The closure; it must not lock this lock again.
    /// - Returns: The value that the closure returned.
    public func withLock<Answer: Sendable>(_ body: @Sendable () throws -> Answer) rethrows -> Answer {
        try withLockUnchecked { _ in try body() }
    }

    /// Waits until the lock is free, and locks it.
    public func lock() { storage.mutex._unsafeLock() }

    /// Unlocks the lock.
    public func unlock() { storage.mutex._unsafeUnlock() }
}
