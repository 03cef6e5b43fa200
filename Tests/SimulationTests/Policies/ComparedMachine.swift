import Scheduling
import TaskModel

@testable import Simulation

/// A scheduler's rules, made again for the comparison.
protocol ComparedPolicy {
    /// When it wants to be asked again; `nil` for never.
    var alarm: Double? { get }
    /// Something happened, or the alarm rang: starts and stops tasks.
    mutating func decide(_ cause: ComparedMachine.Cause, _ machine: inout ComparedMachine)
}

/// A device that runs the tasks which a policy starts; it has the days and the run times of `bgtask
/// simulate`.
struct ComparedMachine {
    enum Cause: Equatable {
        case alarm, conditions, woke
        case used(BundleIdentifier)
        /// A user wants this task to start now.
        case wanted(Int)
        /// The launch of this task ended; `isComplete` is whether its work is done.
        case ended(Int, isComplete: Bool)
    }

    struct Running {
        var launch: Int
        var end: Double
        var remaining: Double
    }

    let days: ComparedDays
    let tasks: [ComparedTask]
    private(set) var now = 0.0
    private(set) var run = ComparedRun()
    /// The launches under way, by task.
    private(set) var running: [Int: Running] = [:]
    private(set) var lastUsed: [BundleIdentifier: Double] = [:]
    private let model: TypicalLaunches
    private var ordinals: [Int: Int] = [:]
    /// What is left of the work of a stopped launch, by task.
    private var rest: [Int: Double] = [:]
    private var ended: [(task: Int, isComplete: Bool)] = []

    init(_ days: ComparedDays, seed: UInt64) {
        self.days = days
        tasks = ComparedTask.all(in: days.manifests)
        var numbers = SeededNumbers(seed: seed, part: 0)
        _ = numbers.next()
        model = TypicalLaunches(seed: numbers.next())
    }

    var conditions: Conditions { days.conditions(at: now) }

    /// Starts a task; its request has this window.
    mutating func start(_ task: Int, window: (ripe: Double, due: Double)?) {
        guard running[task] == nil else { return }
        let compared = tasks[task]
        let submission = TaskSubmission(identifier: compared.identifier, origin: .schedule)
        let request = TaskRequest(
            id: RequestID(rawValue: 1), submission: submission, bundle: compared.bundle, kind: compared.kind,
            submittedAt: Fleet.start, attempt: 1, notBefore: nil, deadline: Fleet.start)
        let plan = model.plan(for: request, ordinal: ordinals[task] ?? 0)
        var launch = ComparedLaunch(
            task: task, start: now, end: now, cpuShare: plan.cpuShare, window: window)
        launch.isUseful = compared.network == nil || conditions.hasNetwork
        // Without a network, a task finds out after a second.
        let work = launch.isUseful ? rest[task] ?? plan.work.inSeconds : 1
        run.launches.append(launch)
        running[task] = Running(launch: run.launches.count - 1, end: now + work, remaining: work)
    }

    /// Stops a task; what it did counts for its next launch if tasks of its kind save checkpoints.
    mutating func stop(_ task: Int) {
        guard let stopped = running[task] else { return }
        rest[task] =
            tasks[task].kind == .processing ? max(0, stopped.end - now) : nil
        finish(task, isComplete: false)
    }

    private mutating func finish(_ task: Int, isComplete: Bool) {
        guard let done = running.removeValue(forKey: task) else { return }
        run.launches[done.launch].end = now
        run.launches[done.launch].isComplete = isComplete
        if isComplete {
            rest[task] = nil
            ordinals[task, default: 0] += 1
        }
        ended.append((task, isComplete))
    }

    /// Runs the days under a policy.
    static func run(_ days: ComparedDays, seed: UInt64, under policy: some ComparedPolicy) -> ComparedRun {
        var machine = ComparedMachine(days, seed: seed)
        var policy = policy
        machine.play(&policy)
        return machine.run
    }

    private mutating func play(_ policy: inout some ComparedPolicy) {
        var events: [(at: Double, cause: Cause)] = days.conditions.map { ($0.at, .conditions) }
        events += days.uses.map { ($0.at, .used($0.bundle)) }
        for (at, task) in days.started {
            if let index = tasks.firstIndex(where: { $0.identifier == task }) {
                events.append((at, .wanted(index)))
            }
        }
        events += days.sleeps.map { ($0.upperBound, .woke) }
        events.sort { $0.at < $1.at }
        var index = 0
        while true {
            let firstEnd = running.values.map(\.end).min()
            let event = index < events.count ? events[index].at : nil
            guard var next = [firstEnd, event, policy.alarm].compactMap(\.self).min(), next < days.length
            else { break }
            next = max(next, now)
            if let sleep = days.sleep(at: next) {
                // What runs pauses, and alarms wait until the machine is awake.
                for task in running.keys {
                    running[task]?.end += sleep.upperBound - max(now, sleep.lowerBound)
                }
                while index < events.count, events[index].at < sleep.upperBound {
                    if case .used(let bundle) = events[index].cause { lastUsed[bundle] = events[index].at }
                    index += 1
                }
                now = sleep.upperBound
                continue
            }
            now = next
            if let firstEnd, firstEnd <= now {
                for task in running.keys.sorted() where running[task]?.end ?? .infinity <= now {
                    finish(task, isComplete: true)
                }
            } else if let event, event <= now {
                let cause = events[index].cause
                if case .used(let bundle) = cause { lastUsed[bundle] = now }
                index += 1
                policy.decide(cause, &self)
            } else {
                run.alarms.append(now)
                policy.decide(.alarm, &self)
            }
            while !ended.isEmpty {
                let (task, isComplete) = ended.removeFirst()
                policy.decide(.ended(task, isComplete: isComplete), &self)
            }
        }
        for task in running.keys.sorted() { finish(task, isComplete: false) }
    }
}
