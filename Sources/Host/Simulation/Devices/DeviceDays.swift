import HostCore
import TaskModel

/// Generates the days of one device: a list of occurrences.
struct DeviceDays {
    private struct Change {
        var at: Duration
        var apply: (inout Conditions) -> Void
    }

    /// The occurrences, in order of time since the start of day 0.
    private(set) var occurrences: [(at: Duration, occurrence: Occurrence)] = []
    var numbers: SeededNumbers
    private var changes: [Change] = []
    /// The battery's charge after the last generated change, in percent.
    private var level = 100
    private let bundles: [BundleIdentifier]
    private let continued: [TaskIdentifier]
    private let hasHabits: Bool

    init(
        _ kind: DeviceKind, days: Int, numbers: SeededNumbers, hasHabits: Bool = false, manifests: [Manifest]
    ) {
        self.numbers = numbers
        self.hasHabits = hasHabits
        bundles = manifests.map(\.bundle).sorted()
        continued = manifests.flatMap(\.tasks)
            .filter { $0.kind == .continuedProcessing && !$0.pattern.isWildcard }.map(\.pattern.base).sorted()
        for day in 0..<days {
            switch kind {
            case .laptop: laptop(day)
            case .kiosk: kiosk(day)
            case .solarGateway: solarGateway(day)
            case .phone: phone(day)
            }
        }
        if hasHabits { addHabits(days: days) }
        applyChanges()
    }

    /// Applies the changes in order of time, and adds an occurrence for each new state of the conditions.
    private mutating func applyChanges() {
        var conditions = Conditions.simulatedStart
        // Changes at the same time keep the order in which they were added.
        for (_, change) in changes.enumerated().sorted(by: {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }) {
            let before = conditions
            change.apply(&conditions)
            if conditions != before {
                occurrences.append((change.at, .input(.conditions(conditions))))
            }
        }
        let ordered = occurrences.enumerated().sorted {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }
        occurrences = ordered.map(\.element)
    }

    /// The time of an hour of a day, shifted randomly by up to `spread` minutes in either direction.
    mutating func time(_ day: Int, _ hour: Double, spread minutes: Double = 0) -> Duration {
        let shift = minutes > 0 ? Double.random(in: -minutes...minutes, using: &numbers) * 60 : 0
        return .milliseconds(max(0, Int64((Double(day) * 86_400 + hour * 3600 + shift) * 1000)))
    }

    /// Adds a change of the conditions at a time.
    mutating func change(at time: Duration, _ apply: @escaping (inout Conditions) -> Void) {
        changes.append(Change(at: time, apply: apply))
    }

    /// Adds a period in which the user is active, uses some of the bundles, and sometimes starts a continued
    /// task.
    ///
    /// The condition becomes `idle` five minutes after the end of the period, as with the real sensor.
    mutating func use(from start: Duration, until end: Duration) {
        guard end > start else { return }
        change(at: start) { $0.user = .known(.active) }
        for bundle in bundles where numbers.chance(0.4) {
            let time = numbers.duration(start...end)
            if !hasHabits { occurrences.append((time, .call(.change(bundle, .used)))) }
        }
        if let identifier = continued.randomElement(using: &numbers), numbers.chance(0.1) {
            occurrences.append(
                (
                    numbers.duration(start...end),
                    .call(.submit(TaskSubmission(identifier: identifier, origin: .client), from: nil))
                ))
        }
        change(at: end + .seconds(300)) { $0.user = .known(.idle) }
    }

    /// Adds uses of each bundle at the same times each day: at breakfast, at lunch and in the evening, each
    /// on nine days of ten; at weekends, breakfast is later.
    private mutating func addHabits(days: Int) {
        for bundle in bundles {
            for day in 0..<days {
                let breakfast = day % 7 < 5 ? 7.7 : 10.2
                for (hour, spread) in [(breakfast, 10.0), (12.8, 12), (20.6, 15)]
                where numbers.chance(0.9) {
                    occurrences.append(
                        (time(day, hour, spread: spread), .call(.change(bundle, .used))))
                }
            }
        }
    }

    /// Charges or discharges the battery from its present charge to `target`, in steps of about 5 percent.
    mutating func battery(from start: Duration, until end: Duration, to target: Int, isCharging: Bool) {
        let (first, steps) = (level, max(1, abs(target - level) / 5))
        for step in 0...steps {
            let percent = min(100, max(0, first + (target - first) * step / steps))
            change(at: start + (end - start) * step / steps) {
                $0.power = .known(
                    PowerCondition(
                        externalPower: isCharging, isCharging: isCharging && percent < 100,
                        batteryPercent: percent))
            }
        }
        level = target
    }

    /// Adds a sleep of the machine.
    mutating func sleep(from start: Duration, until end: Duration) {
        if end > start { occurrences.append((start, .sleep(until: end, notBefore: start))) }
    }
}
