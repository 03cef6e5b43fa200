import TaskModel

/// Observes the progress of a launch: when it last changed, and whether it is slower than before.
///
/// All times are on CLOCK_MONOTONIC, so that a sleep of the machine does not count as a stall.
struct ProgressWatch: Sendable {
    /// The number of periods for the recent rate, and the least number before them for the usual rate.
    ///
    /// With the standard period of 10 s, these are 30 s and 60 s.
    private static let recentPeriods = 3, usualPeriods = 6
    /// The number of periods that are kept: 10 min with the standard period.
    private static let mostPeriods = 60

    private(set) var newest: TaskProgress?
    private(set) var lastChange: Duration?
    private var isStallAsked = false
    private var isSlowAsked = false
    private var isSlow = false
    private var periodStart = Duration.zero
    private var unitsInPeriod: Int64 = 0
    private var units: [Int64] = []

    /// The completed part, from 0 to 1; 0 if it is unknown.
    var fraction: Double { newest?.fraction ?? 0 }

    mutating func begin(at time: Duration) {
        lastChange = time
        periodStart = time
    }

    /// Adds a report; returns false if the report changes nothing.
    mutating func report(_ report: TaskProgress, at time: Duration, _ settings: SchedulerSettings) -> Bool {
        guard report.completed != newest?.completed || report.total != newest?.total else { return false }
        rollPeriods(of: settings.ratePeriod, to: time)
        unitsInPeriod = unitsInPeriod.addingUpTo(report.completed.beyond(newest?.completed ?? 0))
        newest = report
        // The user may have answered "keep going" after this progress; the later of the two times counts.
        lastChange = lastChange.map { max($0, time) } ?? time
        isStallAsked = false
        let (recent, usual) = rates()
        isSlow = recent.map { $0 < settings.slowShare * usual } ?? false
        if !isSlow { isSlowAsked = false }
        return true
    }

    /// Restarts the wait for progress, because the user wants the launch to continue.
    mutating func keepGoing(at time: Duration) {
        lastChange = lastChange.map { max($0, time) }
        isStallAsked = false
    }

    /// Moves all times by the duration for which a debugger held the launch.
    mutating func shift(by duration: Duration) {
        lastChange = lastChange.map { $0 + duration }
        periodStart += duration
    }

    /// The question for the user now; asked once for each stall and once for each slow period.
    mutating func question(at time: Duration, _ settings: SchedulerSettings) -> Rationale? {
        if let date = stallQuestion(settings), time >= date {
            isStallAsked = true
            return Rationale(
                quantity: "timeSinceProgress", required: "less than \(settings.stallQuestion.text)",
                observed: ((lastChange.map { time - $0 }) ?? .zero).text,
                remedy:
                    "Let the launch continue or stop it, with 'bgtask answer'. Without an answer, it ends \(settings.stallLimit.text) after its last progress"
            )
        }
        guard isSlow, !isSlowAsked else { return nil }
        isSlowAsked = true
        let (recent, usual) = rates()
        return Rationale(
            quantity: "progressRate",
            required: "\(Int(settings.slowShare * 100)) % of the usual rate or more",
            observed: "\((recent ?? 0).text) units in \(settings.ratePeriod.text), usually \(usual.text)",
            remedy: "Let the launch continue or stop it, with 'bgtask answer'")
    }

    /// When the user is asked about a stall; `nil` if the user was asked already.
    func stallQuestion(_ settings: SchedulerSettings) -> Duration? {
        isStallAsked ? nil : lastChange.map { $0 + settings.stallQuestion }
    }

    private mutating func rollPeriods(of period: Duration, to time: Duration) {
        guard period > .zero else { return }
        let passed = (time - periodStart) / period
        if passed > Double(2 * Self.mostPeriods) {
            // Of so long a time without a report, only the last periods are kept, and they had no units.
            units = Array(repeating: 0, count: Self.mostPeriods)
            unitsInPeriod = 0
            periodStart = passed < 1e15 ? periodStart + period * Int64(passed - 1) : time
        }
        while time >= periodStart + period {
            units.append(unitsInPeriod)
            unitsInPeriod = 0
            periodStart += period
            if units.count > Self.mostPeriods { units.removeFirst() }
        }
    }

    /// The units per period, recently and usually (the median); `recent` is `nil` while there are too few
    /// periods.
    private func rates() -> (recent: Double?, usual: Double) {
        guard units.count >= Self.recentPeriods + Self.usualPeriods else { return (nil, 0) }
        let recent = units.suffix(Self.recentPeriods).reduce(Int64(0)) { $0.addingUpTo($1) }
        let before = units.dropLast(Self.recentPeriods).sorted()
        return (Double(recent) / Double(Self.recentPeriods), Double(before[before.count / 2]))
    }
}

/// Handlers choose their units freely, so sums of them can exceed 64 bits.
extension Int64 {
    /// The sum, or the greatest number if the sum is greater; both numbers are 0 or more.
    fileprivate func addingUpTo(_ other: Int64) -> Int64 {
        let (sum, isOverflow) = addingReportingOverflow(other)
        return isOverflow ? .max : sum
    }

    /// How much greater the number is than an earlier one; 0 if it is not.
    fileprivate func beyond(_ earlier: Int64) -> Int64 {
        if self <= earlier { return 0 }
        let (difference, isOverflow) = subtractingReportingOverflow(earlier)
        return isOverflow ? .max : difference
    }
}
