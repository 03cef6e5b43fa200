import Calendars
import HandlerRegistry
import LinuxSystem
import RequestStore
import Scheduling
import TaskModel

/// What schedules need besides the scheduler: dates of calendars, the boot, changes of files, the machine's alarm.
extension TaskHost {
    /// Answers the scheduler's question for the next date of a calendar schedule.
    func findDate(
        _ identifier: TaskIdentifier, expression: String, timeZone: String?, after: WallTime
    ) async {
        var next: WallTime?
        do {
            let zone = try ZoneDatabase.machine.zone(named: timeZone)
            next = try CalendarExpression(expression).next(after: after, in: zone)
            if let next {
                log.append(.debug, "its next date is \(zone.text(of: next))", identifier: identifier)
            } else {
                log.append(.warning, "its schedule '\(expression)' has no date left", identifier: identifier)
            }
        } catch {
            // The manifest was read with this zone; the database changed since.
            log.append(.error, "its schedule has no date: \(error)", identifier: identifier)
        }
        await schedule(.scheduleDated(identifier, after: after, next: next))
    }

    /// Triggers every `onBoot` schedule, if this is the host's first start since the machine was booted.
    ///
    /// The boot is remembered after the requests are stored: a host that dies in between triggers them twice, not never.
    func noticeBoot() async {
        let boot: String
        do {
            boot = try SmallFile.read("/proc/sys/kernel/random/boot_id").filter { !$0.isWhitespace }
            if try await store.setting(Self.bootSetting) == boot { return }
        } catch {
            log.append(.warning, "whether the machine was booted is not known: \(error)")
            return
        }
        for (identifier, schedule) in schedules where schedule.onBoot {
            log.append(.info, "the machine was booted", identifier: identifier)
            await self.schedule(.scheduleTriggered(identifier))
        }
        do {
            try await store.setSetting(Self.bootSetting, boot)
        } catch {
            log.append(.error, "that the boot was noticed is not stored: \(error)")
        }
    }

    private static let bootSetting = "host.boot"

    /// Puts the watch of files and the machine's alarm in line with the manifests; to be called when those change.
    func applySchedules() {
        let paths = Set(schedules.compactMap(\.schedule.onFileChange))
        if let fileWatch {
            fileWatch.watch(paths)
        } else if !paths.isEmpty {
            do {
                let told = fileEventsContinuation
                let watch = try PathWatch { told.yield($0) }
                watch.watch(paths)
                fileWatch = watch
            } catch {
                log.append(.error, "no file is watched for schedules: \(error)")
            }
        }
        if machineAlarm == nil, schedules.contains(where: \.schedule.wakesMachine) {
            do {
                machineAlarm = .success(try MachineAlarm())
            } catch {
                machineAlarm = .failure(error)
            }
            for problem in scheduleProblems { log.append(.warning, "\(problem)") }
        }
    }

    /// A watched file changed, or can't be watched.
    func handle(_ event: PathWatch.Event) async {
        switch event {
        case .changed(let paths):
            for (identifier, schedule) in schedules {
                guard let path = schedule.onFileChange, paths.contains(path) else { continue }
                log.append(.info, "\(path) changed", identifier: identifier)
                await self.schedule(.scheduleTriggered(identifier))
            }
        case .unwatchable(let path, let error):
            log.append(.warning, "\(path) can't be watched for schedules: \(error)")
        }
    }

    /// Schedules that ask to wake a machine that can't be woken, as `bgtask plugins` lists them.
    var scheduleProblems: [ManifestProblem] {
        let missing: (finding: String, remedy: String)
        switch machineAlarm {
        case nil: return []
        case .success:
            if MachineAlarm.isClockThere { return [] }
            missing = (
                "this machine has no clock that could wake it (/sys/class/rtc is empty)",
                "Remove 'wake', or run it where there is one; the schedule runs when the machine is awake"
            )
        case .failure(let error):
            missing = (
                "the host may not wake the machine: \(error)",
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

    /// Every schedule in force; wildcards have none.
    private var schedules: [(identifier: TaskIdentifier, schedule: Schedule)] {
        registered.handlers.flatMap(\.manifest.tasks).compactMap { task in
            task.pattern.isWildcard ? nil : task.schedule.map { (task.pattern.base, $0) }
        }
    }
}
