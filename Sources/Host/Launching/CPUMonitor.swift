import TaskModel

/// Checks the CPU time of one launch against a limit for a sliding window; computes from samples only.
///
/// The result is a lower bound. The window usually begins between two samples, and the monitor assumes that
/// as much as possible of the CPU time between them was used before the window. So it never ends a launch
/// that keeps its limit.
struct CPUMonitor: Equatable, Sendable {
    /// What a sample showed.
    enum Finding: Equatable, Sendable {
        /// The CPU time is within the limit, or there is no limit.
        case within
        /// Half of the quota is used, for the first time since the limit was set.
        case half(message: String)
        /// The quota is used up.
        case exceeded(message: String)
    }

    private struct Sample: Equatable, Sendable {
        let at: Duration
        let usage: Duration
    }

    /// The present limit; `nil` means none.
    private(set) var limit: CPULimit?
    private let cores: Int
    private var samples: [Sample]
    private var hasWarned = false
    /// Whether at least half of the quota was used in the window that ends at the newest sample.
    private(set) var isPastHalf = false

    /// Starts to monitor a launch.
    ///
    /// - Parameters:
    ///   - limit: The limit; `nil` means none.
    ///   - cores: How many cores the launch can use at the same time.
    ///   - time: The present time on CLOCK_MONOTONIC.
    ///   - usage: The CPU time of the launch's processes so far.
    init(limit: CPULimit?, cores: Int, at time: Duration, usage: Duration) {
        self.limit = limit
        self.cores = max(1, cores)
        samples = [Sample(at: time, usage: usage)]
    }

    /// Sets or removes (`nil`) the limit, and starts a new window.
    mutating func setLimit(_ limit: CPULimit?, at time: Duration, usage: Duration) {
        self.limit = limit
        samples = [Sample(at: time, usage: usage)]
        hasWarned = false
        isPastHalf = false
    }

    /// Adds a sample; neither the time nor the usage may be less than in the sample before.
    mutating func sample(at time: Duration, usage: Duration) -> Finding {
        guard let limit else { return .within }
        samples.append(Sample(at: time, usage: usage))
        forgetSamples(before: time - limit.window)
        let used = usage - mostUsageAtStart(of: limit.window, endingAt: time)
        isPastHalf = used * 2 >= limit.quota
        if used >= limit.quota { return .exceeded(message: text(used, time, limit, "exceeding")) }
        if isPastHalf, !hasWarned {
            hasWarned = true
            return .half(message: text(used, time, limit, "half of"))
        }
        return .within
    }

    /// How long after the newest sample the next one is due; `nil` without a limit.
    ///
    /// The launch can reach the next threshold (half of the quota, or all of it) no earlier than the missing
    /// CPU time divided by the number of cores. The result is that time, but at least 5 ms, and at least a
    /// hundredth of the window or 100 ms, whichever is less.
    var nextSampleIn: Duration? {
        guard let limit, let newest = samples.last, let oldest = samples.first else { return nil }
        // The oldest sample is at or before the start of the window, so this is the least that can be left.
        let left = limit.quota - (newest.usage - oldest.usage)
        let untilHalf = left - limit.quota / 2
        let wanted = hasWarned || untilHalf <= .zero ? left : untilHalf
        let least = min(limit.window / 100, .milliseconds(100))
        return max(wanted / cores, least, .milliseconds(5))
    }

    /// When the next sample is due, on CLOCK_MONOTONIC; `nil` without a limit.
    var nextSampleAt: Duration? {
        guard let next = nextSampleIn, let newest = samples.last else { return nil }
        return newest.at + next
    }

    /// Removes all samples before the newest one that is at or before the start of the window.
    private mutating func forgetSamples(before start: Duration) {
        guard let keep = samples.lastIndex(where: { $0.at <= start }), keep > 0 else { return }
        samples.removeFirst(keep)
    }

    private func mostUsageAtStart(of window: Duration, endingAt time: Duration) -> Duration {
        guard let first = samples.first else { return .zero }
        let start = time - window
        guard first.at < start, samples.count > 1 else { return first.usage }
        return min(samples[1].usage, first.usage + (start - first.at) * cores)
    }

    /// The samples as text: `CPU time at each sample: 0.0 s at 0.0 s, 11.9 s at 12.0 s`.
    var history: String {
        guard let first = samples.first else { return "" }
        let list = samples.map {
            "\(($0.usage - first.usage).tenthsText) s at \(($0.at - first.at).tenthsText) s"
        }
        return "CPU time at each sample: " + list.joined(separator: ", ")
    }

    /// Describes the use in the window: `48.0 s CPU over 50.1 s (96 %), exceeding 80 % over 60 s`.
    private func text(_ used: Duration, _ time: Duration, _ limit: CPULimit, _ relation: String) -> String {
        let begin = max(time - limit.window, samples.first?.at ?? time)
        let over = time - begin
        let percent = over > .zero ? Int((used.inSeconds / over.inSeconds * 100).rounded()) : 0
        return "\(used.tenthsText) s CPU over \(over.tenthsText) s (\(percent) %), \(relation) "
            + "\(limit.percent) % over \(limit.window.shortText)"
    }
}
