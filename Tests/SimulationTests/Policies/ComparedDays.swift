import HostCore
import Recording
import Scheduling
import TaskModel

@testable import Simulation

/// What happens on a device whatever scheduler it has: conditions, uses, sleeps, and tasks that users start.
///
/// All times are seconds since the beginning.
struct ComparedDays {
    var name: String
    var length: Double
    /// The conditions from each time on, in order.
    var conditions: [(at: Double, value: Conditions)] = [(0, .simulatedStart)]
    var uses: [(at: Double, bundle: BundleIdentifier)] = []
    var started: [(at: Double, task: TaskIdentifier)] = []
    var sleeps: [Range<Double>] = []
    var manifests: [Manifest]

    /// Generated days of a kind of device; they are those of `bgtask simulate` with the same seed.
    init(_ kind: DeviceKind, days: Int, seed: UInt64, manifests: [Manifest]) {
        var numbers = SeededNumbers(seed: seed, part: 0)
        let device = DeviceDays(
            kind, days: days, numbers: SeededNumbers(seed: numbers.next()), manifests: manifests)
        name = kind.rawValue
        length = Double(days) * 86_400
        self.manifests = manifests
        for (at, occurrence) in device.occurrences { add(occurrence, at: at.inSeconds) }
    }

    private mutating func add(_ occurrence: Occurrence, at time: Double) {
        switch occurrence {
        case .input(.conditions(let value)): conditions.append((time, value))
        case .call(.change(let bundle, .used)): uses.append((time, bundle))
        case .call(.submit(let submission, _)): started.append((time, submission.identifier))
        case .sleep(let end, let start): sleeps.append(start.inSeconds..<min(end.inSeconds, length))
        default: return
        }
    }

    /// Recorded days: what a host recorded, without its decisions.
    init(recorded entries: [RecordedEntry], manifests: [Manifest]) throws {
        let start = entries.first?.at.boot ?? .zero
        name = "recording"
        length = ((entries.last?.at.boot ?? start) - start).inSeconds
        self.manifests = manifests
        var fellAsleep: Double?
        for entry in entries {
            let time = (entry.at.boot - start).inSeconds
            switch entry.occurrence {
            case .willSleep: fellAsleep = time
            case .hasWoken:
                if let fellAsleep { sleeps.append(fellAsleep..<time) }
                fellAsleep = nil
            case .event(.conditionsChanged(let value)): conditions.append((time, value))
            case .event(.used(let bundle)): uses.append((time, bundle))
            case .event(.submitted(let request)) where !request.isDiscretionary && request.attempt == 1:
                started.append((time, request.identifier))
            default: continue
            }
        }
    }

    func conditions(at time: Double) -> Conditions {
        var (low, high) = (0, conditions.count)
        while low + 1 < high {
            let middle = (low + high) / 2
            if conditions[middle].at <= time { low = middle } else { high = middle }
        }
        return conditions[low].value
    }

    /// The parts of a span in which a condition holds, sleeps excluded.
    func seconds(from start: Double, to end: Double, where holds: (Conditions) -> Bool) -> Double {
        var cuts = conditions.map(\.at).filter { $0 > start && $0 < end }
        cuts.insert(start, at: 0)
        cuts.append(end)
        return zip(cuts, cuts.dropFirst()).reduce(0) { sum, span in
            holds(conditions(at: span.0)) ? sum + awake(from: span.0, to: span.1) : sum
        }
    }

    /// How long the machine was awake.
    func awake(from start: Double, to end: Double) -> Double {
        sleeps.reduce(end - start) { left, sleep in
            left - max(0, min(end, sleep.upperBound) - max(start, sleep.lowerBound))
        }
    }

    func sleep(at time: Double) -> Range<Double>? { sleeps.first { $0.contains(time) } }
}

extension Conditions {
    var isOnBattery: Bool { power.value?.externalPower == false }
    var isMetered: Bool { network.value == .metered }
    var hasNetwork: Bool { network.value.map { $0 != .none } ?? false }
    var isUserActive: Bool { user.value == .active }
}

/// A task, as an author of any of the schedulers would describe it.
struct ComparedTask {
    var identifier: TaskIdentifier
    var bundle: BundleIdentifier
    var kind: TaskKind
    /// The time between two dates, in seconds; `nil` if users start the task.
    var period: Double?
    /// The first date; the others follow after whole periods.
    var first = 0.0
    /// The length of the window after each date.
    var tolerance = 0.0
    var needsPower: Bool
    /// Which network the task needs; `nil` for none.
    var network: NetworkRequirement?

    static func all(in manifests: [Manifest]) -> [ComparedTask] {
        manifests.flatMap { manifest in
            manifest.tasks.map { task in
                var compared = ComparedTask(
                    identifier: task.pattern.base, bundle: manifest.bundle, kind: task.kind,
                    needsPower: task.requiresExternalPower,
                    network: task.requiredNetwork)
                compared.tolerance = task.schedule?.tolerance.inSeconds ?? 0
                switch task.schedule?.timing {
                case .every(let period): compared.period = period.inSeconds
                case .calendar(let expression, _):
                    // The compared manifests have only times of the day.
                    compared.period = 86_400
                    compared.first = Double(expression.prefix(2)).map { $0 * 3600 } ?? 0
                case nil: break
                }
                return compared
            }
        }
    }
}

/// One launch of any scheduler.
struct ComparedLaunch {
    var task: Int
    var start: Double
    var end: Double
    var cpuShare: Double
    /// When the request could start and when it was due; `nil` for later attempts and tasks of users.
    var window: (ripe: Double, due: Double)?
    /// Whether it had what the task needs when it began.
    var isUseful = true
    /// Whether the work was done at its end.
    var isComplete = true
}

/// What a scheduler did on the compared days.
struct ComparedRun {
    var launches: [ComparedLaunch] = []
    /// When its own alarms rang.
    var alarms: [Double] = []
}
