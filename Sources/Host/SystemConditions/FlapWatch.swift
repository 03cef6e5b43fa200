import TaskModel

/// Finds out how long a condition must stay good before it counts, if it was lost again and again.
///
/// A plug with a bad contact would otherwise start a task and stop it at each contact.
struct FlapWatch {
    /// The time without a loss after which earlier losses no longer count: 10 min.
    ///
    /// Our choice: as long as the longest wait, so that a condition that has passed it starts afresh.
    static let memory = Duration.seconds(600)
    /// The wait after the second loss: 10 s; it doubles with each further one. Our choice, as ``longest`` is.
    static let first = Duration.seconds(10)
    /// The longest wait: 10 min.
    static let longest = Duration.seconds(600)

    /// How often the condition was lost soon after it had returned.
    private var count = 0
    /// When the condition last returned, on CLOCK_BOOTTIME.
    private var returned: Duration?

    /// Records that the reported value was lost.
    mutating func lost(at now: Moment) {
        let isSoon = returned.map { now.boot - $0 < Self.memory } ?? false
        count = isSoon ? count + 1 : 0
    }

    /// Records that the reported value has returned.
    mutating func returned(at now: Moment) { returned = now.boot }

    /// Whether the value must last longer than usual.
    var isFlapping: Bool { count > 0 }

    /// How long the value must last before it counts, if `standard` is the wait after a first loss.
    func dwell(_ standard: Duration) -> Duration {
        guard isFlapping else { return standard }
        return max(standard, min(Self.longest, Self.first * (1 << min(count - 1, 6))))
    }
}
