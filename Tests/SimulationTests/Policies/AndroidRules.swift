import Scheduling
import TaskModel

@testable import Simulation

/// Rules of Android's JobScheduler; the page of the comparison lists them with their sources.
///
/// Each task is a periodic job with a flex of its tolerance. A task that a user starts is a user-initiated
/// job, which has no constraint here. All times are seconds.
struct AndroidRules: ComparedPolicy {
    enum Bucket: Int { case active, workingSet, frequent, rare, restricted }

    struct Job {
        /// The beginning of the present window.
        var ripe: Double
        var due: Double
        /// Since when the job has been ready and waits to run with others.
        var batchedSince: Double?
        var attempts = 0
        /// The end of the back-off after an attempt that used up its time.
        var notBefore = 0.0
    }

    static let minimumPeriod = 900.0
    static let minimumFlex = 300.0
    static let coalescing = 30.0
    static let batchSize = 5
    static let batchDelay = 31.0 * 60
    static let quota = 600.0
    /// The window of each bucket in which a bundle may run for ``quota``.
    static let quotaWindows: [Double] = [600, 7200, 28_800, 86_400, 86_400]
    /// Since when a bundle was not used, for each bucket.
    static let bucketAges: [Double] = [0, 43_200, 86_400, 172_800, 691_200]
    static let longestRun = 600.0
    static let longestFreeRun = 1800.0
    static let backOff = 30.0
    static let flexibleFrom = 3600.0
    static let wishesDropAt = [0.5, 0.6, 0.7, 0.8]
    static let idleAfter = 31.0 * 60

    /// Whether the device lies still when nobody uses it; only then it enters deep Doze.
    let isStationary: Bool
    private var tasks: [ComparedTask] = []
    private var jobs: [Int: Job] = [:]
    private var doze = Doze()
    /// The runs on battery that count for the quota of each bundle.
    private var sessions: [BundleIdentifier: [Range<Double>]] = [:]
    private var begins: [Int: Double] = [:]
    private var userLeft: Double?
    private(set) var alarm: Double? = 0

    init(isStationary: Bool) { self.isStationary = isStationary }

    mutating func decide(_ cause: ComparedMachine.Cause, _ machine: inout ComparedMachine) {
        let now = machine.now
        if tasks.isEmpty { begin(machine.tasks) }
        switch cause {
        case .wanted(let task): machine.start(task, window: nil)
        case .ended(let task, let isComplete): ended(task, isComplete, machine)
        default: break
        }
        note(machine.conditions, at: now)
        doze.advance(to: now, isStationary: isStationary)
        stopTasks(&machine)
        startTasks(&machine)
        setAlarm(machine)
    }

    private mutating func begin(_ all: [ComparedTask]) {
        tasks = all
        for (index, task) in tasks.enumerated() {
            guard let period = task.period.map({ max($0, Self.minimumPeriod) }) else { continue }
            let flex = Self.flex(task, period)
            // The window is at the end of the period; that of a time of the day begins at this time.
            let ripe = task.first > 0 ? task.first : period - flex
            jobs[index] = Job(ripe: ripe, due: ripe + flex)
        }
    }

    static func flex(_ task: ComparedTask, _ period: Double) -> Double {
        min(period, max(task.tolerance, minimumFlex, period / 20))
    }

    private mutating func note(_ conditions: Conditions, at now: Double) {
        if conditions.isUserActive {
            userLeft = nil
        } else if userLeft == nil {
            // The simulated condition becomes idle five minutes after the last use.
            userLeft = now - 300
        }
        doze.set(isPossible: conditions.isOnBattery && !conditions.isUserActive, since: userLeft ?? now, now)
    }

    private mutating func ended(_ task: Int, _ isComplete: Bool, _ machine: ComparedMachine) {
        let now = machine.now
        if let begin = begins.removeValue(forKey: task) {
            let span = machine.days.conditions(at: begin).isOnBattery ? begin..<max(begin, now) : now..<now
            sessions[tasks[task].bundle, default: []].append(span)
        }
        guard var job = jobs[task] else { return }
        if isComplete {
            let period = max(tasks[task].period ?? 0, Self.minimumPeriod)
            repeat { job.ripe += period } while job.ripe + Self.flex(tasks[task], period) < now
            job.due = job.ripe + Self.flex(tasks[task], period)
            (job.attempts, job.notBefore) = (0, 0)
        }
        job.batchedSince = nil
        jobs[task] = job
    }

    // MARK: Constraints

    private func isIdle(at now: Double) -> Bool { userLeft.map { now - $0 >= Self.idleAfter } ?? false }

    private func bucket(_ bundle: BundleIdentifier, _ machine: ComparedMachine) -> Bucket {
        // A bundle that was never used counts as installed at the beginning.
        let age = machine.now - (machine.lastUsed[bundle] ?? 0)
        return Bucket(rawValue: Self.bucketAges.lastIndex { age >= $0 } ?? 0) ?? .active
    }

    /// How long a bundle may still run now.
    private func allowance(_ bundle: BundleIdentifier, _ machine: ComparedMachine) -> Double {
        if !machine.conditions.isOnBattery { return .infinity }
        let window = Self.quotaWindows[bucket(bundle, machine).rawValue]
        var spans = sessions[bundle] ?? []
        for (task, begin) in begins where tasks[task].bundle == bundle { spans.append(begin..<machine.now) }
        func used(_ window: Double) -> Double {
            spans.reduce(0) { $0 + max(0, $1.upperBound - max($1.lowerBound, machine.now - window)) }
        }
        return min(Self.quota - used(window), 14_400 - used(86_400))
    }

    private func meets(_ task: ComparedTask, _ job: Job, _ machine: ComparedMachine) -> Bool {
        let conditions = machine.conditions
        if task.needsPower, conditions.isOnBattery { return false }
        switch task.network {
        case .any: if !conditions.hasNetwork { return false }
        case .unmetered: if conditions.network.value != .unmetered { return false }
        case nil: break
        }
        if task.kind == .processing, !isIdle(at: machine.now) { return false }
        return !doze.isRestricting
    }

    /// Whether enough of the wishes that every job is assumed to have are met.
    private func isFlexibleEnough(_ task: ComparedTask, _ job: Job, _ machine: ComparedMachine) -> Bool {
        let length = job.due - job.ripe
        guard length >= Self.flexibleFrom else { return true }
        let share = (machine.now - job.ripe) / length
        let conditions = machine.conditions
        let dropped = Self.wishesDropAt.count { share >= $0 }
        let wishes = [
            !conditions.isOnBattery, isIdle(at: machine.now),
            (conditions.power.value?.batteryPercent ?? 100) > 15,
            task.network == nil || conditions.network.value == .unmetered,
        ]
        return wishes.count { $0 } >= wishes.count - dropped
    }

    // MARK: Starts and stops

    private mutating func stopTasks(_ machine: inout ComparedMachine) {
        for task in machine.running.keys.sorted() {
            guard var job = jobs[task], let begin = begins[task] else { continue }
            let limit = machine.conditions.isOnBattery ? Self.longestRun : Self.longestFreeRun
            if machine.now - begin >= limit {
                job.attempts += 1
                job.notBefore =
                    machine.now + min(18_000, Self.backOff * Double(1 << min(job.attempts - 1, 9)))
                jobs[task] = job
                machine.stop(task)
            } else if !meets(tasks[task], job, machine) || allowance(tasks[task].bundle, machine) <= 0 {
                machine.stop(task)
            }
        }
    }

    private mutating func startTasks(_ machine: inout ComparedMachine) {
        let now = machine.now
        var ready: [Int] = []
        var single = 0
        for task in jobs.keys.sorted() where machine.running[task] == nil {
            guard var job = jobs[task] else { continue }
            let bundle = tasks[task].bundle
            guard now >= job.ripe, now >= job.notBefore, meets(tasks[task], job, machine),
                isFlexibleEnough(tasks[task], job, machine), allowance(bundle, machine) > 0
            else {
                jobs[task]?.batchedSince = nil
                continue
            }
            ready.append(task)
            let isActive = bucket(bundle, machine) == .active
            if isActive || job.attempts > 0 {
                single += 1
            } else {
                job.batchedSince = job.batchedSince ?? now
                if now - (job.batchedSince ?? now) >= Self.batchDelay { single += 1 }
                jobs[task] = job
            }
        }
        guard single > 0 || ready.count >= Self.batchSize else { return }
        for task in ready {
            guard let job = jobs[task] else { continue }
            begins[task] = now
            machine.start(task, window: job.attempts == 0 ? (job.ripe, job.due) : nil)
        }
    }

    private mutating func setAlarm(_ machine: ComparedMachine) {
        let now = machine.now
        var times: [Double] = []
        for (task, job) in jobs {
            if let begin = begins[task], machine.running[task] != nil {
                let limit = machine.conditions.isOnBattery ? Self.longestRun : Self.longestFreeRun
                times.append(min(begin + limit, now + max(1, allowance(tasks[task].bundle, machine))))
                continue
            }
            if doze.isRestricting { continue }
            let begin = max(job.ripe, job.notBefore)
            if begin > now {
                // All jobs whose delay ends within the same half minute share one alarm.
                times.append((begin / Self.coalescing).rounded(.up) * Self.coalescing)
                continue
            }
            guard meets(tasks[task], job, machine) || tasks[task].kind == .processing else { continue }
            if let since = job.batchedSince { times.append(since + Self.batchDelay) }
            if job.due - job.ripe >= Self.flexibleFrom {
                for share in Self.wishesDropAt { times.append(job.ripe + share * (job.due - job.ripe)) }
            }
            if allowance(tasks[task].bundle, machine) <= 0 {
                let window = Self.quotaWindows[bucket(tasks[task].bundle, machine).rawValue]
                for span in sessions[tasks[task].bundle] ?? [] { times.append(span.upperBound + window) }
            }
            if let userLeft, tasks[task].kind == .processing { times.append(userLeft + Self.idleAfter) }
        }
        if let next = doze.next { times.append(next) }
        alarm = times.filter { $0 > now }.min()
    }
}

/// Android's Doze: no job runs but in maintenance windows, which become rarer.
struct Doze {
    static let lightAfter = 240.0
    static let lightIdle = (first: 300.0, most: 900.0, maintenance: 300.0)
    /// Half an hour without use, half an hour more, and four minutes of sensing.
    static let deepAfter = 3840.0
    static let deepIdle = (first: 3600.0, most: 21_600.0, maintenance: 600.0)

    private enum Phase { case awake, light, lightMaintenance, deep, deepMaintenance }

    private var phase = Phase.awake
    private var isStationary = false
    /// Since when the device is not used and not charged.
    private var since: Double?
    private var phaseEnd = 0.0
    private var idle = 0.0

    /// Whether jobs must not run.
    var isRestricting: Bool { phase == .light || phase == .deep }

    /// When the phase changes by itself.
    var next: Double? {
        guard let since else { return nil }
        switch phase {
        case .awake: return since + Self.lightAfter
        case .light, .lightMaintenance:
            return isStationary ? min(phaseEnd, since + Self.deepAfter) : phaseEnd
        case .deep, .deepMaintenance: return phaseEnd
        }
    }

    mutating func set(isPossible: Bool, since start: Double, _ now: Double) {
        guard isPossible else {
            self = Doze()
            return
        }
        if since == nil { since = max(start, 0) == 0 ? now : max(start, now - 300) }
    }

    mutating func advance(to now: Double, isStationary: Bool) {
        self.isStationary = isStationary
        while let next, next <= now {
            guard let since else { return }
            switch phase {
            case .awake: enter(.light, at: next, idle: Self.lightIdle.first)
            case .light, .lightMaintenance:
                if isStationary, next >= since + Self.deepAfter {
                    enter(.deep, at: next, idle: Self.deepIdle.first)
                } else if phase == .light {
                    (phase, phaseEnd) = (.lightMaintenance, next + Self.lightIdle.maintenance)
                } else {
                    enter(.light, at: next, idle: min(Self.lightIdle.most, idle * 2))
                }
            case .deep: (phase, phaseEnd) = (.deepMaintenance, next + Self.deepIdle.maintenance)
            case .deepMaintenance: enter(.deep, at: next, idle: min(Self.deepIdle.most, idle * 2))
            }
        }
    }

    private mutating func enter(_ new: Phase, at time: Double, idle length: Double) {
        (phase, phaseEnd, idle) = (new, time + length, length)
    }
}
