import HandlerRegistry
public import HostSettings
import Launching
public import LinuxSystem
public import Logging
import Recording
import RequestStore
import Scheduling
public import ServiceLifecycle
import SystemConditions
public import TaskModel

/// The host: the one actor, and the only one who knows all peers.
///
/// It decides nothing. Events of the peers become events of the scheduler, and the scheduler's actions become calls of
/// the peers; what must survive is stored before anyone hears of it.
public actor TaskHost: Service {
    /// Where the host is in its life.
    enum Phase {
        case starting
        case serving
        /// Told to stop; nothing starts.
        case draining
    }

    nonisolated let configuration: HostConfiguration
    nonisolated let moments: any MomentSource
    nonisolated let log: HostLog
    nonisolated let happenings = Broadcaster<HostEvent>(
        capacity: 4096, overflow: .ends(unless: { $0.isDispensable }))
    let store: SQLiteRequestStore
    let registry: HandlerRegistry
    let sensors: ConditionSensors
    let launcher: TaskLauncher
    let timer: WakeTimer
    let directories: BundleDirectories
    /// Requests that a simulated launch with a debugger was asked for.
    var debugged: Set<RequestID> = []
    var scheduler: Scheduler
    let settingsFiles: SettingsFiles
    /// The settings that the host began with; some of them stay in force until it starts anew.
    let firstSettings: SettingsSnapshot
    /// The settings as they were last read.
    var currentSettings: SettingsSnapshot
    var settings: SchedulerSettings { currentSettings.effective.scheduler }
    /// `nil` where nothing is recorded.
    let recorder: EventRecorder?
    /// What the machine was like; forecasts are made from it.
    var history = ConditionHistory()
    var registered = RegistrySnapshot(handlers: [], problems: [])
    /// The hash of the library for which each app was last launched.
    var launchedApps: [BundleIdentifier: String] = [:]
    /// Processes that run handlers of their own.
    var clients: [ClientID: ConnectedClient] = [:]
    var lastClient = 0
    /// Which client submitted a request that it runs itself.
    var clientOfRequest: [RequestID: ClientID] = [:]
    /// Launches in clients whose end is being recorded.
    var endingInClients: Set<LaunchID> = []
    /// When launches in clients that were told to stop are over, on CLOCK_BOOTTIME.
    var clientDeadlines: [LaunchID: Duration] = [:]
    /// The app directories as they were last written.
    var appDirectories: [BundleIdentifier: AppDirectory] = [:]
    var pending: [RequestID: TaskRequest] = [:]
    /// Pending requests that the scheduler launches and the store has not recorded yet.
    var starting: Set<RequestID> = []
    var running: [LaunchID: RunningLaunch] = [:]
    /// Whom to ask what keeps it from starting, and what was told of it.
    var vetoes = VetoWatch()
    /// Ends that the store could not take yet, oldest first.
    var unsavedEnds: [UnsavedEnd] = []
    /// What the scheduler remembers of bundles and the store does not have yet.
    var unsavedBundles: [BundleIdentifier: BundleState] = [:]
    /// The write that is under way; `true` if all was stored.
    var bundleWrite: Task<Bool, Never>?
    /// Whether the newest write failed, so that it is tried again by the clock.
    var hasUnstoredBundles = false
    /// What the authors of plugins were told.
    var advice = AdviceBook()
    /// Bundles whose advice the store does not have yet.
    var unsavedAdvice: Set<BundleIdentifier> = []
    /// The write of them that is under way.
    var adviceWrite: Task<Void, Never>?
    /// How far local time is ahead of UTC, as the scheduler was told last.
    var localTimeOffset: Duration?
    /// Set from the word that the machine will sleep until it has woken; nothing starts meanwhile.
    var sleepDelay: SleepDelay?
    var wake = Wake()
    var phase = Phase.starting
    /// Resumed when a debugged launch has stopped before its handler, or ended.
    var readyWaiters: [LaunchID: [CheckedContinuation<Void, Never>]] = [:]
    /// Made when a schedule first names a file.
    var fileWatch: PathWatch?
    let (fileEvents, fileEventsContinuation) = AsyncStream.makeStream(of: PathWatch.Event.self)
    /// Made when a schedule first says `wake: true`; why not, where the kernel refuses.
    var machineAlarm: Result<MachineAlarm, SystemCallError>?
    private let (drained, drainedContinuation) = AsyncStream.makeStream(of: Void.self)

    /// Opens the store and makes the peers; nothing runs yet.
    ///
    /// - Parameters:
    ///   - configuration: Where things are.
    ///   - settings: The configuration's layers, which are read again when they change.
    ///   - logger: The process's own log.
    ///   - moments: The clocks.
    /// - Throws: What keeps the host from starting, as a sentence: a second host, a damaged store, a directory.
    public init(
        configuration: HostConfiguration, settings: SettingsFiles, logger: Logger,
        moments: any MomentSource = SystemClocks()
    ) async throws {
        var configuration = configuration
        for directory in [
            configuration.stateDirectory, configuration.pluginsDirectory, configuration.manifestsDirectory,
            configuration.conditionsDirectory,
        ] {
            try DirectoryTree.make(directory)
        }
        configuration.stateDirectory = try DirectoryTree.realPath(of: configuration.stateDirectory)
        configuration.pluginsDirectory = try DirectoryTree.realPath(of: configuration.pluginsDirectory)
        configuration.manifestsDirectory = try DirectoryTree.realPath(of: configuration.manifestsDirectory)
        configuration.conditionsDirectory = try DirectoryTree.realPath(of: configuration.conditionsDirectory)
        self.configuration = configuration
        settingsFiles = settings
        firstSettings = settings.latest
        currentSettings = firstSettings
        self.moments = moments
        let log = HostLog(logger: logger, moments: moments)
        self.log = log
        store = try SQLiteRequestStore.open(
            directory: configuration.stateDirectory, socket: configuration.socketPath, at: moments.now().wall)
        registry = HandlerRegistry(
            manifestsDirectory: configuration.manifestsDirectory,
            pluginsDirectory: configuration.pluginsDirectory,
            libraryCacheDirectory: configuration.stateDirectory + "/libraries",
            conditionsDirectory: configuration.conditionsDirectory)
        sensors = ConditionSensors(
            mode: configuration.simulatesConditions ? .simulated : .system, moments: moments,
            onProblem: { log.append(.warning, $0) })
        var launching = TaskLauncher.Configuration(
            runnerPath: configuration.runnerPath, stateDirectory: configuration.stateDirectory,
            groupKill: configuration.groupKill, moments: moments,
            onWaiting: { log.append(.notice, $0) })
        launching.templateIdleTime = configuration.templateIdleTime
        launcher = TaskLauncher(configuration: launching)
        timer = try WakeTimer()
        directories = BundleDirectories(stateDirectory: configuration.stateDirectory, store: store)
        scheduler = Scheduler()
        recorder = try configuration.recordingSize.map { size in
            try EventRecorder(
                directory: configuration.recordingDirectory, limit: ByteCount(bytes: size),
                onProblem: { log.append(.warning, $0) })
        }
    }

    /// Serves until the service group asks for a graceful shutdown and every launch has ended.
    ///
    /// - Throws: What kept the host from starting.
    public func run() async throws {
        let recording = Task { await recorder?.run() }
        try await begin()
        let changes = try registry.changes()
        let settingsChanges = try settingsFiles.changes()
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await event in self.launcher.events { await self.handle(event) } }
                group.addTask { for await _ in changes { await self.takeRegistered() } }
                group.addTask { for await _ in settingsChanges { await self.takeSettings() } }
                group.addTask {
                    for await conditions in self.sensors.changes() {
                        await self.schedule(.conditionsChanged(conditions))
                    }
                }
                group.addTask { for await event in self.fileEvents { await self.handle(event) } }
                group.addTask {
                    for await notice in self.sensors.sleepNotices() { await self.handle(notice) }
                }
                group.addTask { for await _ in self.timer.wakes { await self.timePassed() } }
                for await _ in drained { break }
                group.cancelAll()
                timer.cancel()
                fileWatch?.stop()
                await launcher.shutDown()
            }
        } onGracefulShutdown: {
            Task { await self.stop() }
        }
        await saveEnds()
        await saveBundleStates()
        await saveAdvice()
        recorder?.finish()
        await recording.value
        log.append(.notice, "stopped")
        happenings.finish()
        log.finish()
        do {
            try await store.close(at: moments.now().wall)
        } catch {
            log.append(.error, "the store was not closed: \(error)")
        }
    }

    /// Reads what was stored, ends what a dead host left, and lets the scheduler begin.
    private func begin() async throws {
        try await launcher.start()
        log.append(.info, "launches are isolated by \(launcher.isolation.groupKill.rawValue)")
        try directories.sweepTemporary()
        registered = registry.scan()
        tellFirstSettings()
        for problem in registered.problems { log.append(problem.logLevel, "\(problem)") }
        sensors.define(registered.conditions)
        removeUnusedCopies()
        await removeUnusedAppDirectories()
        try await recover()
        await loadHistory()
        recorder?.begin(at: moments.now(), isContinued: false)
        remember(.settingsChanged(settings))
        try await restoreBundles()
        try await restoreApps()
        try await restoreAdvice()
        await tellLocalTime()
        remember(.handlersChanged(registered.handlers.map(\.manifest)))
        remember(.conditionsChanged(sensors.snapshot()))
        for request in try await store.pendingRequests() {
            pending[request.id] = request
            remember(.submitted(request))
        }
        for identifier in registered.handlers.flatMap({ $0.manifest.tasks }).filter({ $0.schedule != nil })
            .map(\.pattern.base)
        {
            if let newest = try await store.launches(identifier: identifier, limit: 1, before: nil).first {
                remember(.lastLaunched(identifier, newest.startedAt))
            }
        }
        try await store.prune(
            keepingNewest: configuration.keptLaunches,
            olderThan: WallTime(sinceEpoch: moments.now().wall.sinceEpoch - configuration.keptAge))
        phase = .serving
        log.append(.notice, "\(registered.handlers.count) handlers, \(pending.count) pending requests")
        applySchedules()
        await schedule(.started)
        await cancelWithoutClient()
        await noticeBoot()
        await launchInstalledApps()
    }

    private func recover() async throws {
        let manifests = registered.handlers.map(\.manifest)
        let settings = settings
        let now = moments.now().wall
        let recovery = try await store.recover(
            at: now,
            isAtMostOnce: { bundle, identifier in
                manifests.first { $0.bundle == bundle }?.declaration(for: identifier)?.isAtMostOnce ?? false
            },
            backOff: { now + settings.backOff(afterAttempt: $0.attempt) })
        for launch in recovery.lost {
            log.append(
                .warning, "lost with the host that started it", launch: launch.id,
                identifier: launch.identifier)
        }
    }

    /// Tells the scheduler, and does what it says.
    func schedule(_ event: SchedulerEvent) async {
        let actions = tell(event)
        vetoes.note(event, actions)
        if case .conditionsChanged = event { tellClientsConditions() }
        // Before anything that waits: an action may cause an event whose answer sets a newer alarm, and that one must stand.
        for case .wake(let wake) in actions {
            self.wake = wake
            armTimer()
        }
        // Before the launcher hears of expirations that the change causes: a handler knows why.
        tellConditions(after: event)
        for action in actions { await perform(action) }
        tellVetoes()
    }

    /// Begins to stop: nothing starts any more, everything that runs expires with `hostShutdown`.
    public func stop() async {
        guard phase != .draining else { return }
        phase = .draining
        log.append(
            .notice, running.isEmpty ? "stopping" : "stopping; waiting for \(running.count) launches")
        happenings.send(.hostStopping)
        await schedule(.shutdown)
        finishIfDrained()
    }

    /// Kills everything that still runs; for a user who does not want to wait for ``stop()``.
    public func killAll() {
        for id in running.keys.sorted() {
            if running[id]?.client != nil {
                Task { await endInClient(id, .stoppedInClient(.hostShutdown, "the host was stopped twice")) }
                continue
            }
            launcher.kill(id, reason: .hostShutdown, message: "the host was stopped twice")
        }
    }

    func finishIfDrained() {
        guard phase == .draining && running.isEmpty else { return }
        for client in clients.values { client.calls.finish() }
        drainedContinuation.finish()
    }

    /// Puts the newest snapshot into force; asked for rather than handed over, so that an older one can't come last.
    private func takeRegistered() async {
        let snapshot = registry.latest
        let before = registered
        if snapshot == before { return }
        registered = snapshot
        for problem in snapshot.problems where !before.problems.contains(problem) {
            log.append(problem.logLevel, "\(problem)")
        }
        for handler in snapshot.handlers where !before.handlers.contains(handler) {
            log.append(.notice, "installed \(handler.manifest.bundle)")
        }
        for handler in before.handlers where !snapshot.handlers.contains(handler) {
            let isGone = !snapshot.handlers.contains { $0.manifest.bundle == handler.manifest.bundle }
            if isGone { log.append(.notice, "removed \(handler.manifest.bundle)") }
            launcher.retire(bundle: handler.manifest.bundle)
        }
        removeUnusedCopies()
        forgetOldAdvice()
        applySchedules()
        sensors.define(snapshot.conditions)
        await schedule(.conditionsChanged(sensors.snapshot()))
        await schedule(.handlersChanged(snapshot.handlers.map(\.manifest)))
        await removeUnusedAppDirectories()
        await launchInstalledApps()
    }

    /// Reads the directories now: whoever dropped files a moment ago may submit before inotify told of them.
    func rescan() async {
        _ = registry.scan()
        await takeRegistered()
    }

    /// Budgets and hours of use are by local time, which a journey or a season may change.
    private func tellLocalTime() async {
        let offset = Duration.seconds(ProcessFacts.localTimeOffset(at: moments.now().wall))
        if offset == localTimeOffset { return }
        localTimeOffset = offset
        await schedule(.localTimeChanged(offset: offset))
    }

    private func timePassed() async {
        await saveEnds()
        await saveBundleStates()
        await tellLocalTime()
        await endOverdueInClients()
        await schedule(.timePassed)
    }
}

extension ManifestProblem {
    var logLevel: LogLine.Level { severity == .error ? .error : .warning }
}
