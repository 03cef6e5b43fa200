import LinuxSystem
import NIOCore
import RunnerWire
import TaskModel

/// What the host holds of one launch from its order to its end.
///
/// Confined to the event loop.
final class RunningLaunch: @unchecked Sendable {
    // Unchecked: confined to the event loop of its TaskLauncher.
    let order: LaunchOrder
    var life: LaunchLife

    // MARK: Process
    var template: UInt64?
    var group: ControlGroup?
    var process: ProcessHandle?
    var pid: Int32?
    /// Whether its process is the init of a PID namespace, and the handler runs in a child of it.
    var handlerIsBelow = false
    var exit: ExitedMessage?
    /// Whether a kill was asked for, after which its group can't be used again.
    var wasKilled = false

    // MARK: Pipes
    var control: ControlPipe?
    var encoder = FrameEncoder()
    var decoder = FrameDecoder()
    var output: [OutputStream: OutputLines] = [.stdout: OutputLines(), .stderr: OutputLines()]
    var channels: [any Channel] = []
    /// The pipes of what it prints, until they are read.
    var unreadOutput: [(OutputStream, OwnedPipe)] = []
    var openPipes = 0
    var isReportOpen = false

    // MARK: Bounds
    var loggedBytes = 0
    var droppedLogs = 0
    var openCalls: Set<UInt64> = []
    var openAssertions: Set<UInt64> = []
    var assertionFrames = 0

    var adviceCount = 0
    var hasFaulted = false

    /// The conditions that it got, or will get at its start; `nil` if none.
    var conditions: HandlerConditions?

    // MARK: What is reported at most 20 times a second
    var title: TitleMessage?
    var progress: TaskProgress?
    var progressIsNews = false
    var checkpoint: [UInt8]?
    var newsTimer: Scheduled<Void>?

    // MARK: Monitors
    var clock: ControlGroupClock?
    /// Its group's memory; made at the first look at it.
    var groupMemory: GroupMemory?
    var usageBefore = Duration.zero
    /// What was counted in its group before it came; `nil` where the memory controller is not delegated.
    var memoryBefore: MemoryEvents?
    var lastUsage = Duration.zero
    var monitor: CPUMonitor?
    /// What its threads do, from the first time that half of the quota is spent.
    var sampling: CPUSampling?
    /// The threads that were asked for their stack, by their number in their own PID namespace.
    var askedThreads: [UInt64: Int32] = [:]
    /// Where its main thread was shortly before its deadline; `nil` before it was looked up.
    var mainThread: MainThreadStack?
    /// The head of the report of a `cpuLimit`.
    var limitReport: String?
    /// The weight of its group before it was halved; `nil` while it is not.
    var fullWeight: Int?
    var peakResident: Int64 = 0
    var monitorTimer: Scheduled<Void>?
    /// The CPU limit that is in force while no debugger holds the launch.
    var cpuLimit: CPULimit?
    /// For a launch under `--debug`, from its *ready* on.
    var hold: DebugHold?
    var debugTimer: Scheduled<Void>?
    /// The load deadline, then the grace, then the time to tidy up; one at a time.
    var lifeTimer = LifeTimer()
    var closingTimer: Scheduled<Void>?
    var outputTimer: Scheduled<Void>?
    var standbyTimer: Scheduled<Void>?

    init(_ order: LaunchOrder) {
        self.order = order
        cpuLimit = order.limits.cpu
        conditions = order.conditions
        life = LaunchLife(grace: order.limits.lease.gracePeriod)
    }

    var id: LaunchID { order.id }
    var number: UInt64 { UInt64(bitPattern: order.id.rawValue) }

    /// Whether what it wrote must still be looked at.
    var listens: Bool {
        switch life.stage {
        case .starting, .running, .expiring, .completed: true
        case .waiting, .spawning, .killing, .ended: false
        }
    }

    /// CPU time since its start; the second value says whether it may be too low.
    func cpuTime() -> (Duration, isLowerBound: Bool) {
        if let usage = clock?.usage() { return (usage - usageBefore, false) }
        if let exit {
            // A namespace's init that was killed never waited for the handler: what was seen before still
            // counts.
            let waited = Duration.microseconds(
                Int64(clamping: exit.userMicroseconds) + Int64(clamping: exit.systemMicroseconds))
            return (max(lastUsage, waited), true)
        }
        guard let pid else { return (.zero, true) }
        // A process that ended takes its time with it: what was seen before still counts.
        lastUsage = max(lastUsage, ProcessUsage.cpuTime(of: ProcessUsage.processes(below: pid)))
        return (lastUsage, true)
    }

    /// It lives in a group from now on, of which so much was counted before.
    func enter(_ group: ControlGroup, counted count: GroupCount) {
        self.group = group
        groupMemory = nil
        clock = count.clock
        usageBefore = count.usage
        memoryBefore = count.memory
    }

    /// All its processes that can be found; numbers for reading /proc only.
    var processes: [Int32] { group?.processes ?? pid.map(ProcessUsage.processes(below:)) ?? [] }

    /// The process that the handler runs in; a number for reading /proc only.
    var handlerProcess: Int32? { handlerIsBelow ? processes.first { $0 != pid } : pid }

    /// Resident memory of all its processes that can be found.
    func residentBytes() -> Int64 {
        if groupMemory == nil, let group {
            groupMemory = try? GroupMemory(of: group, mayGrow: order.subprocesses)
        }
        let resident = groupMemory?.residentBytes() ?? ProcessUsage.residentBytes(of: processes)
        peakResident = max(peakResident, resident)
        return resident
    }

    /// Halves the weight of its group, or gives it back; nothing where the cpu controller is not delegated.
    func setHalved(_ isHalved: Bool) {
        guard isHalved != (fullWeight != nil), let group else { return }
        if let full = fullWeight {
            fullWeight = nil
            // If the group is gone, its weight has no effect.
            try? group.setCPUWeight(full)
        } else if let full = group.cpuWeight, (try? group.setCPUWeight(full / 2)) != nil {
            fullWeight = full
        }
    }

    /// Sets its group's weight, halved if it is; nothing where the cpu controller is not delegated.
    func setWeight(_ weight: Int) {
        guard let group, group.cpuWeight != nil else { return }
        let isHalved = fullWeight != nil
        if isHalved { fullWeight = weight }
        try? group.setCPUWeight(isHalved ? weight / 2 : weight)
    }

    func cancelTimers() {
        for timer in [newsTimer, monitorTimer, debugTimer, closingTimer, outputTimer, standbyTimer] {
            timer?.cancel()
        }
        newsTimer = nil
        monitorTimer = nil
        debugTimer = nil
        lifeTimer.cancel()
        closingTimer = nil
        outputTimer = nil
        standbyTimer = nil
        unreadOutput = []
    }

    /// The frames before *start*, and it.
    func startFrames(at now: Moment) throws(WireError) -> [UInt8] {
        var launch = TaskLaunchMessage(
            launch: number, request: UInt64(bitPattern: order.request.rawValue),
            identifier: order.identifier.rawValue, bundle: order.bundle.rawValue, taskKind: order.kind,
            attempt: UInt64(max(1, order.attempt)), token: UInt64(bitPattern: order.token),
            dataDirectory: order.dataDirectory, temporaryDirectory: order.temporaryDirectory)
        launch.lastSuccess = order.lastSuccess?.milliseconds
        launch.leaseEnd = order.limits.lease.duration.map { (now.boot + $0).wholeNanoseconds }
        launch.title = order.title.isEmpty ? nil : order.title
        launch.subtitle = order.subtitle.isEmpty ? nil : order.subtitle
        launch.debug = order.debug
        launch.permittedIdentifiers = order.permittedIdentifiers
        launch.permittedKinds = order.permittedKinds
        launch.modes = order.modes.map(\.rawValue)
        var bytes = try encoder.encode(launch)
        if let conditions { bytes += try encoder.encode(ConditionsMessage(conditions)) }
        if let payload = order.payload {
            bytes += try encoder.encode(PayloadMessage(bytes: Array(payload.utf8)))
        }
        if let checkpoint = order.checkpoint {
            bytes += try encoder.encode(RestoredCheckpointMessage(bytes: checkpoint))
        }
        if let program = order.program { bytes += try encoder.encode(ProgramMessage(bytes: program)) }
        return bytes + (try encoder.encode(StartMessage()))
    }
}
