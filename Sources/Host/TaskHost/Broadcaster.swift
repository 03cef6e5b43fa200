import Synchronization

/// Hands every value to each listener that is there.
///
/// A listener that is slow loses the oldest values: the host never waits for one.
final class Broadcaster<Value: Sendable>: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// - Parameter capacity: How many values wait for one listener.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Values from now on, until the listener goes or the host ends.
    func listen() -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self, bufferingPolicy: .bufferingNewest(capacity))
        let number = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[number] = nil }
        }
        return stream
    }

    /// Whether anyone listens.
    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Hands a value to everyone; any thread.
    func send(_ value: Value) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.yield(value) }
    }

    /// Ends every listener's stream.
    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
