import TaskModel

/// The listeners that are notified of the machine's sleep, and the time until which a sleep is delayed.
struct SleepListeners {
    private var listeners: [Int: AsyncStream<SleepNotice>.Continuation] = [:]
    private var nextListener = 0
    /// When the delay of the present sleep ends, on the boot clock.
    private(set) var delayEnds: Duration?

    mutating func add(_ listener: AsyncStream<SleepNotice>.Continuation) -> Int {
        nextListener += 1
        listeners[nextListener] = listener
        return nextListener
    }

    mutating func remove(_ listener: Int) { listeners[listener] = nil }

    /// Notifies all listeners; whether there are any.
    mutating func tell(_ notice: SleepNotice, until end: Duration?) -> Bool {
        delayEnds = listeners.isEmpty ? nil : end
        for listener in listeners.values { listener.yield(notice) }
        return !listeners.isEmpty
    }

    /// Whether the time of a delay is up.
    mutating func endDelay(at now: Moment) -> Bool {
        guard let end = delayEnds, end <= now.boot else { return false }
        delayEnds = nil
        return true
    }

    mutating func finish() {
        let all = listeners.values
        listeners = [:]
        for listener in all { listener.finish() }
    }
}
