import HandlerRegistry
import Scheduling
public import TaskModel

/// The parts of schedules outside the scheduler: calendar dates, changes of files, and the alarm that wakes
/// the machine.
extension HostCore {
    /// All schedules in force; identifiers with a wildcard have no schedule.
    var schedules: [(identifier: TaskIdentifier, schedule: Schedule)] {
        registered.handlers.flatMap(\.manifest.tasks).compactMap { task in
            task.pattern.isWildcard ? nil : task.schedule.map { (task.pattern.base, $0) }
        }
    }

    /// Watches the files that schedules name, and opens the machine's alarm if a schedule needs it.
    mutating func applySchedules() {
        emit(.work(.watchFiles(Set(schedules.compactMap(\.schedule.onFileChange)))))
        if machineAlarm == .unused, schedules.contains(where: \.schedule.wakesMachine) {
            emit(.work(.openMachineAlarm))
        }
    }

    mutating func take(_ state: MachineAlarmState) {
        machineAlarm = state
        for problem in scheduleProblems { log(.warning, "\(problem)") }
        rearm()
    }

    mutating func dated(_ identifier: TaskIdentifier, after: WallTime, _ date: FoundDate) {
        var next: WallTime?
        switch date {
        case .next(let time, let text):
            next = time
            log(.debug, "its next date is \(text)", identifier: identifier)
        case .never: log(.warning, "its schedule has no further dates", identifier: identifier)
        // The zone was valid when the manifest was read, but the time zone database has changed since then.
        case .unreadable(let problem):
            log(.error, "its schedule has no date: \(problem)", identifier: identifier)
        }
        feed(.scheduleDated(identifier, after: after, next: next))
    }

    mutating func filesChanged(_ paths: Set<String>) {
        for (identifier, schedule) in schedules {
            guard let path = schedule.onFileChange, paths.contains(path) else { continue }
            log(.info, "\(path) changed", identifier: identifier)
            feed(.scheduleTriggered(identifier))
        }
    }

    /// The problems of schedules with `wake: true` on a machine that can't be woken, for `bgtask plugins`.
    public var scheduleProblems: [ManifestProblem] {
        let missing: (finding: String, remedy: String)
        switch machineAlarm {
        case .unused, .ready: return []
        case .noClock:
            missing = (
                "this machine has no hardware clock that could wake it (/sys/class/rtc/rtc0 does not exist)",
                "Remove 'wake', or run the task on a machine with such a clock; "
                    + "here, the schedule runs when the machine is awake"
            )
        case .refused(let problem):
            missing = (
                "the host may not wake the machine: \(problem)",
                "Give bgtaskd the capability CAP_WAKE_ALARM (systemd: AmbientCapabilities=CAP_WAKE_ALARM), "
                    + "or remove 'wake'; the schedule runs when the machine is awake"
            )
        }
        return registered.handlers.filter { handler in
            handler.manifest.tasks.contains { $0.schedule?.wakesMachine == true }
        }.map {
            ManifestProblem(
                severity: .warning, file: $0.manifestPath, finding: "wake: \(missing.finding)",
                remedy: missing.remedy)
        }
    }
}
