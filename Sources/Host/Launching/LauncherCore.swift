import LinuxSystem
import NIOCore
import RunnerWire
import TaskModel

/// Performs the actions that ``LaunchLife``, ``TemplateBook`` and ``CPUMonitor`` decide.
///
/// All methods run on one event loop.
final class LauncherCore: @unchecked Sendable {
    // Unchecked: everything is touched on `loop` only.
    let loop: any EventLoop
    let moments: any MomentSource
    let maps: PatientMaps
    /// The mounts of the host, which its templates see as they were at their start.
    let mounts = MountWatch()
    let isolation: GroupKill
    /// The layers of the sandbox that this machine has.
    let sandbox: Set<SandboxLayer>
    /// Whether the launcher gets reports of the calls that the filter refuses.
    let reportsCalls: Bool
    /// The paths of libraries that plugins load from other directories than the system's.
    var runPaths = RunPathBook()
    let cores = ProcessorCount.available
    let onEvent: @Sendable (LaunchEvent) -> Void
    /// Starts another launcher after one died; called on the loop.
    var replaceLauncher: (@Sendable () -> Void)?
    /// Called once, when the host's shut-down is complete.
    var onEnd: (@Sendable () -> Void)?

    var link: LauncherLink?
    var groups: GroupPool?
    var launches: [UInt64: RunningLaunch] = [:]
    var book = TemplateBook()
    var templateTimers: [UInt64: Scheduled<Void>] = [:]
    /// When each loaded template was last used, on CLOCK_MONOTONIC.
    var templateUses: [UInt64: Duration] = [:]
    var idleTimers: [UInt64: Scheduled<Void>] = [:]
    /// How long a template that is not used stays loaded.
    let templateIdleTime: Duration
    /// What the launches of each bundle may still make the host do.
    var allowances: MessageAllowances
    /// How often the space of a bundle's directories is counted while a launch with a storage limit runs.
    var storageInterval = Duration.seconds(10)
    var processLimit: UInt64 = 8192
    /// Whether the kernel limits the processes of each group.
    private(set) lazy var groupsLimitProcesses = groups?.limitsProcesses ?? false
    /// Whether launches run as root, unless their bundles have users.
    var runsAsRoot = ProcessFacts.isRoot
    /// How many templates there may be; see ``TaskLauncher/Configuration/maximumTemplates``.
    let maximumTemplates: Int
    var templateGroups: [UInt64: ControlGroup] = [:]
    /// The processes of templates without a group; such a template only finds out whether its library loads.
    var templateProcesses: [UInt64: Int32] = [:]
    /// The files that the host put there for each template.
    var templateCopies: [UInt64: Set<UnlinkedFiles.Identity>] = [:]
    /// The standbys, by the number of their template.
    var standbys: [UInt64: Standby] = [:]
    /// Templates whose standby could not be created; the launcher is not asked for one again.
    var templatesWithoutStandby: Set<UInt64> = []
    /// The next look at the memory of launches without a memory controller, and at processes that left their
    /// group; `nil` while no running launch needs it.
    var memoryTimer: Scheduled<Void>?
    /// The rounds of these looks that have not ended; more than one only while a process holds one up.
    var surveyRounds: [SurveyRound] = []
    /// The next look at the memory of templates; `nil` while it is not needed.
    var templateMemoryTimer: Scheduled<Void>?
    /// The next look at the number of the machine's threads; `nil` while no launch needs it.
    var threadTimer: Scheduled<Void>?
    var threadGrowth = ThreadGrowth()
    /// The orders to start or kill a process that the launcher has not answered yet, and the timer that looks
    /// at them.
    var answers: AnswerWatch
    var answerTimer: Scheduled<Void>?
    /// Templates that did not load in time or as they may, until the launcher has killed these templates.
    var overdueTemplates: [UInt64: OverdueTemplate] = [:]
    private var isRetryingSend = false
    /// The number of ended launches whose report is being made.
    var openReports = 0
    /// Whether the end of the host waits for these reports.
    var awaitsReports = false
    var isShuttingDown = false
    /// Whether the host no longer waits for processes that do not end.
    var isAbandoned = false

    init(
        loop: any EventLoop, moments: any MomentSource, isolation: GroupKill, groups: GroupPool?,
        sandbox: Set<SandboxLayer>, reportsCalls: Bool = true, templateIdleTime: Duration,
        maximumTemplates: Int, answerTime: Duration, messageRate: MessageAllowances.Rate = .init(),
        onEvent: @escaping @Sendable (LaunchEvent) -> Void
    ) {
        answers = AnswerWatch(answerTime: answerTime)
        allowances = MessageAllowances(rate: messageRate)
        self.loop = loop
        self.moments = moments
        maps = PatientMaps(moments: moments)
        self.isolation = isolation
        self.groups = groups
        self.sandbox = sandbox
        self.reportsCalls = reportsCalls && sandbox.contains(.seccomp)
        self.templateIdleTime = templateIdleTime
        self.maximumTemplates = maximumTemplates
        self.onEvent = onEvent
    }

    func tell(_ event: LaunchEvent) {
        loop.assertInEventLoop()
        onEvent(event)
    }

    func after(_ time: Duration, _ body: @escaping @Sendable () -> Void) -> Scheduled<Void> {
        loop.assertInEventLoop()
        return loop.scheduleTask(in: .nanoseconds(max(0, time.wholeNanoseconds)), body)
    }

    func send(_ message: some WireMessage) throws(WireError) {
        loop.assertInEventLoop()
        guard let link else { return }
        if try link.send(message) { retrySend() }
    }

    /// Tries again every millisecond to send, because the launcher's socket is full after very many launches.
    private func retrySend() {
        guard !isRetryingSend else { return }
        isRetryingSend = true
        _ = after(.milliseconds(1)) { [self] in
            isRetryingSend = false
            if link?.flush() == true { retrySend() }
        }
    }

    // MARK: Orders

    func launch(_ order: LaunchOrder) {
        loop.assertInEventLoop()
        let launch = RunningLaunch(order)
        launches[launch.number] = launch
        // Without a launcher, the launch waits for the next one, which is being started.
        if link != nil { prepare(launch) }
        watchThreads()
    }

    func expire(_ id: LaunchID, _ reason: Reason) {
        if let launch = find(id) { handle(.expire(reason), launch) }
    }

    func kill(_ id: LaunchID, _ reason: Reason, _ message: String) {
        if let launch = find(id) { handle(.kill(reason, message: message), launch) }
    }

    func find(_ id: LaunchID) -> RunningLaunch? {
        loop.assertInEventLoop()
        return launches[UInt64(bitPattern: id.rawValue)]
    }

    /// Gives an event to the launch's state machine, and performs the resulting actions.
    func handle(_ event: LaunchLife.Event, _ launch: RunningLaunch) {
        loop.assertInEventLoop()
        switch event {
        case .kill, .limitPassed, .graceEnded, .loadDeadlinePassed, .launcherDied: readNow(launch)
        default: break
        }
        for action in launch.life.handle(event) { perform(action, launch) }
    }

    private func perform(_ action: LaunchLife.Action, _ launch: RunningLaunch) {
        switch action {
        case .prepare: prepare(launch)
        case .spawn: spawn(launch)
        case .awaitReady: setLifeTimer(LaunchLife.loadDeadline, launch) { .loadDeadlinePassed }
        case .beginRun: beginRun(launch)
        case .climb(let ladder): climb(ladder[...], launch)
        case .awaitExit:
            launch.tidying = TidyingTime(completedAt: moments.now().monotonic)
            limitTidying(launch)
        case .kill:
            launch.lifeTimer.cancel()
            if launch.fatalMoment == nil { look(at: launch, isSilent: true) }
            launch.wasKilled = true
            try? send(KillMessage(launch: launch.number))
            awaitAnswer(.launch(launch.number))
            killLater(launch)
        case .end(let end): finish(launch, end)
        }
    }

    /// Sets the timer of a launch whose task has completed, after the completion and each change of its
    /// assertions.
    func limitTidying(_ launch: RunningLaunch) {
        guard let tidying = launch.tidying, launch.life.stage == .completed else { return }
        let left = tidying.left(
            holdsAssertion: !launch.openAssertions.isEmpty, at: moments.now().monotonic)
        setLifeTimer(left, launch) { .tidyingEnded }
    }

    func setLifeTimer(
        _ time: Duration, _ launch: RunningLaunch, _ event: @escaping @Sendable () -> LaunchLife.Event
    ) {
        launch.lifeTimer.set(time) { [self] in handle(event(), launch) }
        startLifeTimer(launch)
    }

    /// Starts the launch's deadline, unless a debugger is attached.
    func startLifeTimer(_ launch: RunningLaunch) {
        guard launch.hold?.isTraced != true else { return }
        launch.lifeTimer.run(at: moments.now(), on: after)
    }

    private func climb(_ ladder: ArraySlice<LadderStep>, _ launch: RunningLaunch) {
        guard let step = ladder.first else { return }
        let rest = ladder.dropFirst()
        switch step {
        case .expire(let reason):
            lookBeforeExpiration(reason, of: launch)
            let now = moments.now()
            let grace = launch.order.declaration.limits.lease.gracePeriod
            let message = TaskExpireMessage(
                reason: reason.rawValue, grace: UInt64(grace.wholeMilliseconds),
                deadline: (now.monotonic + grace).wholeNanoseconds)
            if let frame = try? launch.encoder.encode(message) { launch.control?.send(frame) }
            tell(.expiring(launch.id, reason, at: now))
            climb(rest, launch)
        case .wait(let time):
            launch.lifeTimer.set(time) { [self] in climb(rest, launch) }
            startLifeTimer(launch)
        case .lookAtThreads:
            if launch.life.stage == .expiring { look(at: launch) }
            climb(rest, launch)
        case .kill:
            handle(.graceEnded, launch)
        }
    }
}
