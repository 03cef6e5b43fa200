import Dispatch
import LinuxSystem
import RunnerWire
import TaskModel

/// Looks at launches that are about to end badly, and reports their end.
extension LauncherCore {
    /// Where reports are made, because the names of functions come from whole libraries, which takes time.
    static let reports = DispatchQueue(label: "bgtask.reports", qos: .utility)

    /// Looks at all threads of a launch and, unless `isSilent`, asks them for their stacks.
    ///
    /// The memory map is read before the request is sent, because a task that has crashed ends after it.
    func look(at launch: RunningLaunch, cause: FatalMoment.Cause = .host, isSilent: Bool = false) {
        guard let process = launch.handlerProcess ?? launch.pid else { return }
        let answer = maps.read(process, of: launch.order.record.bundle.rawValue)
        let map: CodeMap? = if case .map(let map) = answer { map } else { nil }
        launch.fatalMoment = FatalMoment(
            of: process, among: launch.processes, at: moments.now().monotonic, cause: cause, map: map)
        if !isSilent { askAllThreads(of: launch) }
    }

    private func askAllThreads(of launch: RunningLaunch) {
        let message = SampleMessage(thread: SampleMessage.allThreads)
        if let frame = try? launch.encoder.encode(message) { launch.control?.send(frame) }
    }

    /// Handles a fatal signal of a task, which waits until its threads are asked for their stacks.
    func crashed(_ message: CrashMessage, _ launch: RunningLaunch) {
        guard !launch.hasCrashed else { return }
        launch.hasCrashed = true
        launch.life.activity = message.activity.map(OutputLines.harmless)
        look(at: launch, cause: .crash(message))
    }

    /// Looks at a launch that is asked to stop because of what it does itself.
    func lookBeforeExpiration(_ reason: Reason, of launch: RunningLaunch) {
        switch reason {
        case .noProgress:
            look(at: launch)
            let now = moments.now().monotonic
            guard let since = launch.progressAt ?? launch.readyAt else { return }
            let thread = launch.fatalMoment?.mainThread
            let stall = TerminationReport.Stall(
                seconds: (now - since).inSeconds,
                cpuSeconds: max(0, (launch.cpuTime().0 - launch.cpuAtProgress).inSeconds),
                unitsPerMinute: launch.unitsPerMinute, waitsIn: thread?.systemCall ?? thread?.waitChannel)
            launch.stall = stall
            tell(
                .log(
                    launch.id, level: .warning, message: Self.sentence(stall), subsystem: nil, category: nil))
        case .cpuLimit, .memoryLimit, .storageLimit:
            look(at: launch)
        default:
            break
        }
    }

    /// For example `stuck: 0.0 s of CPU time in 60.0 s without progress; its main thread waits in futex`.
    private static func sentence(_ stall: TerminationReport.Stall) -> String {
        let tenths = { (seconds: Double) in Duration.milliseconds(Int64(seconds * 1000)).tenthsText }
        return
            "\(stall.verdict.rawValue): \(tenths(stall.cpuSeconds)) s of CPU time in \(tenths(stall.seconds)) s "
            + "without progress" + (stall.waitsIn.map { "; its main thread waits in \($0)" } ?? "")
    }

    /// Notes that a task reported other numbers than before.
    func progressed(_ progress: TaskProgress, _ launch: RunningLaunch) {
        guard progress.completed != launch.progress?.completed || progress.total != launch.progress?.total
        else { return }
        let now = moments.now().monotonic
        launch.firstProgress = launch.firstProgress ?? (progress.completed, now)
        // The CPU time is measured at most once a second, because a task may report thousands of times.
        if launch.progressAt.map({ now - launch.cpuMeasuredAt >= .seconds(1) || $0 > now }) ?? true {
            launch.cpuAtProgress = launch.cpuTime().0
            launch.cpuMeasuredAt = now
        }
        launch.progressAt = now
    }

    /// What the report of an end needs; `nil` for an end that needs no report.
    func draft(of launch: RunningLaunch, _ end: LaunchEnd, peak: ByteCount?) -> TerminationDraft? {
        let reason = launch.life.lateLimit ?? launch.life.expiration ?? end.reason
        let isLimit =
            reason.map { [.cpuLimit, .memoryLimit, .storageLimit, .noProgress].contains($0) } ?? false
        let isBad =
            end.outcome == .crashed || end.outcome == .killed || launch.hasCrashed
            || launch.life.lateLimit != nil
        guard launch.pid != nil, isBad || isLimit && end.outcome != .succeeded else { return nil }
        let isCPU = (launch.life.lateLimit ?? launch.life.expiration) == .cpuLimit
        return TerminationDraft(
            end: end, endedAt: moments.now().monotonic, moment: launch.fatalMoment,
            assertions: Array(launch.openAssertions.values), progress: launch.progress,
            progressAt: launch.progressAt, stall: launch.stall, limits: limits(of: launch, end, peak),
            cpuLines: isCPU ? launch.limitReport.map { ($0, launch.sampling) } : nil,
            wasKilledByKernel: end.outcome == .killed && !launch.wasKilled && !launch.hasCrashed)
    }

    private func limits(
        of launch: RunningLaunch, _ end: LaunchEnd, _ peak: ByteCount?
    ) -> [TerminationReport.Limit] {
        let limits = launch.order.declaration.limits
        var reached: [TerminationReport.Limit] = []
        switch launch.life.lateLimit ?? launch.life.expiration ?? end.reason {
        case .cpuLimit:
            if let cpu = limits.cpu {
                let used = launch.limitReport?.split(separator: "\n").first.map(String.init)
                reached.append(
                    .init("cpu", limit: "\(cpu.percent) % over \(cpu.window.shortText)", used: used))
            }
        case .memoryLimit:
            let used = launch.judgedMemory ?? peak.map { "\($0)" }
            reached.append(.init("memory", limit: "\(limits.memory)", used: used))
        case .storageLimit:
            if let storage = limits.storage {
                let used = launch.storage.map { "\(ByteCount(bytes: $0))" }
                reached.append(.init("storage", limit: "\(storage)", used: used))
            }
        case .leaseEnded:
            if let lease = limits.lease.duration {
                let used = launch.readyAt.map { (moments.now().monotonic - $0).tenthsText + " s" }
                reached.append(.init("run time", limit: lease.shortText, used: used))
            }
        default:
            break
        }
        if end.code == LaunchLife.deadlineCode, launch.wasKilled {
            reached.append(
                .init("grace period", limit: limits.lease.gracePeriod.shortText, used: "all of it"))
        }
        if end.code == Self.assertionsCode {
            reached.append(
                .init(
                    "assertions", limit: "\(Self.maximumAssertions)",
                    used: "\(launch.openAssertions.count + 1)"))
        }
        return reached
    }
}
