import BackgroundTasks
import CLocks

/// A lock of one word; begin with `os_unfair_lock()`, which is unlocked.
///
/// Keep the lock at one address: in a class, or in memory that you allocated. A thread that waits lends its
/// priority to the thread that holds the lock.
public struct os_unfair_lock_s {
    fileprivate var word: UInt32 = 0

    /// Makes a lock that is unlocked.
    public init() {}
}

/// The type's usual name.
public typealias os_unfair_lock = os_unfair_lock_s
/// A pointer to a lock.
public typealias os_unfair_lock_t = UnsafeMutablePointer<os_unfair_lock_s>

/// Waits until the lock is free, and locks it.
///
/// The process ends if this thread holds the lock already, because it would wait forever.
///
/// - Parameter lock: The lock.
public func os_unfair_lock_lock(_ lock: os_unfair_lock_t) {
    guard bgtask_lock_lock(&lock.pointee.word) != 0 else { return }
    misuse("os_unfair_lock", "this thread already holds the lock that it wants to lock")
}

/// Locks the lock if it is free.
///
/// - Parameter lock: The lock.
/// - Returns: Whether this call locked it. If not, do not call this in a loop: use
///   ``os_unfair_lock_lock(_:)``.
public func os_unfair_lock_trylock(_ lock: os_unfair_lock_t) -> Bool {
    bgtask_lock_try(&lock.pointee.word) != 0
}

/// Unlocks the lock; the process ends if this thread does not hold it.
///
/// - Parameter lock: The lock.
public func os_unfair_lock_unlock(_ lock: os_unfair_lock_t) {
    guard bgtask_lock_unlock(&lock.pointee.word) != 0 else { return }
    misuse("os_unfair_lock", "this thread unlocks a lock that it does not hold")
}

/// Ends the process unless this thread holds the lock.
///
/// - Parameter lock: The lock.
public func os_unfair_lock_assert_owner(_ lock: os_unfair_lock_t) {
    guard bgtask_lock_is_mine(&lock.pointee.word) == 0 else { return }
    misuse("os_unfair_lock", "this thread must hold the lock here, and does not")
}

/// Ends the process if this thread holds the lock.
///
/// - Parameter lock: The lock.
public func os_unfair_lock_assert_not_owner(_ lock: os_unfair_lock_t) {
    guard bgtask_lock_is_mine(&lock.pointee.word) != 0 else { return }
    misuse("os_unfair_lock", "this thread must not hold the lock here, and does")
}
