import Synchronization
import TaskModel

/// The clients that follow the host's events; each event is one frame that all of them share.
///
/// The host is asked for its events while there is a client: it does less for events that nothing follows.
final class EventFeed: Sendable {
    private struct State {
        var last = 0
        var queues: [Int: FrameQueue] = [:]
        /// Ends the host's calls; `nil` while it makes none.
        var stop: (@Sendable () -> Void)?
    }

    private let host: any HostControl
    private let state = Mutex(State())

    init(of host: any HostControl) { self.host = host }

    /// Puts every event from now on into a queue, until that ends.
    func add(_ queue: FrameQueue) {
        let number = state.withLock { state in
            state.last += 1
            state.queues[state.last] = queue
            if state.stop == nil { state.stop = host.follow { [weak self] in self?.take($0) } }
            return state.last
        }
        queue.onEnd { [weak self] in self?.remove(number) }
    }

    private func remove(_ number: Int) {
        // Under the lock: a client that comes now must not get an event by the old and by a new call.
        state.withLock { state in
            state.queues[number] = nil
            if state.queues.isEmpty { state.stop.take()?() }
        }
    }

    /// Takes an event of the host; `nil` is the last.
    private func take(_ event: HostEvent?) {
        guard let event else {
            let queues = state.withLock { state in
                defer { (state.queues, state.stop) = ([:], nil) }
                return Array(state.queues.values)
            }
            for queue in queues { queue.finish() }
            return
        }
        let frame = StreamFrame(event)
        for queue in state.withLock({ Array($0.queues.values) }) {
            queue.put(frame, isDispensable: event.isDispensable)
        }
    }
}
