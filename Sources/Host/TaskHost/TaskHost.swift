import DequeModule
import HandlerRegistry
import HostCore
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

/// The host: gives ``HostCore`` the real world.
///
/// Everything that happens is put into one queue; the core takes one input after the other, and this actor
/// performs what the core says. It waits for nothing meanwhile, so no input comes in between. Writes of one
/// drain of the queue are one commit, and those that come while it is under way are the next one.
public actor TaskHost: Service {
    nonisolated let configuration: HostConfiguration
    nonisolated let moments: any MomentSource
    nonisolated let log: HostLog
    nonisolated let happenings = Broadcaster<HostEvent>(
        capacity: 4096, overflow: .ends(unless: { $0.isDispensable }))
    nonisolated let settingsFiles: SettingsFiles
    nonisolated let sensors: ConditionSensors
    nonisolated let launcher: TaskLauncher
    nonisolated let worker: HostWorker
    nonisolated let store: any RequestStore
    private let closeStore: @Sendable (WallTime) async throws -> Void
    private let registry: HandlerRegistry
    private let directories: StateDirectories
    private let timer: WakeTimer
    /// `nil` where nothing is recorded.
    private let recorder: EventRecorder?

    /// All decisions.
    private(set) var core = HostCore()
    private var inputs: Deque<HostInput> = []
    private var isDraining = false
    private var isFollowed = false
    /// Writes that wait for the commit under way.
    private var writes: [(ticket: StoreTicket, write: StoreWrite)] = []
    private var isCommitting = false
    /// Whether the core has its past; what is asked before would be answered from a store that was not
    /// recovered.
    private var hasBegun = false
    /// Whether nothing is answered any more.
    private var hasEnded = false
    private var beginWaiters: [CheckedContinuation<Void, Never>] = []
    private var lastCall = 0
    private var callers: [CallID: CheckedContinuation<HostAnswer, Never>] = [:]
    private var clients: [ClientID: ClientConnection] = [:]
    /// Processes that are about to be registered, and the streams of those that were.
    private var connecting: [CallID: (handle: ProcessHandle, number: Int32)] = [:]
    private var connected: [CallID: AsyncStream<ClientCall>] = [:]
    private var sleepDelay: SleepDelay?
    /// Made when a schedule first names a file.
    private var fileWatch: PathWatch?
    private let (fileEvents, fileEventsContinuation) = AsyncStream.makeStream(of: PathWatch.Event.self)
    /// Made when a schedule first says `wake: true`.
    private var machineAlarm: MachineAlarm?
    private let (drained, drainedContinuation) = AsyncStream.makeStream(of: Void.self)

    /// The connection of a client.
    private struct ClientConnection {
        /// Cannot come to mean another process.
        let process: ProcessHandle
        let processIdentifier: Int32
        let calls: AsyncStream<ClientCall>.Continuation
    }

    /// Opens the store and makes the peers; nothing runs yet.
    ///
    /// - Parameters:
    ///   - configuration: Where things are.
    ///   - settings: The configuration's layers, which are read again when they change.
    ///   - logger: The process's own log.
    ///   - moments: The clocks.
    /// - Throws: What keeps the host from starting, as a sentence: a second host, a damaged store, a
    ///   directory.
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
        self.moments = moments
        let log = HostLog(logger: logger, moments: moments)
        self.log = log
        let store = try SQLiteRequestStore.open(
            directory: configuration.stateDirectory, socket: configuration.socketPath, at: moments.now().wall)
        self.store = store
        closeStore = { try await store.close(at: $0) }
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
        directories = StateDirectories(root: configuration.stateDirectory)
        worker = HostWorker(
            configuration: configuration, directories: directories, registry: registry, sensors: sensors)
        recorder = try configuration.recordingSize.map { size in
            try EventRecorder(
                directory: configuration.recordingDirectory, limit: ByteCount(bytes: size),
                onProblem: { log.append(.warning, $0) })
        }
    }

    // MARK: Life

    /// Serves until the service group asks for a graceful shutdown and every launch has ended.
    ///
    /// - Throws: What kept the host from starting.
    public func run() async throws {
        let recording = Task { await recorder?.run() }
        // Those who wait hear that the host is not serving, if it can't begin.
        defer { end() }
        let beginning = try await readBeginning()
        recorder?.begin(at: moments.now(), isContinued: false)
        let changes = try registry.changes()
        let settingsChanges = try settingsFiles.changes()
        hear(.begin(beginning))
        endWaiting()
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await event in self.launcher.events { await self.hear(.launch(event)) } }
                group.addTask { for await result in self.worker.results { await self.hear(result) } }
                group.addTask {
                    // Asked for rather than handed over, so that an older snapshot can't come last.
                    for await _ in changes { await self.hear(.registered(self.registry.latest)) }
                }
                group.addTask {
                    for await _ in settingsChanges { await self.hear(.settings(self.settingsFiles.latest)) }
                }
                group.addTask {
                    for await conditions in self.sensors.changes() {
                        await self.hear(.conditions(conditions))
                    }
                }
                group.addTask { for await event in self.fileEvents { await self.hear(event) } }
                group.addTask { for await notice in self.sensors.sleepNotices() { await self.hear(notice) } }
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
        end()
        recorder?.finish()
        await recording.value
        log.append(.notice, "stopped")
        happenings.finish()
        log.finish()
        do {
            try await closeStore(moments.now().wall)
        } catch {
            log.append(.error, "the store was not closed: \(error)")
        }
    }

    /// Begins to stop: nothing starts any more, everything that runs expires with `hostShutdown`.
    public func stop() async { hear(.stop) }

    /// Kills everything that still runs; for a user who does not want to wait for ``stop()``.
    public func killAll() { hear(.killAll) }

    // MARK: The queue

    /// Puts an input into the queue, and has the core take everything that is in it.
    func hear(_ input: HostInput) {
        inputs.append(newest(input))
        drain()
    }

    private func drain() {
        guard !isDraining else { return }
        isDraining = true
        defer { isDraining = false }
        noticeFollowers()
        while let next = inputs.popFirst() {
            let now = moments.now()
            for effect in core.handle(next, at: now) { perform(effect, at: now) }
            continueRecording(at: now)
        }
        commit()
    }

    /// A snapshot as it is now: one that was taken on another thread may come later than a newer one.
    private func newest(_ input: HostInput) -> HostInput {
        switch input {
        case .scanned(let ticket, _): .scanned(ticket, registry.latest)
        case .registered: .registered(registry.latest)
        case .conditions: .conditions(sensors.snapshot())
        case .settings: .settings(settingsFiles.latest)
        default: input
        }
    }

    /// Asks the core for something, and waits for its answer.
    func ask(_ call: HostCall) async -> HostAnswer {
        await untilBegun()
        return await ask(call, as: nextCall())
    }

    private func ask(_ call: HostCall, as id: CallID) async -> HostAnswer {
        guard !hasEnded else { return .refused(Self.endedError) }
        return await withCheckedContinuation { caller in
            callers[id] = caller
            hear(.call(id, call))
        }
    }

    /// Returns when the host has begun: those who call earlier wait for their answer instead of getting a
    /// wrong one.
    func untilBegun() async {
        if hasBegun { return }
        await withCheckedContinuation { beginWaiters.append($0) }
    }

    /// Refuses what nobody will answer any more.
    private func end() {
        hasEnded = true
        endWaiting()
        for caller in callers.values { caller.resume(returning: .refused(Self.endedError)) }
        callers = [:]
    }

    private static let endedError = SubmissionError(
        code: .unavailable, subject: "bgtaskd", finding: "the host has stopped",
        remedy: "Try again when it serves")

    private func endWaiting() {
        hasBegun = true
        for waiter in beginWaiters { waiter.resume() }
        beginWaiters = []
    }

    private func nextCall() -> CallID {
        lastCall += 1
        return CallID(rawValue: lastCall)
    }

    private func noticeFollowers() {
        guard happenings.hasListeners != isFollowed else { return }
        isFollowed.toggle()
        inputs.prepend(.followed(isFollowed))
    }

    /// Commits everything that waits, unless a commit is under way: then that one's end does.
    private func commit() {
        guard !isCommitting, !writes.isEmpty else { return }
        isCommitting = true
        let batch = writes
        writes = []
        Task {
            let results = await store.commit(batch.map(\.write))
            isCommitting = false
            // In the order of the writes: the core goes on from each answer to the next.
            for (entry, result) in zip(batch, results) { inputs.append(.stored(entry.ticket, result)) }
            drain()
        }
    }

    private func continueRecording(at now: Moment) {
        guard let recorder, recorder.wantsSegment(at: now), let events = core.recap else { return }
        recorder.begin(at: now, isContinued: true)
        for event in events { recorder.record(event, at: now) }
    }

    private func timePassed() {
        hear(.timePassed(localTimeOffset: localTimeOffset(at: moments.now().wall)))
    }

    private func localTimeOffset(at time: WallTime) -> Duration {
        .seconds(ProcessFacts.localTimeOffset(at: time))
    }

    private func hear(_ event: PathWatch.Event) {
        switch event {
        case .changed(let paths): hear(.filesChanged(Set(paths)))
        case .unwatchable(let path, let error): hear(.unwatchable(path: path, problem: "\(error)"))
        }
    }

    private func hear(_ notice: SleepNotice) {
        switch notice {
        case .willSleep(let delay):
            sleepDelay = delay
            hear(HostInput.willSleep)
        case .hasWoken:
            sleepDelay = nil
            hear(HostInput.hasWoken)
        }
    }

    // MARK: Effects

    private func perform(_ effect: HostEffect, at now: Moment) {
        switch effect {
        case .store(let ticket, let write): writes.append((ticket, write))
        case .note(let note, let id): store.note(note, of: id, at: now)
        case .launch(let order): launcher.launch(order)
        case .expire(let id, let reason): launcher.expire(id, reason: reason)
        case .kill(let id, let reason, let message): launcher.kill(id, reason: reason, message: message)
        case .setCPULimit(let id, let limit): launcher.setCPULimit(id, limit)
        case .setPriority(let id, let priority): launcher.setPriority(id, priority)
        case .setConditions(let id, let conditions): launcher.setConditions(id, conditions)
        case .reply(let id, let call, let result): launcher.reply(id, call: call, result)
        case .retire(let bundle): launcher.retire(bundle: bundle)
        case .measure(let id):
            Task { if let usage = await launcher.usage()[id] { hear(.measured(id, usage.cpuTime)) } }
        case .notifyClient(let id, let call): clients[id]?.calls.yield(call)
        case .closeClient(let id): clients.removeValue(forKey: id)?.calls.finish()
        case .measureClient(let launch, let id):
            if let client = clients[id] { worker.measure(client.processIdentifier, for: launch) }
        case .awaitClientEnd(let id): awaitEnd(of: id)
        case .answer(let call, let answer): self.answer(call, answer)
        case .publish(let event): happenings.send(event)
        case .log(let line): log.append(line)
        case .record(let event): recorder?.record(event, at: now)
        case .recordSleep(let sleeps):
            recorder?.record(RecordedEntry(at: now, sleeps ? .willSleep : .hasWoken))
        case .work(.watchFiles(let paths)): watch(paths)
        case .work(.openMachineAlarm): openMachineAlarm()
        case .work(let work): worker.start(work)
        case .arm(let wake):
            timer.set(bootAt: wake.boot, wallAt: wake.wall)
            machineAlarm?.set(wake.machine)
        case .letSleep: sleepDelay?.release()
        case .drained: drainedContinuation.finish()
        }
    }

    private func watch(_ paths: Set<String>) {
        if let fileWatch { return fileWatch.watch(paths) }
        if paths.isEmpty { return }
        do {
            let events = fileEventsContinuation
            let watch = try PathWatch { events.yield($0) }
            watch.watch(paths)
            fileWatch = watch
        } catch {
            log.append(.error, "no file is watched for schedules: \(error)")
        }
    }

    private func openMachineAlarm() {
        do {
            machineAlarm = try MachineAlarm()
            inputs.append(.machineAlarm(MachineAlarm.isClockThere ? .ready : .noClock))
        } catch {
            inputs.append(.machineAlarm(.refused("\(error)")))
        }
    }

    private func answer(_ call: CallID, _ answer: HostAnswer) {
        if case .connected(let id) = answer, let process = connecting.removeValue(forKey: call) {
            let (stream, calls) = AsyncStream.makeStream(of: ClientCall.self)
            calls.onTermination = { [weak self] _ in
                // Not a child of the task that reads: it ends with it.
                Task { await self?.hear(.clientLeft(id)) }
            }
            clients[id] = ClientConnection(
                process: process.handle, processIdentifier: process.number, calls: calls)
            connected[call] = stream
        }
        callers.removeValue(forKey: call)?.resume(returning: answer)
    }

    // MARK: Clients

    /// Registers a client; see `HostControl`.
    public func connect(
        _ identifiers: [IdentifierPattern], from process: Int32
    ) async throws(SubmissionError) -> AsyncStream<ClientCall> {
        let handle: ProcessHandle
        do {
            handle = try ProcessHandle(of: process)
        } catch {
            throw SubmissionError(
                code: .unavailable, subject: "process \(process)",
                finding: "it can't be watched: \(error)",
                remedy: "Run it in the same PID namespace as the host")
        }
        await untilBegun()
        let call = nextCall()
        connecting[call] = (handle, process)
        defer {
            connecting[call] = nil
            connected[call] = nil
        }
        if case .refused(let error) = await ask(.connect(identifiers, process: process), as: call) {
            throw error
        }
        return connected[call] ?? AsyncStream { $0.finish() }
    }

    private func awaitEnd(of id: ClientID) {
        guard let client = clients.removeValue(forKey: id) else {
            return hear(.clientEnded(id, isDead: true))
        }
        BlockingThread.start(named: "bgtask-client") {
            let isDead = client.process.waitForEnd(timeoutMilliseconds: 1000)
            Task { await self.hear(.clientEnded(id, isDead: isDead)) }
        }
    }

    // MARK: Beginning

    /// Reads what was stored, ends what a dead host left, and looks around.
    private func readBeginning() async throws -> HostBeginning {
        try await launcher.start()
        try directories.sweepTemporary()
        let registered = registry.scan()
        sensors.define(registered.conditions)
        let facts = try await store.facts()
        await renameDirectories(facts.numberedDirectories)
        let now = moments.now()
        var beginning = HostBeginning(
            surroundings: HostSurroundings(
                manifestsDirectory: configuration.manifestsDirectory,
                stateDirectory: configuration.stateDirectory,
                isolation: launcher.isolation.groupKill.rawValue,
                taskEnvironment: configuration.taskEnvironment),
            settings: settingsFiles.latest, registered: registered, conditions: sensors.snapshot(),
            localTimeOffset: localTimeOffset(at: now.wall))
        beginning.facts = facts
        let (manifests, settings) = (
            registered.handlers.map(\.manifest), beginning.settings.effective.scheduler
        )
        beginning.lost = try await store.recover(
            at: now.wall,
            isAtMostOnce: { bundle, identifier in
                manifests.first { $0.bundle == bundle }?.declaration(for: identifier)?.isAtMostOnce ?? false
            },
            backOff: { now.wall + settings.backOff(afterAttempt: $0.attempt) }
        ).lost
        beginning.pending = try await store.pendingRequests()
        let scheduled = manifests.flatMap(\.tasks).filter { $0.schedule != nil }.map(\.pattern.base)
        for identifier in scheduled {
            let newest = try await store.launches(identifier: identifier, limit: 1, before: nil).first
            beginning.lastLaunches[identifier] = newest?.startedAt
        }
        beginning.boot = try? SmallFile.read("/proc/sys/kernel/random/boot_id").filter { !$0.isWhitespace }
        if recorder != nil { beginning.history = await recordedHistory() }
        try await store.prune(
            keepingNewest: configuration.keptLaunches,
            olderThan: WallTime(sinceEpoch: now.wall.sinceEpoch - configuration.keptAge))
        return beginning
    }

    /// The conditions of earlier runs of the host, out of the log: up to 64 MiB of JSON, so elsewhere.
    private func recordedHistory() async -> ConditionHistory {
        let directory = configuration.recordingDirectory
        let start = moments.now().wall + (.zero - ConditionHistory.span)
        return await worker.run { ConditionHistory(recordedIn: directory, since: start) }
    }

    /// Gives data directories that an older host named by numbers the names of their bundles.
    private func renameDirectories(_ numbers: [BundleIdentifier: String]) async {
        for (bundle, number) in numbers.sorted(by: { $0.key < $1.key }) {
            do {
                guard try directories.rename(number: number, for: bundle) else {
                    log.append(
                        .warning,
                        "\(configuration.stateDirectory)/data has two directories of \(bundle); "
                            + "'\(number)' is of an older host and is not used")
                    continue
                }
                if case .failure(let refusal) = await store.commit([.remember(.directoryRenamed(bundle))])[0]
                {
                    log.append(
                        .warning, "that the directory of \(bundle) was renamed is not stored: \(refusal)")
                }
            } catch {
                log.append(.error, "the data directory of \(bundle) could not be renamed: \(error)")
            }
        }
    }
}

extension HostConfiguration {
    /// Where the log of events is.
    var recordingDirectory: String { stateDirectory + "/recording" }
}
