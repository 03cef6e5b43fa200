import Synchronization

/// Hands every value to each listener that is there, on the thread that sends it.
///
/// It keeps nothing. The host never waits for a listener: one that can't use a value at once has a queue of
/// its own, and bounds that.
final class Broadcaster<Value: Sendable>: Sendable {
    /// Takes a value, or `nil` when no more come; must not block.
    typealias Listener = @Sendable (Value?) -> Void

    private struct State {
        var last = 0
        var listeners: [Int: Listener] = [:]
    }

    private let state = Mutex(State())

    /// Hands over every value from now on, until the host ends.
    ///
    /// - Parameter listener: Called for one value after the other if they are sent so.
    /// - Returns: What ends it earlier; a value that is being sent may still come.
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

    /// Hands a value to everyone; any thread.
    func send(_ value: Value) { sender()(value) }

    /// What hands a value to those that listen now; to be called once, without any lock.
    func sender() -> (Value) -> Void {
        // Not under the lock: a listener may end itself, or another one.
        let listeners = state.withLock { Array($0.listeners.values) }
        return { value in for listener in listeners { listener(value) } }
    }

    /// Ends the streams of all listeners.
    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(nil) }
    }
}
