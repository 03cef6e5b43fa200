import Scheduling
import TaskModel

@testable import Simulation

/// Timers of systemd, from its manual pages systemd.timer(5) and systemd.unit(5).
///
/// Each task is a timer with `OnCalendar=` and `Persistent=true`, and a service. A task that needs external
/// power has `ConditionACPower=true`. systemd has no rule for the network, an idle user or heat, and stops no
/// service when a condition ends.
struct SystemdRules: ComparedPolicy {
    /// `AccuracySec=`: how much later than its date a timer may elapse; 1 min if not set, `nil` for the
    /// tolerance of each task.
    var accuracy: Double? = 60
    /// Whether `RandomizedDelaySec=` is the tolerance of each task.
    var randomizes = false

    private var tasks: [ComparedTask] = []
    /// The date of each timer, in order of the tasks, and when it elapses at the earliest.
    private var timers: [(date: Double, earliest: Double)?] = []
    private var random: SeededNumbers
    /// The second of each minute at which this machine prefers to wake.
    ///
    /// All timers of a machine share it, so that they elapse together. systemd calculates it from the
    /// machine's id; here, it is random.
    private let preference: Double

    init(accuracy: Double? = 60, randomizes: Bool = false, seed: UInt64) {
        self.accuracy = accuracy
        self.randomizes = randomizes
        random = SeededNumbers(seed: seed, part: 77)
        preference = Double.random(in: 0..<60, using: &random)
    }

    private func slack(_ task: Int) -> Double { accuracy ?? max(60, tasks[task].tolerance) }

    /// The manager wakes for the timer that can wait least, at a time when others that are due elapse too.
    var alarm: Double? {
        var earliest = Double.infinity
        var latest = Double.infinity
        for (task, timer) in timers.enumerated() {
            guard let timer else { continue }
            earliest = min(earliest, timer.earliest)
            latest = min(latest, timer.earliest + slack(task))
        }
        guard latest < .infinity else { return timers.isEmpty ? 0 : nil }
        // The last preferred time in the span: of each minute, else of each 10 s, each second, each 250 ms.
        for grid in [60, 10, 1, 0.25] {
            let offset = preference.truncatingRemainder(dividingBy: grid)
            let time = ((latest - offset) / grid).rounded(.down) * grid + offset
            if time >= earliest { return time }
        }
        return latest
    }

    mutating func decide(_ cause: ComparedMachine.Cause, _ machine: inout ComparedMachine) {
        if timers.isEmpty {
            tasks = machine.tasks
            timers = tasks.map { _ in nil }
            // A persistent timer whose date was missed elapses at the boot. So does one that never elapsed.
            for task in tasks.indices where tasks[task].period != nil {
                set(task, date: tasks[task].first == 0 ? 0 : tasks[task].first)
            }
        }
        if case .wanted(let task) = cause { machine.start(task, window: nil) }
        for task in tasks.indices {
            guard let timer = timers[task], timer.earliest <= machine.now else { continue }
            activate(task, date: timer.date, &machine)
            // Dates that passed in the meantime, for example in a sleep, give one activation.
            guard let period = tasks[task].period else { continue }
            let periods = ((machine.now - tasks[task].first) / period).rounded(.down) + 1
            set(task, date: tasks[task].first + periods * period)
        }
    }

    private mutating func set(_ task: Int, date: Double) {
        let delay = randomizes ? Double.random(in: 0..<max(1, tasks[task].tolerance), using: &random) : 0
        timers[task] = (date, date + delay)
    }

    private func activate(_ task: Int, date: Double, _ machine: inout ComparedMachine) {
        // The condition is checked once; if it fails, the run is skipped.
        if tasks[task].needsPower, machine.conditions.isOnBattery { return }
        machine.start(task, window: (date, date + tasks[task].tolerance))
    }
}
