import TaskModel

/// Watches whether a launch moves: when its progress last changed, and how fast it moves against its own
/// past.
///
/// All times are on CLOCK_MONOTONIC: a machine that sleeps makes no progress and is not to blame.
struct ProgressWatch: Sendable {
    /// Periods that make "now", and those before them that make "usually": by standard half a minute against
    /// a minute.
    private static let recentPeriods = 3, usualPeriods = 6
    /// More are not remembered: by standard 10 min.
    private static let mostPeriods = 60

    private(set) var newest: TaskProgress?
    private(set) var lastChange: Duration?
    private var isStallAsked = false
    private var isSlowAsked = false
    private var isSlow = false
    private var periodStart = Duration.zero
    private var unitsInPeriod: Int64 = 0
    private var units: [Int64] = []

    /// How far it has come, 0 through 1; 0 where that is unknown.
    var fraction: Double { newest?.fraction ?? 0 }

    mutating func begin(at time: Duration) {
        lastChange = time
        periodStart = time
    }

    /// Takes in a report; false if it changes nothing.
    mutating func report(_ report: TaskProgress, at time: Duration, _ settings: SchedulerSettings) -> Bool {
        guard report.completed != newest?.completed || report.total != newest?.total else { return false }
        rollPeriods(of: settings.ratePeriod, to: time)
        unitsInPeriod += max(0, report.completed - (newest?.completed ?? 0))
        newest = report
        lastChange = time
        isStallAsked = false
        let (recent, usual) = rates()
        isSlow = recent.map { $0 < settings.slowShare * usual } ?? false
        if !isSlow { isSlowAsked = false }
        return true
    }

    /// The user wants it to go on: the wait starts over.
    mutating func keepGoing(at time: Duration) {
        lastChange = lastChange.map { max($0, time) }
        isStallAsked = false
    }

    /// Moves everything by a time in which a debugger held the launch.
    mutating func shift(by duration: Duration) {
        lastChange = lastChange.map { $0 + duration }
        periodStart += duration
    }

    /// What to ask the user now, once per stall and once per slow stretch.
    mutating func question(at time: Duration, _ settings: SchedulerSettings) -> Rationale? {
        if let date = stallQuestion(settings), time >= date {
            isStallAsked = true
            return Rationale(
                quantity: "timeSinceProgress", required: "less than \(settings.stallQuestion.text)",
                observed: ((lastChange.map { time - $0 }) ?? .zero).text,
                remedy:
                    "Answer with bgtask answer LAUNCH yes|no. Without an answer, it ends \(settings.stallLimit.text) after its last progress"
            )
        }
        guard isSlow, !isSlowAsked else { return nil }
        isSlowAsked = true
        let (recent, usual) = rates()
        return Rationale(
            quantity: "progressRate",
            required: "\(Int(settings.slowShare * 100)) % of the usual rate or more",
            observed: "\((recent ?? 0).text) units in \(settings.ratePeriod.text), usually \(usual.text)",
            remedy: "Answer with bgtask answer LAUNCH yes|no")
    }

    /// When the user is asked about a stall; `nil` if that was done.
    func stallQuestion(_ settings: SchedulerSettings) -> Duration? {
        isStallAsked ? nil : lastChange.map { $0 + settings.stallQuestion }
    }

    private mutating func rollPeriods(of period: Duration, to time: Duration) {
        while time >= periodStart + period {
            units.append(unitsInPeriod)
            unitsInPeriod = 0
            periodStart += period
            if units.count > Self.mostPeriods { units.removeFirst() }
        }
    }

    /// Units in a recent period, and the median of the periods before; `nil` while there are too few.
    private func rates() -> (recent: Double?, usual: Double) {
        guard units.count >= Self.recentPeriods + Self.usualPeriods else { return (nil, 0) }
        let recent = units.suffix(Self.recentPeriods).reduce(0, +)
        let before = units.dropLast(Self.recentPeriods).sorted()
        return (Double(recent) / Double(Self.recentPeriods), Double(before[before.count / 2]))
    }
}
