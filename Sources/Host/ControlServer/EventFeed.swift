import Synchronization
import TaskModel

/// Distributes the host's events to the clients that follow them; all clients share one frame for each event.
///
/// The feed follows the host only while it has a client, because the host does less work for events that
/// nothing follows.
final class EventFeed: Sendable {
    /// Which events a client gets.
    enum Selection {
        /// All but the short ends of transfers.
        case usual
        /// Only the short ends of transfers, and the stop of the host.
        case transferEnds

        func contains(_ event: HostEvent) -> Bool {
            switch event {
            case .hostStopping: true
            case .transferEnded: self == .transferEnds
            default: self == .usual
            }
        }
    }

    private struct State {
        var last = 0
        var queues: [Int: (queue: FrameQueue, selection: Selection)] = [:]
        /// Ends following the host; `nil` while the feed does not follow it.
        var stop: (@Sendable () -> Void)?
    }

    private let host: any HostControl
    private let state = Mutex(State())

    init(of host: any HostControl) { self.host = host }

    /// Adds the events of a selection to a queue from now on, until the queue ends.
    ///
    /// - Parameters:
    ///   - queue: The queue of the client.
    ///   - selection: Which events the client gets.
    ///   - onEnd: Called when the queue has ended, on any thread.
    func add(
        _ queue: FrameQueue, _ selection: Selection = .usual, onEnd: @escaping @Sendable () -> Void = {}
    ) {
        let number = state.withLock { state in
            state.last += 1
            state.queues[state.last] = (queue, selection)
            if state.stop == nil { state.stop = host.follow { [weak self] in self?.take($0) } }
            return state.last
        }
        queue.onEnd { [weak self] in
            self?.remove(number)
            onEnd()
        }
    }

    private func remove(_ number: Int) {
        // Following must end under the lock. Otherwise, a client that is added at this moment could get an
        // event twice: once from the following that ends, and once from the new one.
        state.withLock { state in
            state.queues[number] = nil
            if state.queues.isEmpty { state.stop.take()?() }
        }
    }

    /// Distributes an event of the host; `nil` means that no more events follow.
    private func take(_ event: HostEvent?) {
        guard let event else {
            let queues = state.withLock { state in
                defer { (state.queues, state.stop) = ([:], nil) }
                return state.queues.values.map(\.queue)
            }
            for queue in queues { queue.finish() }
            return
        }
        let queues = state.withLock { state in
            state.queues.values.compactMap { $0.selection.contains(event) ? $0.queue : nil }
        }
        guard !queues.isEmpty else { return }
        let frame = StreamFrame(event)
        for queue in queues {
            queue.put(frame, isDispensable: event.isDispensable)
        }
    }
}
