import TaskModel

/// Holds one launch to CPU-seconds inside a sliding window; pure arithmetic over samples.
///
/// What it counts is a lower bound of the use inside the window: of the stretch between two samples that
/// straddles the window's start it takes as much as possible to lie before it. So it never ends a launch that
/// kept its limit.
struct CPUMonitor: Equatable, Sendable {
    /// What a sample showed.
    enum Finding: Equatable, Sendable {
        /// Within the limit, or there is none.
        case within
        /// Half the quota is spent, for the first time since the limit came into force.
        case half(message: String)
        /// The quota is spent.
        case exceeded(message: String)
    }

    private struct Sample: Equatable, Sendable {
        let at: Duration
        let usage: Duration
    }

    /// The limit in force; `nil` means none.
    private(set) var limit: CPULimit?
    private let cores: Int
    private var samples: [Sample]
    private var hasWarned = false
    /// Whether half of the quota or more was spent inside the window that the newest sample ended.
    private(set) var isPastHalf = false

    /// Starts a window.
    ///
    /// - Parameters:
    ///   - limit: `nil` watches nothing.
    ///   - cores: How many cores can work at once.
    ///   - time: CLOCK_MONOTONIC.
    ///   - usage: CPU time of the launch's group so far.
    init(limit: CPULimit?, cores: Int, at time: Duration, usage: Duration) {
        self.limit = limit
        self.cores = max(1, cores)
        samples = [Sample(at: time, usage: usage)]
    }

    /// Puts a limit into force, or lifts it; the window starts afresh either way.
    mutating func setLimit(_ limit: CPULimit?, at time: Duration, usage: Duration) {
        self.limit = limit
        samples = [Sample(at: time, usage: usage)]
        hasWarned = false
        isPastHalf = false
    }

    /// Takes a sample; times and usages must not fall.
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

    /// How long after the newest sample the quota, or the half that warns, could first be spent; `nil`
    /// without a limit.
    ///
    /// What is left, divided by the cores; never shorter than a hundredth of the window or 100 ms, whichever
    /// is less.
    var nextSampleIn: Duration? {
        guard let limit, let newest = samples.last, let oldest = samples.first else { return nil }
        // The oldest sample is at or before the window's start: this is the most that can lie inside.
        let left = limit.quota - (newest.usage - oldest.usage)
        let untilHalf = left - limit.quota / 2
        let wanted = hasWarned || untilHalf <= .zero ? left : untilHalf
        let least = min(limit.window / 100, .milliseconds(100))
        return max(wanted / cores, least, .milliseconds(5))
    }

    /// When the quota, or the half that warns, could first be spent, on CLOCK_MONOTONIC; `nil` without a
    /// limit.
    ///
    /// A look before that can't find anything.
    var nextSampleAt: Duration? {
        guard let next = nextSampleIn, let newest = samples.last else { return nil }
        return newest.at + next
    }

    /// Drops samples that no later window can need: all before the newest one that is not inside.
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

    /// The samples of the window for people: `CPU time at each sample: 0.0 s at 0.0 s, 11.9 s at 12.0 s`.
    var history: String {
        guard let first = samples.first else { return "" }
        let list = samples.map {
            "\(($0.usage - first.usage).tenthsText) s at \(($0.at - first.at).tenthsText) s"
        }
        return "CPU time at each sample: " + list.joined(separator: ", ")
    }

    /// `48.0 s CPU over 50.1 s (96 %), exceeding 80 % over 60 s`.
    private func text(_ used: Duration, _ time: Duration, _ limit: CPULimit, _ relation: String) -> String {
        let begin = max(time - limit.window, samples.first?.at ?? time)
        let over = time - begin
        let percent = over > .zero ? Int((used.inSeconds / over.inSeconds * 100).rounded()) : 0
        return "\(used.tenthsText) s CPU over \(over.tenthsText) s (\(percent) %), \(relation) "
            + "\(limit.percent) % over \(limit.window.shortText)"
    }
}
