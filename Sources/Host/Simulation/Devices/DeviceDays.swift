import HostCore
import TaskModel

/// The days of one device, as occurrences in order.
struct DeviceDays {
    private struct Change {
        var at: Duration
        var apply: (inout Conditions) -> Void
    }

    /// What happens, in order.
    private(set) var occurrences: [(at: Duration, occurrence: Occurrence)] = []
    var numbers: SeededNumbers
    private var changes: [Change] = []
    /// The battery's charge where the last of its changes left it.
    private var level = 100
    private let bundles: [BundleIdentifier]
    private let continued: [TaskIdentifier]

    init(_ kind: DeviceKind, days: Int, numbers: SeededNumbers, manifests: [Manifest]) {
        self.numbers = numbers
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
        applyChanges()
    }

    /// The changes in the order of their instants become what the machine is like from each on.
    private mutating func applyChanges() {
        var conditions = Conditions.simulatedStart
        // Equal instants keep the order in which they were entered.
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

    /// The instant of an hour of a day, up to that many minutes earlier or later.
    mutating func time(_ day: Int, _ hour: Double, spread minutes: Double = 0) -> Duration {
        let shift = minutes > 0 ? Double.random(in: -minutes...minutes, using: &numbers) * 60 : 0
        return .milliseconds(max(0, Int64((Double(day) * 86_400 + hour * 3600 + shift) * 1000)))
    }

    /// Changes the conditions from an instant on.
    mutating func change(at time: Duration, _ apply: @escaping (inout Conditions) -> Void) {
        changes.append(Change(at: time, apply: apply))
    }

    /// The user comes, uses some bundles, sometimes asks for something that shows its progress, and goes.
    ///
    /// The condition turns `idle` five minutes after the last input, as the real sensor's does.
    mutating func use(from start: Duration, until end: Duration) {
        guard end > start else { return }
        change(at: start) { $0.user = .known(.active) }
        for bundle in bundles where numbers.chance(0.4) {
            occurrences.append((numbers.duration(start...end), .call(.change(bundle, .used))))
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

    /// The battery moves from what it is to `target`, told in steps of about 5 percent.
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

    /// The machine sleeps, its processes with it.
    mutating func sleep(from start: Duration, until end: Duration) {
        if end > start { occurrences.append((start, .sleep(until: end, notBefore: start))) }
    }
}
