import Synchronization

/// Sends every value to all present listeners, on the thread that sends it.
///
/// It stores no values. The host never waits for a listener, so a listener that can't handle a value at once
/// must have its own bounded queue.
final class Broadcaster<Value: Sendable>: Sendable {
    /// Receives a value, or `nil` after the last one; must not block.
    typealias Listener = @Sendable (Value?) -> Void

    private struct State {
        var last = 0
        var listeners: [Int: Listener] = [:]
    }

    private let state = Mutex(State())

    /// Adds a listener, which receives every value from now on, until the host ends.
    ///
    /// - Parameter listener: The listener. If values are sent one at a time, it receives them one at a time.
    /// - Returns: A function that removes the listener; a value that is being sent at that moment may still
    ///   arrive.
    func listen(_ listener: @escaping Listener) -> @Sendable () -> Void {
        let number = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = listener
            return state.last
        }
        return { [weak self] in _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) } }
    }

    /// Whether there are listeners.
    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Sends a value to all listeners; callable from any thread.
    func send(_ value: Value) { sender()(value) }

    /// Returns a function that sends a value to the present listeners.
    ///
    /// This method may be called with a lock held. The returned function must be called without one, because
    /// it calls the listeners, and soon, because it does not know listeners that are added later.
    func sender() -> (Value) -> Void {
        // The listeners are called without the lock, because a listener may remove itself or another one.
        let listeners = state.withLock { Array($0.listeners.values) }
        return { value in for listener in listeners { listener(value) } }
    }

    /// Notifies all listeners that no more values follow, and removes them.
    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(nil) }
    }
}
