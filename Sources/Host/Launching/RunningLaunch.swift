import Dispatch
import LinuxSystem
import NIOCore
import RunnerWire
import TaskModel

/// The state of one launch in this module, from the order to the end.
///
/// Used only on the event loop.
final class RunningLaunch: @unchecked Sendable {
    // Unchecked: the class does not know its event loop, so it can't check that it is used only there.
    let order: LaunchOrder
    var life: LaunchLife

    // MARK: Process
    var template: UInt64?
    var group: ControlGroup?
    var process: ProcessHandle?
    var pid: Int32?
    /// Whether the process is the init of a PID namespace, so that the handler runs in its child.
    var handlerIsBelow = false
    var exit: ExitedMessage?
    /// Where its priority is changed: in order, without waiting for other launches, and off the event loop,
    /// because it takes time with very many processes.
    private(set) lazy var priorities = DispatchQueue(label: "bgtask.priority", qos: .userInitiated)
    /// Whether a kill was sent, after which the group can't be used again.
    var wasKilled = false

    /// The calls that the launcher reported, and how many more there were.
    var calls: [ObservedCalls.Call] = []
    var furtherCalls = 0
    /// The bytes of their names and subjects.
    var callBytes = 0

    // MARK: Pipes
    var control: ControlPipe?
    var encoder = FrameEncoder()
    var decoder = FrameDecoder()
    var output: [OutputStream: OutputLines] = [.stdout: OutputLines(), .stderr: OutputLines()]
    private(set) var readers: [PipeReader] = []
    /// The end of a pause in which the pipes are not read; `nil` if they are read.
    private(set) var readingPause: Scheduled<Void>?
    /// Whether there was such a pause; the log says it once.
    private(set) var wasPaused = false
    /// The output pipes that are not read yet.
    var unreadOutput: [(OutputStream, OwnedPipe)] = []
    var openPipes = 0
    var isReportOpen = false

    // MARK: Bounds
    var loggedBytes = 0
    var droppedLogs = 0
    var openCalls: Set<UInt64> = []
    var openAssertions: [UInt64: OpenAssertion] = [:]
    var assertionFrames = 0
    /// How long it may continue, when its task has completed.
    var tidying: TidyingTime?

    var adviceCount = 0
    var hasFaulted = false

    /// The conditions that the launch got last, or will get at its start; `nil` if it gets none.
    var conditions: HandlerConditions?

    // MARK: What is reported at most 20 times a second
    var title: TitleMessage?
    var progress: TaskProgress?
    var progressIsNews = false
    var checkpoint: [UInt8]?
    var newsTimer: Scheduled<Void>?

    // MARK: Monitors
    var clock: ControlGroupClock?
    /// Counts what the launch moves over the network; `nil` if it may not use the network, or the kernel
    /// refuses the count.
    var networkCounter: NetworkCounter?
    /// Measures the launch once a second.
    var survey: LaunchSurvey?
    /// Whether the launch waits to be measured, or is being measured.
    var isBeingSurveyed = false
    var usageBefore = Duration.zero
    /// Counts processes that the group or /proc would lose; `nil` if the task may start none, or the kernel
    /// refuses it.
    private var inherited: InheritedClock?
    /// The CPU time when ``inherited`` began to count.
    private var usageBeforeInherited = Duration.zero
    /// The counts of the group before the launch; `nil` if the memory controller is not delegated.
    var memoryBefore: MemoryEvents?
    var lastUsage = Duration.zero
    /// Whether it has more processes than the event loop looks at, so that its CPU time comes from its
    /// survey.
    private var isCrowded = false
    var monitor: CPUMonitor?
    /// Measurements of the threads, which begin when half of the CPU quota is used.
    var sampling: CPUSampling?
    /// The threads that were asked for their stack: from the number in their PID namespace to that in the
    /// host's.
    var askedThreads: [UInt64: Int32] = [:]
    /// What the threads did when the launch crashed, reached a limit, or was about to be killed; `nil`
    /// before.
    var fatalMoment: FatalMoment?
    /// Whether the task reported a fatal signal.
    var hasCrashed = false
    /// When the handler was called, on CLOCK_MONOTONIC; `nil` before.
    var readyAt: Duration?
    /// When the progress changed last, on CLOCK_MONOTONIC; `nil` if the task reported none.
    var progressAt: Duration?
    /// The first progress, for the rate.
    var firstProgress: (completed: Int64, at: Duration)?
    /// The CPU time at a progress at most 1 s before the newest one, and when it was measured.
    var cpuAtProgress = Duration.zero
    var cpuMeasuredAt = Duration.zero
    /// What the launch did before it was asked to stop for lack of progress.
    var stall: TerminationReport.Stall?
    /// The first lines of the report, if the launch ends for the reason `cpuLimit`.
    var limitReport: String?
    /// The CPU weight of the group before it was halved; `nil` while it is not halved.
    var fullWeight: Int?
    var peakResident: Int64 = 0
    /// The memory that passed the limit, as the message of the launch's end says it; `nil` before.
    ///
    /// It can be another one than the peak: that rises until the launch has ended, and has no shared memory
    /// that no process has mapped.
    var judgedMemory: String?
    /// The space of the bundle's directories when it was last counted; `nil` before.
    var storage: Int64?
    var storageTimer: Scheduled<Void>?
    /// The files that the host put there for the launch's template, which are no storage of the launch.
    var copies: Set<UnlinkedFiles.Identity> = []
    /// How many descriptors were in flight at the last count.
    var descriptorsInFlight = 0
    var monitorTimer: Scheduled<Void>?
    /// The CPU limit, which applies while no debugger holds the launch; `nil` means none.
    var cpuLimit: CPULimit?
    /// The pauses for a debugger, from *ready* on; `nil` for a launch without `--debug`.
    var hold: DebugHold?
    var debugTimer: Scheduled<Void>?
    /// The present deadline: for loading, for the grace period, or for cleaning up after completion.
    var lifeTimer = LifeTimer()
    var closingTimer: Scheduled<Void>?
    var outputTimer: Scheduled<Void>?
    var standbyTimer: Scheduled<Void>?

    init(_ order: LaunchOrder) {
        self.order = order
        cpuLimit = order.declaration.limits.cpu
        conditions = order.conditions
        life = LaunchLife(
            grace: order.declaration.limits.lease.gracePeriod, hidesExitStatus: order.isCommand)
    }

    var id: LaunchID { order.id }
    var number: UInt64 { UInt64(bitPattern: order.id.rawValue) }

    /// Whether frames from the task must still be handled.
    var listens: Bool {
        switch life.stage {
        case .starting, .running, .expiring, .completed: true
        case .waiting, .spawning, .killing, .ended: false
        }
    }

    /// Whether the limits of memory, storage and processes apply: as long as it has a process, so also while
    /// that loads its library, and when the task has completed.
    var hasLimits: Bool {
        pid != nil && exit == nil && [.starting, .running, .expiring, .completed].contains(life.stage)
    }

    /// Adds the reader of one of the pipes, that of the reports first.
    func take(_ reader: PipeReader) {
        readers.append(reader)
        if readingPause != nil { reader.pause() }
    }

    /// Stops reading all pipes until ``goOnReading()``, and reads them in small parts from then on.
    func pauseReading(_ end: Scheduled<Void>) {
        readingPause = end
        for reader in readers { reader.pause() }
        wasPaused = true
    }

    /// Ends the pause.
    func goOnReading() {
        readingPause?.cancel()
        readingPause = nil
        for reader in readers { reader.goOn() }
    }

    /// Closes all pipes, and forgets their readers, which refer to the launch.
    func closePipes() {
        for reader in readers { reader.close() }
        readers = []
    }

    /// The CPU time since the start of the launch, and whether it may be too low.
    func cpuTime() -> (Duration, isLowerBound: Bool) {
        let (counted, isLowerBound) = countedTime()
        var time = counted
        if let inherited = inherited?.elapsed() { time = max(time, usageBeforeInherited + inherited) }
        return (time, isLowerBound)
    }

    /// Counts with a clock that the launcher opened before the first instruction of the task.
    func count(with counter: CInt) { inherited = InheritedClock(taking: counter) }

    /// Begins to count processes that the task will start, if it may start any.
    ///
    /// Those that it starts before the host has handled *ready* are counted by its group, or with the
    /// launcher's clock.
    func countDescendants() {
        guard inherited == nil, order.mayStartProcesses, let process = handlerProcess else { return }
        usageBeforeInherited = countedTime().0
        inherited = InheritedClock(of: process)
    }

    private func countedTime() -> (Duration, isLowerBound: Bool) {
        if let usage = clock?.usage() { return (usage - usageBefore, false) }
        if let exit {
            // The init of a PID namespace that was killed did not wait for the handler, so its usage can be
            // too low. The last measurement counts if it is greater.
            let waited = Duration.microseconds(
                Int64(clamping: exit.userMicroseconds) + Int64(clamping: exit.systemMicroseconds))
            return (max(lastUsage, waited), true)
        }
        guard pid != nil else { return (.zero, true) }
        // The CPU time of processes that have ended is missing, so the greatest measurement counts.
        if !isCrowded { lastUsage = max(lastUsage, ProcessUsage.cpuTime(of: processes)) }
        return (lastUsage, true)
    }

    /// Whether a process of the launch could move itself to another cgroup.
    var canLeaveGroup: Bool { group != nil && order.mayStartProcesses }

    /// Assigns a group to the launch, with the counts of its earlier use.
    func enter(_ group: ControlGroup, counted count: GroupCount) {
        self.group = group
        survey = nil
        clock = count.clock
        usageBefore = count.usage
        memoryBefore = count.memory
        if order.handler.manifest.sandbox.network != nil { networkCounter = try? NetworkCounter(of: group) }
        // The group may have another weight from its last launch.
        setWeight(order.priority.cpuWeight)
    }

    /// How many processes of a launch are looked at on the event loop: our choice, a millisecond of work.
    private static let mostOnLoop = 64

    /// The numbers of the processes of the launch that can be found; use them only to read /proc.
    ///
    /// Of a launch with very many processes, only the first ones are there, among them that of the handler.
    var processes: [Int32] {
        group?.processes(most: Self.mostOnLoop)
            ?? pid.map { ProcessUsage.processes(below: $0, most: Self.mostOnLoop) } ?? []
    }

    /// Stores what a survey found.
    func took(_ finding: LaunchSurvey.Finding) {
        lastUsage = max(lastUsage, finding.cpuTime ?? .zero)
        peakResident = max(peakResident, finding.memory ?? 0)
        isCrowded = finding.processes > Self.mostOnLoop
    }

    /// The number of threads of all processes of the launch that can be found; the count may stop when it is
    /// above `limit`.
    func threadCount(upTo limit: Int) -> Int {
        group?.threadCount(upTo: limit) ?? pid.map { ProcessUsage.threadCount(below: $0, limit: limit) } ?? 0
    }

    /// The number of the process that runs the handler; use it only to read /proc.
    var handlerProcess: Int32? { handlerIsBelow ? processes.first { $0 != pid } : pid }

    /// Halves the CPU weight of the group, or restores it; does nothing without the cpu controller.
    func setHalved(_ isHalved: Bool) {
        guard isHalved != (fullWeight != nil), let group else { return }
        if let full = fullWeight {
            fullWeight = nil
            // An error means that the group has been removed.
            try? group.setCPUWeight(full)
        } else if let full = group.cpuWeight, (try? group.setCPUWeight(full / 2)) != nil {
            fullWeight = full
        }
    }

    /// Sets the CPU weight of the group, or half of it while it is halved; does nothing without the cpu
    /// controller.
    func setWeight(_ weight: Int) {
        guard let group, group.cpuWeight != nil else { return }
        let isHalved = fullWeight != nil
        if isHalved { fullWeight = weight }
        try? group.setCPUWeight(isHalved ? weight / 2 : weight)
    }

    /// The rate of the progress so far, in units per minute; `nil` if there were fewer than two reports.
    var unitsPerMinute: Double? {
        guard let first = firstProgress, let last = progressAt, last > first.at, let progress else {
            return nil
        }
        return Double(progress.completed - first.completed) / (last - first.at).inSeconds * 60
    }

    func cancelTimers() {
        for timer in [
            newsTimer, monitorTimer, debugTimer, closingTimer, outputTimer, standbyTimer, storageTimer,
            readingPause,
        ] {
            timer?.cancel()
        }
        newsTimer = nil
        monitorTimer = nil
        debugTimer = nil
        lifeTimer.cancel()
        closingTimer = nil
        outputTimer = nil
        standbyTimer = nil
        storageTimer = nil
        readingPause = nil
        unreadOutput = []
    }

    /// The encoded frames for the start of the launch; the last one is *start*.
    func startFrames(at now: Moment) throws(WireError) -> [UInt8] {
        let (record, submission) = (order.record, order.request.submission)
        let manifest = order.handler.manifest
        var launch = TaskLaunchMessage(
            launch: number, request: UInt64(bitPattern: record.request.rawValue),
            identifier: record.identifier.rawValue, bundle: record.bundle.rawValue, taskKind: record.kind,
            attempt: UInt64(max(1, record.attempt)), token: UInt64(bitPattern: record.token),
            dataDirectory: order.place.dataDirectory, temporaryDirectory: order.place.temporaryDirectory)
        launch.lastSuccess = order.begun.lastSuccess?.milliseconds
        launch.leaseEnd = order.declaration.limits.lease.duration.map { (now.boot + $0).wholeNanoseconds }
        launch.title = submission.title.isEmpty ? nil : submission.title
        launch.subtitle = submission.subtitle.isEmpty ? nil : submission.subtitle
        launch.debug = order.isDebugged
        launch.permittedIdentifiers = manifest.tasks.map(\.pattern.description)
        launch.permittedKinds = manifest.tasks.map(\.kind)
        launch.modes = manifest.modes.map(\.rawValue).sorted()
        var bytes = try encoder.encode(launch)
        if let conditions { bytes += try encoder.encode(ConditionsMessage(conditions)) }
        if let payload = submission.payload {
            bytes += try encoder.encode(PayloadMessage(bytes: Array(payload.utf8)))
        }
        if let checkpoint = order.begun.checkpoint {
            bytes += try encoder.encode(RestoredCheckpointMessage(bytes: checkpoint))
        }
        switch order.place.program {
        case .call(let program): bytes += try encoder.encode(ProgramMessage(bytes: program))
        case .command(let start): bytes += try encoder.encode(CommandMessage(start))
        case nil: break
        }
        return bytes + (try encoder.encode(StartMessage()))
    }
}
