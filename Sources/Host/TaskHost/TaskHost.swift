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
/// Everything that happens is put into one inbox; the core takes one input after the other, and this actor
/// performs what the core says. It waits for nothing meanwhile, so no input comes in between. Writes of one
/// pass are one commit, and those that come while it is under way are the next one. It runs on the thread
/// that also attends to the launches.
public actor TaskHost: Service {
    /// Where this actor runs.
    private nonisolated let loop = HostLoop()
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    nonisolated let configuration: HostConfiguration
    private nonisolated let inbox: Inbox
    nonisolated let moments: any MomentSource
    nonisolated let log: HostLog
    nonisolated let happenings = Broadcaster<HostEvent>()
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
    private var clients = ClientConnections()
    private var sleepDelay: SleepDelay?
    private let (drained, drainedContinuation) = AsyncStream.makeStream(of: Void.self)

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
        let missing = configuration.missingDirectories
        let configuration = try configuration.madeReal()
        self.configuration = configuration
        settingsFiles = settings
        self.moments = moments
        let log = HostLog(logger: logger, moments: moments)
        self.log = log
        for directory in missing { log.append(.notice, "\(directory) was missing; created it, empty") }
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
        let inbox = Inbox(on: loop)
        self.inbox = inbox
        launcher = TaskLauncher(configuration: launching, on: loop) { inbox.put(.launch($0)) }
        timer = try WakeTimer()
        let directories = StateDirectories(root: configuration.stateDirectory)
        self.directories = directories
        worker = HostWorker(
            configuration: configuration, directories: directories, registry: registry, sensors: sensors,
            inbox: inbox)
        recorder = try configuration.recordingSize.map { size in
            try EventRecorder(
                directory: configuration.recordingDirectory, limit: ByteCount(bytes: size),
                onProblem: { log.append(.warning, $0) })
        }
        inbox.serve { [weak self] in self?.assumeIsolated { $0.takeIn() } }
    }

    // MARK: Life

    /// Serves until the service group asks for a graceful shutdown and every launch has ended.
    ///
    /// - Throws: What kept the host from starting.
    public func run() async throws {
        let recording = Task { await recorder?.run() }
        // Callers that wait learn that the host is not serving, if it can't begin.
        defer { end() }
        try await launcher.start()
        let beginning = try await beginningReader.read()
        // Before the recorder adds a file of its own.
        let recordings =
            recorder == nil ? [] : (try? RecordedLog.files(in: configuration.recordingDirectory)) ?? []
        recorder?.begin(at: moments.now(), isContinued: false)
        let changes = try registry.changes()
        let settingsChanges = try settingsFiles.changes()
        inbox.open(with: .begin(beginning))
        takeIn()
        endWaiting()
        worker.readHistory(in: recordings, since: moments.now().wall + (.zero - ConditionHistory.span))
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                // Snapshots are asked for when they are taken in, so that an older one can't come last.
                group.addTask { for await _ in changes { self.hear(.registered(self.registry.latest)) } }
                group.addTask {
                    for await _ in settingsChanges { self.hear(.settings(self.settingsFiles.latest)) }
                }
                group.addTask {
                    for await conditions in self.sensors.changes() { self.hear(.conditions(conditions)) }
                }
                group.addTask { for await notice in self.sensors.sleepNotices() { await self.hear(notice) } }
                group.addTask { for await _ in self.timer.wakes { await self.timePassed() } }
                for await _ in drained { break }
                group.cancelAll()
                worker.stopWatching()
                await launcher.shutDown()
            }
        } onGracefulShutdown: {
            Task { await self.stop() }
        }
        end()
        timer.cancel()
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

    // MARK: The inbox

    /// Has the core take an input in, after those that came before; any thread.
    nonisolated func hear(_ input: HostInput) { inbox.put(input) }

    /// Has the core take an input in before this returns.
    func hearNow(_ input: HostInput) {
        inbox.put(input)
        takeIn()
    }

    /// Has the core take everything in that was heard.
    private func takeIn() {
        noticeFollowers()
        while let next = inbox.take() {
            let now = moments.now()
            for effect in core.handle(newest(next), at: now) { perform(effect, at: now) }
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
        guard !hasEnded else { return .hostHasStopped }
        return await withCheckedContinuation { caller in
            callers[id] = caller
            hearNow(.call(id, call))
        }
    }

    /// Returns when the host has begun: those who call earlier wait for their answer instead of getting a
    /// wrong one.
    func untilBegun() async {
        if hasBegun { return }
        await withCheckedContinuation { beginWaiters.append($0) }
    }

    /// Refuses calls that can no longer be answered.
    private func end() {
        hasEnded = true
        endWaiting()
        for caller in callers.values { caller.resume(returning: .hostHasStopped) }
        callers = [:]
    }

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
        inbox.putFirst(.followed(isFollowed))
    }

    /// Commits everything that waits, unless a commit is under way: then that one's end does.
    private func commit() {
        guard !isCommitting, !writes.isEmpty else { return }
        isCommitting = true
        let batch = writes
        writes = []
        store.commit(batch.map(\.write)) { [loop] results in
            loop.execute { self.assumeIsolated { $0.committed(batch.map(\.ticket), results) } }
        }
    }

    private func committed(
        _ tickets: [StoreTicket], _ results: [Result<StoreAnswer, StoreRefusal>]
    ) {
        isCommitting = false
        // In the order of the writes: the core goes on from each answer to the next.
        inbox.put(contentsOf: zip(tickets, results).map { .stored($0, $1) })
        takeIn()
    }

    private func continueRecording(at now: Moment) {
        guard let recorder, recorder.wantsSegment(at: now), let events = core.recap else { return }
        recorder.begin(at: now, isContinued: true)
        for event in events { recorder.record(event, at: now) }
    }

    private func timePassed() {
        let offset = ProcessFacts.localTimeOffset(at: moments.now().wall)
        hear(.timePassed(localTimeOffset: .seconds(offset)))
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
            Task { if let usage = await launcher.usage(of: id) { hear(.measured(id, usage.cpuTime)) } }
        case .notifyClient(let id, let call): clients.notify(id, call)
        case .closeClient(let id): clients.close(id)
        case .measureClient(let launch, let id):
            if let client = clients[id] { worker.measure(client.number, for: launch) }
        case .awaitClientEnd(let id): worker.awaitEnd(of: clients.close(id)?.handle, of: id)
        case .answer(let call, let answer): self.answer(call, answer)
        case .publish(let event): happenings.send(event)
        case .log(let line): log.append(line)
        case .record(let event): recorder?.record(event, at: now)
        case .recordSleep(let sleeps):
            recorder?.record(RecordedEntry(at: now, sleeps ? .willSleep : .hasWoken))
        case .work(let work): worker.start(work)
        case .arm(let wake):
            timer.set(bootAt: wake.boot, wallAt: wake.wall)
            worker.setMachineAlarm(wake.machine)
        case .letSleep: sleepDelay?.release()
        case .drained: drainedContinuation.finish()
        }
    }

    private func answer(_ call: CallID, _ answer: HostAnswer) {
        if case .connected(let id) = answer {
            clients.admit(id, by: call) { [weak self] in self?.hear(.clientLeft(id)) }
        }
        callers.removeValue(forKey: call)?.resume(returning: answer)
    }

    /// Registers a client; see `HostControl`.
    public func connect(
        _ identifiers: [IdentifierPattern], from process: Int32
    ) async throws(SubmissionError) -> AsyncStream<ClientCall> {
        let peer = try ClientConnections.Peer(of: process)
        await untilBegun()
        let call = nextCall()
        clients.join(peer, by: call)
        let answer = await ask(.connect(identifiers, process: process), as: call)
        let stream = clients.takeStream(of: call)
        if case .refused(let error) = answer { throw error }
        return stream ?? AsyncStream { $0.finish() }
    }

    private var beginningReader: BeginningReader {
        BeginningReader(
            configuration: configuration, settingsFiles: settingsFiles, moments: moments, log: log,
            store: store, registry: registry, sensors: sensors, directories: directories,
            isolation: launcher.isolation.groupKill.rawValue)
    }
}
