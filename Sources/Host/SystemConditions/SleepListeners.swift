import TaskModel

/// The listeners to notices about sleep, and the time at which the delay of a sleep ends.
struct SleepListeners {
    private var listeners: [Int: AsyncStream<SleepNotice>.Continuation] = [:]
    private var nextListener = 0
    /// When the delay of the present sleep ends, on CLOCK_BOOTTIME; `nil` if no sleep is delayed.
    private(set) var delayEnds: Duration?

    mutating func add(_ listener: AsyncStream<SleepNotice>.Continuation) -> Int {
        nextListener += 1
        listeners[nextListener] = listener
        return nextListener
    }

    mutating func remove(_ listener: Int) { listeners[listener] = nil }

    /// Notifies all listeners; returns whether there are any.
    mutating func tell(_ notice: SleepNotice, until end: Duration?) -> Bool {
        delayEnds = listeners.isEmpty ? nil : end
        for listener in listeners.values { listener.yield(notice) }
        return !listeners.isEmpty
    }

    /// Whether the delay of the present sleep has lasted too long; if so, clears ``delayEnds``.
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
