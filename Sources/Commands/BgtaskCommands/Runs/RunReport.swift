import ControlWire
import Simulation
import TaskModel

/// The `--json` form of one run.
struct RunMessage: Encodable {
    struct Identifier: Encodable {
        var identifier: String
        var launches: Int
        var outcomes: [String: Int]
        var expirations: [String: Int]
        var late: Int
        var refusals: Int
        var cpuSeconds: Double
        var medianWaitSeconds: Double?
        var longWaitSeconds: Double?
        var waitSeconds: [String: Double]
    }

    var name: String
    var runs: Int
    var launches: Int
    var cpuSeconds: Double
    var alarms: Int
    var wakeUps: Int
    var chosenWakeUps: Int
    var leastWakeUps: Int
    var uses: Int
    var freshUses: Int
    var choosingRefreshes: Int
    var refreshesBeforeUse: Int
    var events: Int
    var waitSeconds: [String: Double]
    var identifiers: [Identifier]

    init(_ summary: RunSummary, named name: String) {
        self.name = name
        runs = summary.runs
        launches = summary.launches
        cpuSeconds = summary.cpu.inSeconds
        alarms = summary.alarms
        wakeUps = summary.wakeUps
        chosenWakeUps = summary.chosenWakeUps
        leastWakeUps = summary.leastWakeUps
        uses = summary.uses
        freshUses = summary.freshUses
        choosingRefreshes = summary.choosingRefreshes
        refreshesBeforeUse = summary.refreshesBeforeUse
        events = summary.events
        waitSeconds = Dictionary(uniqueKeysWithValues: summary.waits.map { ($0.factor, $0.time.inSeconds) })
        identifiers = summary.identifiers.sorted { $0.key < $1.key }.map { identifier, facts in
            Identifier(
                identifier: identifier.rawValue, launches: facts.launches,
                outcomes: Dictionary(
                    uniqueKeysWithValues: facts.outcomes.map { ($0.key.rawValue, $0.value) }),
                expirations: Dictionary(
                    uniqueKeysWithValues: facts.expirations.map { ($0.key.rawValue, $0.value) }),
                late: facts.late, refusals: facts.refusals, cpuSeconds: facts.cpu.inSeconds,
                medianWaitSeconds: facts.wait(share: 0.5)?.inSeconds,
                longWaitSeconds: facts.wait(share: 0.95)?.inSeconds,
                waitSeconds: facts.waits.mapValues(\.inSeconds))
        }
    }
}

/// The `--launches --json` form of one launch.
struct TallyLaunchMessage: Encodable {
    var identifier: String
    var request: String
    var launch: String
    var attempt: Int
    var start: Timestamp
    var end: Timestamp?
    var outcome: String?
    var expiration: String?
    var waitedSeconds: Double
    var cpuSeconds: Double

    init(_ launch: Tally.Launch) {
        identifier = launch.identifier.rawValue
        request = "\(launch.request)"
        self.launch = "\(launch.id)"
        attempt = launch.attempt
        start = Timestamp(launch.start)
        end = launch.end.map(Timestamp.init)
        outcome = launch.outcome?.rawValue
        expiration = launch.expiration?.rawValue
        waitedSeconds = launch.waited.inSeconds
        cpuSeconds = launch.cpu.inSeconds
    }
}

extension Console {
    /// Writes one run: its tasks, and the reasons that kept them waiting.
    func print(_ summary: RunSummary) throws {
        var table = Table(
            "task", "launches", "ended", "expired for", "wait", "long wait", "late", "CPU", "waited for")
        for (identifier, facts) in summary.identifiers.sorted(by: { $0.key < $1.key }) {
            let refused = facts.refusals > 0 ? ", \(facts.refusals) refused" : ""
            table.add(
                identifier.rawValue, "\(facts.launches)\(refused)", Self.counts(facts.outcomes),
                Self.counts(facts.expirations), facts.wait(share: 0.5).map(Wording.duration) ?? "",
                facts.wait(share: 0.95).map(Wording.duration) ?? "", "\(facts.late)",
                Wording.duration(facts.cpu), Self.reasons(facts.waits))
        }
        try print(table, ifEmpty: "Nothing was launched.")
        try line(
            "wait: half of the launches waited at most this long; long wait: 19 of 20 did; late: launches that began after the end of their windows (from the earliest begin date to the deadline)"
        )
        if !summary.waits.isEmpty {
            try line(
                "waited for: the reasons besides begin dates, and how long all requests of the task had them")
        }
        try line()
        let waits = summary.waits
        if !waits.isEmpty {
            var table = Table("reason for waiting", "time of all requests")
            for (factor, time) in waits { table.add(factor, Wording.duration(time)) }
            try print(table, ifEmpty: "")
            try line()
        }
        try line(
            "launches: \(summary.launches), CPU time: \(Wording.duration(summary.cpu)), alarms: \(summary.alarms)"
        )
        try line(
            "wake-ups of an idle host: \(summary.wakeUps), of them \(summary.chosenWakeUps) for better moments than the end of a window; \(summary.leastWakeUps) would be enough, beside the other events, to begin each launch in its window"
        )
        if summary.uses > 0 {
            try line(
                "uses after the first week: \(summary.uses); with a refresh in the 30 min before: \(summary.freshUses)"
            )
        }
        if summary.choosingRefreshes > 0 {
            let share = summary.refreshesBeforeUse * 100 / summary.choosingRefreshes
            try line(
                "refreshes after the first week with a window of 30 min or more, and a use in reach: \(summary.choosingRefreshes); ended in the 30 min before a use: \(summary.refreshesBeforeUse) (\(share) %)"
            )
        }
    }

    /// Writes two runs side by side, and their differences.
    func print(_ summaries: [(name: String, summary: RunSummary)]) throws {
        guard summaries.count == 2 else { return }
        let (old, new) = (summaries[0].summary, summaries[1].summary)
        var table = Table("", summaries[0].name, summaries[1].name, "difference")
        func add(_ what: String, _ left: Int, _ right: Int) {
            table.add(
                what, "\(left)", "\(right)",
                left == right ? "" : (right > left ? "+" : "") + "\(right - left)")
        }
        func add(_ what: String, _ left: Duration, _ right: Duration) {
            let sign = right > left ? "+" : "-"
            let amount = right > left ? right - left : left - right
            table.add(
                what, Wording.duration(left), Wording.duration(right),
                amount < .milliseconds(1) ? "" : sign + Wording.duration(amount))
        }
        add("launches", old.launches, new.launches)
        add("alarms", old.alarms, new.alarms)
        add("wake-ups of an idle host", old.wakeUps, new.wakeUps)
        add("  of them for better moments", old.chosenWakeUps, new.chosenWakeUps)
        add("wake-ups enough for all windows", old.leastWakeUps, new.leastWakeUps)
        add("uses after the first week, refreshed 30 min before", old.freshUses, new.freshUses)
        add(
            "refreshes with a choice, ended 30 min before a use", old.refreshesBeforeUse,
            new.refreshesBeforeUse)
        add("CPU time", old.cpu, new.cpu)
        for identifier in Set(old.identifiers.keys).union(new.identifiers.keys).sorted() {
            let (left, right) = (old.identifiers[identifier], new.identifiers[identifier])
            add("\(identifier): launches", left?.launches ?? 0, right?.launches ?? 0)
            add("  succeeded", left?.outcomes[.succeeded] ?? 0, right?.outcomes[.succeeded] ?? 0)
            add("  expired", left?.outcomes[.expired] ?? 0, right?.outcomes[.expired] ?? 0)
            add("  wait", left?.wait(share: 0.5) ?? .zero, right?.wait(share: 0.5) ?? .zero)
            add("  long wait", left?.wait(share: 0.95) ?? .zero, right?.wait(share: 0.95) ?? .zero)
        }
        let (oldWaits, newWaits) = (Self.table(old.waits), Self.table(new.waits))
        for factor in Set(oldWaits.keys).union(newWaits.keys).sorted() {
            add("waiting for \(factor)", oldWaits[factor] ?? .zero, newWaits[factor] ?? .zero)
        }
        try print(table, ifEmpty: "")
    }

    /// Writes every launch of a run.
    func print(launches tally: Tally, offset: Duration) throws {
        var table = Table("start", "task", "attempt", "waited", "ran", "outcome", "CPU")
        for launch in tally.launches {
            table.add(
                Self.date(launch.start, offset), launch.identifier.rawValue, "\(launch.attempt)",
                Wording.duration(launch.waited), launch.end.map { Wording.duration($0 - launch.start) } ?? "",
                [launch.outcome?.rawValue, launch.expiration?.rawValue].compactMap(\.self).joined(
                    separator: ", "),
                Wording.duration(launch.cpu))
        }
        try print(table, ifEmpty: "Nothing was launched.")
        try line()
    }

    /// What the requests of a task waited for, longest first, without the wait for their begin dates.
    private static func reasons(_ waits: Tally.Waits) -> String {
        waits.filter { $0.key != "EarliestBeginDate" && $0.value >= .seconds(1) }
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.key) \(Wording.duration($0.value))" }.joined(separator: ", ")
    }

    private static func counts<Key: RawRepresentable<String>>(_ counts: [Key: Int]) -> String {
        counts.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
            .map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", ")
    }

    private static func table(_ waits: [(factor: String, time: Duration)]) -> [String: Duration] {
        Dictionary(uniqueKeysWithValues: waits.map { ($0.factor, $0.time) })
    }

    /// A time as `2026-01-05 07:12:03` in the device's local time.
    static func date(_ time: WallTime, _ offset: Duration) -> String {
        let text = "\(Timestamp(time + offset))"
        return String(text.prefix(19)).replacing("T", with: " ")
    }
}
