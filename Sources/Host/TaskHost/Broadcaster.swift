import Synchronization

/// Hands every value to each listener that is there; the host never waits for a slow one.
final class Broadcaster<Value: Sendable>: Sendable {
    /// What becomes of a listener that leaves too many values unread.
    enum Overflow: Sendable {
        /// It loses the oldest.
        case dropsOldest
        /// It loses what it can do without; losing anything else ends its stream, so that it knows.
        case ends(unless: @Sendable (Value) -> Bool)
    }

    private struct State {
        var next = 0
        var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let overflow: Overflow

    /// - Parameters:
    ///   - capacity: How many values wait for one listener.
    ///   - overflow: What happens when one more comes.
    init(capacity: Int, overflow: Overflow) {
        self.capacity = capacity
        self.overflow = overflow
    }

    /// Values from now on, until the listener goes or the host ends.
    func listen() -> AsyncStream<Value> {
        let policy: AsyncStream<Value>.Continuation.BufferingPolicy =
            switch overflow {
            case .dropsOldest: .bufferingNewest(capacity)
            case .ends: .bufferingOldest(capacity)
            }
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: policy)
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
        for listener in listeners {
            guard case .dropped = listener.yield(value), case .ends(let isDispensable) = overflow,
                !isDispensable(value)
            else { continue }
            listener.finish()
        }
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
