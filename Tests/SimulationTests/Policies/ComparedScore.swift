import HostCore
import Recording
import Scheduling
import TaskModel

@testable import Simulation

/// The figures of one scheduler on one device.
struct ComparedScore {
    var days = 0.0
    var launches = 0
    /// Alarms that woke the device: nothing ran, nobody used it, and it did not just wake by itself.
    var wakeUps = 0
    /// The least number of alarms that would have been enough for the windows of these launches.
    var leastWakeUps = 0
    /// How long after its date each refresh began, in seconds.
    var lateness: [Double] = []
    var windows = 0
    var beyond = 0
    /// Periods of scheduled tasks in which no useful launch began; see ``ComparedLaunch/isUseful``.
    var missed = 0
    var periods = 0
    var cpuOnBattery = 0.0
    var launchesOnBattery = 0
    /// Run time of tasks that use the network, while that was metered.
    var meteredSeconds = 0.0
    /// Run time of processing while the user was active.
    var disturbingSeconds = 0.0
    var refreshes = 0
    /// Refreshes whose bundle was used within 30 min after their end.
    var refreshesBeforeUse = 0
    var uses = 0
    /// Uses of a bundle that had been refreshed within 30 min before.
    var freshUses = 0

    init() {}

    init(_ run: ComparedRun, on days: ComparedDays) {
        let tasks = ComparedTask.all(in: days.manifests)
        self.days = days.length / 86_400
        launches = run.launches.count
        score(wakeUpsOf: run, on: days)
        for launch in run.launches {
            let task = tasks[launch.task]
            if let window = launch.window {
                windows += 1
                if launch.start > window.due + 0.001 { beyond += 1 }
                if task.kind == .appRefresh { lateness.append(max(0, launch.start - window.ripe)) }
            }
            if days.conditions(at: launch.start).isOnBattery { launchesOnBattery += 1 }
            cpuOnBattery +=
                launch.cpuShare * days.seconds(from: launch.start, to: launch.end) { $0.isOnBattery }
            if task.network != nil {
                meteredSeconds += days.seconds(from: launch.start, to: launch.end) { $0.isMetered }
            }
            if task.kind == .processing {
                disturbingSeconds += days.seconds(from: launch.start, to: launch.end) { $0.isUserActive }
            }
        }
        for (index, task) in tasks.enumerated() {
            score(gapsOf: index, task, run, on: days)
            if task.kind == .appRefresh { score(freshnessOf: index, task, run, on: days) }
        }
    }

    private mutating func score(wakeUpsOf run: ComparedRun, on days: ComparedDays) {
        let foreign = days.conditions.map(\.at) + days.uses.map(\.at) + days.started.map(\.at)
        let wakings = days.sleeps.map(\.upperBound)
        func rests(at time: Double) -> Bool {
            !days.conditions(at: time).isUserActive && days.sleep(at: time) == nil
                && !wakings.contains { abs($0 - time) < 1 }
                && !run.launches.contains { $0.start < time && time < $0.end }
        }
        wakeUps = run.alarms.count { rests(at: $0) }
        // A window in which something else wakes the device needs no alarm.
        let events = (foreign + wakings).sorted()
        func hasEvent(_ window: (ripe: Double, end: Double)) -> Bool {
            var (low, high) = (0, events.count)
            while low < high {
                let middle = (low + high) / 2
                if events[middle] < window.ripe { low = middle + 1 } else { high = middle }
            }
            return low < events.count && events[low] <= window.end
                || days.conditions(at: window.ripe).isUserActive
        }
        let windows = run.launches.compactMap { launch in
            launch.window.map { (ripe: min($0.ripe, launch.start), end: max($0.due, launch.start)) }
        }
        var last = -Double.infinity
        for window in windows.sorted(by: { $0.end < $1.end })
        where last < window.ripe && !hasEvent(window) {
            last = window.end
            leastWakeUps += 1
        }
    }

    private mutating func score(
        gapsOf index: Int, _ task: ComparedTask, _ run: ComparedRun, on days: ComparedDays
    ) {
        guard let period = task.period else { return }
        // For tasks with a period of less than 12 h, only the time in which the machine is awake counts.
        func length(_ start: Double, _ end: Double) -> Double {
            period < 43_200 ? days.awake(from: start, to: end) : end - start
        }
        periods += Int(length(0, days.length) / period)
        let starts = run.launches.filter { $0.task == index && $0.isUseful }.map(\.start)
        let ends = [task.first] + starts + [days.length]
        for (start, end) in zip(ends, ends.dropFirst()) where end > start {
            // The tolerance may move each of two launches.
            missed += max(0, Int((length(start, end) - task.tolerance) / period - 0.001))
        }
    }

    private mutating func score(
        freshnessOf index: Int, _ task: ComparedTask, _ run: ComparedRun, on days: ComparedDays
    ) {
        let ends = run.launches.filter { $0.task == index && $0.isUseful && $0.isComplete }.map(\.end)
        let times = days.uses.filter { $0.bundle == task.bundle }.map(\.at)
        refreshes += ends.count
        refreshesBeforeUse += ends.count { end in times.contains { $0 >= end && $0 - end <= 1800 } }
        uses += times.count
        freshUses += times.count { use in ends.contains { $0 <= use && use - $0 <= 1800 } }
    }

    /// The quantile of the lateness of refreshes, in seconds.
    func late(_ share: Double) -> Double {
        let sorted = lateness.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
    }

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.days += right.days
        sum.launches += right.launches
        sum.wakeUps += right.wakeUps
        sum.leastWakeUps += right.leastWakeUps
        sum.lateness += right.lateness
        sum.windows += right.windows
        sum.beyond += right.beyond
        sum.missed += right.missed
        sum.periods += right.periods
        sum.cpuOnBattery += right.cpuOnBattery
        sum.launchesOnBattery += right.launchesOnBattery
        sum.meteredSeconds += right.meteredSeconds
        sum.disturbingSeconds += right.disturbingSeconds
        sum.refreshes += right.refreshes
        sum.refreshesBeforeUse += right.refreshesBeforeUse
        sum.uses += right.uses
        sum.freshUses += right.freshUses
        return sum
    }
}

extension ComparedRun {
    /// What bgtask does: the core of the real host, on the same days and with the same run times.
    init(
        ofBgtaskOn days: ComparedDays, kind: DeviceKind, seed: UInt64,
        settings: SchedulerSettings = SchedulerSettings()
    ) {
        let fleet = {
            var fleet = Fleet(kinds: [kind], manifests: days.manifests, seed: seed)
            fleet.days = Int(days.length / 86_400)
            fleet.settings = settings
            return fleet
        }()
        var alarms: [Double] = []
        let tally = fleet.run(
            device: 0, detail: .launches,
            findDate: { expression, _, after in
                // The compared manifests have only times of the day, in UTC.
                let hour = Double(expression.prefix(2)) ?? 0
                let seconds = (after - Fleet.start).inSeconds - hour * 3600
                let date = ((seconds / 86_400).rounded(.down) + 1) * 86_400 + hour * 3600
                return Fleet.start + .seconds(Int64(date))
            },
            recordingTo: { entry in
                if entry.event == .timePassed { alarms.append(entry.at.boot.inSeconds) }
            })
        let tasks = ComparedTask.all(in: days.manifests)
        self.alarms = alarms
        launches = tally.launches.compactMap { launch in
            guard let task = tasks.firstIndex(where: { $0.identifier == launch.identifier }) else {
                return nil
            }
            let start = (launch.start - Fleet.start).inSeconds
            let end = launch.end.map { ($0 - Fleet.start).inSeconds } ?? days.length
            let awake = days.awake(from: start, to: end)
            var compared = ComparedLaunch(
                task: task, start: start, end: end,
                cpuShare: awake > 0 ? launch.cpu.inSeconds / awake : 0)
            compared.window = launch.window.map {
                (($0.ripe - Fleet.start).inSeconds, ($0.due - Fleet.start).inSeconds)
            }
            compared.isComplete = launch.outcome == .succeeded || launch.outcome == .failed
            return compared
        }
    }
}
