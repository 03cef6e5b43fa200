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
import Synchronization
import SystemConditions
public import TaskModel

/// The host: connects ``HostCore`` to the real system.
///
/// All inputs go into one inbox. A pass gives them to the core one after the other, and this actor performs
/// the effects of each. It never suspends during a pass, so no other input comes in between. The writes of
/// one pass share a commit, and writes during a commit share the next one. The actor runs on the thread that
/// also serves the launches.
public actor TaskHost: Service {
    /// The thread on which this actor runs.
    private nonisolated let loop = HostLoop()
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    nonisolated let configuration: HostConfiguration
    private nonisolated let inbox: Inbox
    nonisolated let moments: any MomentSource
    nonisolated let log: HostLog
    nonisolated let happenings = Broadcaster<HostEvent>()
    /// Says that the manifests have changed.
    nonisolated let registryNews = Broadcaster<Void>()
    /// Why the listener for pushes can't listen; `nil` if it does, or if there is none.
    nonisolated let pushProblem = Mutex<ManifestProblem?>(nil)
    nonisolated let settingsFiles: SettingsFiles
    nonisolated let sensors: ConditionSensors
    nonisolated let launcher: TaskLauncher
    nonisolated let worker: HostWorker
    nonisolated let stored: StoredLaunches
    nonisolated let transferDesk: TransferDesk
    private let store: any RequestStore
    private let closeStore: @Sendable (WallTime) async throws -> Void
    nonisolated let registry: HandlerRegistry
    private let directories: StateDirectories
    private let timer: WakeTimer
    /// The recorder of the scheduler's events; `nil` if the host records nothing.
    private let recorder: EventRecorder?

    /// The core, which makes all decisions.
    private(set) var core = HostCore()
    private var isFollowed = false
    /// When a call or a report of a launch was last handled, on CLOCK_BOOTTIME; `nil` if there was none.
    public private(set) var lastWork: Duration?
    private var writes = WaitingWrites()
    /// The orders about transfers that one input causes; they are performed together.
    private var transferOrders: [TransferOrder] = []
    private var localTime = KnownLocalTime()
    private var calls = WaitingCalls()
    private var clients = ClientConnections()
    private var sleepDelay: SleepDelay?
    private let (drained, drainedContinuation) = AsyncStream.makeStream(of: Void.self)

    /// Opens the store and creates all parts of the host; starts no launcher and no launch.
    ///
    /// - Parameters:
    ///   - configuration: The paths and settings of the host.
    ///   - settings: The configuration files, which the host reads again when they change.
    ///   - logger: The log of this process.
    ///   - moments: The clocks that the host reads.
    /// - Throws: The error that prevents the start, as a sentence for people; for example, about a second
    ///   host, a damaged store or a directory.
    public init(
        configuration: HostConfiguration, settings: SettingsFiles, logger: Logger,
        moments: any MomentSource = SystemClocks()
    ) async throws {
        let log = HostLog(logger: logger, moments: moments)
        let configuration = try configuration.prepared(log)
        let directories = StateDirectories(root: configuration.stateDirectory)
        try directories.checkTrust(
            runner: configuration.runnerPath, transferProgram: configuration.transferPath
        ).forEach { log.append(.warning, $0) }
        (self.configuration, self.moments, self.log) = (configuration, moments, log)
        (self.directories, settingsFiles) = (directories, settings)
        let store = try SQLiteRequestStore.open(
            directory: configuration.stateDirectory, socket: configuration.socketPath, at: moments.now().wall)
        self.store = store
        stored = StoredLaunches(store: store)
        for warning in store.opening.warnings { log.append(.warning, warning) }
        closeStore = { try await store.close(at: $0) }
        registry = configuration.makeRegistry()
        sensors = configuration.makeSensors(moments, log)
        recorder = try configuration.makeRecorder(log)
        let inbox = Inbox(on: loop)
        self.inbox = inbox
        launcher = TaskLauncher(configuration: configuration.launching(moments, log), on: loop) {
            inbox.put(.launch($0))
        }
        transferDesk = TransferDesk(configuration: configuration, log: log, inbox: inbox)
        timer = try WakeTimer()
        worker = HostWorker(
            configuration: configuration, directories: directories, registry: registry, sensors: sensors,
            inbox: inbox)
        inbox.serve { [weak self] in self?.assumeIsolated { $0.takeIn() } }
    }

    // MARK: Start and stop

    /// Serves until the service group asks for a graceful shutdown and every launch has ended.
    ///
    /// - Throws: The error that prevented the start.
    public func run() async throws {
        let recording = Task { await recorder?.run() }
        let logging = logs.begin()
        // If the host can't begin, the callers that wait are refused.
        defer { calls.refuse() }
        if configuration.bundleUsers != nil, FileContents.isRoot { try directories.openForUsers() }
        try await launcher.start()
        // No task of an earlier host runs any more.
        worker.removeInBackground(try directories.setTemporaryAside())
        if let users = launcher.processes.users { try worker.giveUsers(from: users) }
        let beginning = try await BeginningReader(
            configuration: configuration, settingsFiles: settingsFiles, moments: moments, log: log,
            store: store, registry: registry, sensors: sensors, directories: directories,
            isolation: launcher.isolation
        ).read()
        localTime = KnownLocalTime(beginning.localTimeChanges)
        // The list must be read before the recorder adds a new file.
        let recordings =
            recorder == nil ? [] : (try? RecordedLog.files(in: configuration.recordingDirectory)) ?? []
        recorder?.begin(at: moments.now(), isContinued: false)
        let changes = try registry.changes()
        let settingsChanges = try settingsFiles.changes()
        transferDesk.begin(layers: launcher.isolation.sandbox, user: worker.userOfTransfers())
        inbox.open(with: .begin(beginning))
        takeIn()
        calls.admit()
        worker.readHistory(in: recordings, since: moments.now().wall + (.zero - ConditionHistory.span))
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                // The tasks of this group read the newest snapshot of the manifests and of the settings, and
                // not the element of the stream: an older element must not replace a newer snapshot.
                group.addTask {
                    for await _ in changes {
                        self.hear(.registered(self.registry.latest))
                        self.registryNews.send(())
                    }
                }
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
                transferDesk.shutDown()
                await launcher.shutDown()
            }
        } onGracefulShutdown: {
            Task { await self.stop() }
        }
        calls.refuse()
        timer.cancel()
        recorder?.finish()
        await recording.value
        log.append(.notice, "stopped")
        happenings.finish()
        log.finish()
        await logging.value
        do {
            try await closeStore(moments.now().wall)
        } catch {
            log.append(.error, "the store was not closed, so the next host checks all of it: \(error)")
        }
    }

    /// Begins to stop: no launch starts any more, and launches under way expire with `hostShutdown`.
    public func stop() async { hear(.stop) }

    /// Kills all launches under way, for a user who does not want to wait for ``stop()``.
    ///
    /// The host then ends within 10 s, even if a process can't be killed.
    public func killAll() {
        hear(.killAll)
        launcher.abandon()
    }

    // MARK: The inbox

    /// Adds an input to the inbox, from any thread.
    nonisolated func hear(_ input: HostInput) { inbox.put(input) }

    /// Adds an input to the inbox, and lets the core handle all inputs before this function returns.
    func hearNow(_ input: HostInput) {
        inbox.put(input)
        takeIn()
    }

    /// Performs a pass: the core handles all inputs in the inbox, and then the writes are committed.
    ///
    /// Log lines and recorded events come last, because launches and commits must not wait for them.
    private func takeIn() {
        noticeFollowers()
        var notes: [(effect: HostEffect, at: Moment)] = []
        while let next = inbox.take() {
            let now = moments.now()
            if next.isWork { lastWork = now.boot }
            for effect in core.handle(newest(next), at: now) {
                if effect.isNote { notes.append((effect, now)) } else { perform(effect, at: now) }
            }
            performTransferOrders()
        }
        commitWrites()
        for note in notes { perform(note.effect, at: note.at) }
        // A recap shows the scheduler as its last event left it, so it has that event's date. A later date
        // would let a replay start the requests that became ripe in between earlier than the host did.
        if let recorder, let last = notes.last(where: \.effect.isRecorded)?.at,
            recorder.wantsSegment(at: last, pending: core.counts.pending),
            let events = core.recap(at: last.wall)
        {
            recorder.begin(at: last, isContinued: true)
            recorder.record(events, at: last)
        }
    }

    /// Replaces the manifests, conditions or settings in an input by the newest ones, because inputs of
    /// different threads may come in the wrong order.
    private func newest(_ input: HostInput) -> HostInput {
        switch input {
        case .scanned(let ticket, _): .scanned(ticket, registry.latest)
        case .registered: .registered(registry.latest)
        case .conditions: .conditions(sensors.snapshot())
        case .settings: .settings(settingsFiles.latest)
        default: input
        }
    }

    /// Passes a call to the core, and waits for the answer.
    func ask(_ call: HostCall) async -> HostAnswer {
        await untilBegun()
        return await ask(call, as: calls.makeID())
    }

    private func ask(_ call: HostCall, as id: CallID) async -> HostAnswer {
        await withCheckedContinuation { caller in
            // The host can have ended since the beginning was awaited, because this function may be suspended
            // before this point: its caller can run on another executor.
            if calls.awaitAnswer(to: id, caller) { hearNow(.call(id, call)) }
        }
    }

    /// Returns when the host has begun, or has failed to begin.
    func untilBegun() async {
        if calls.areAdmitted { return }
        await withCheckedContinuation { calls.awaitAdmission($0) }
    }

    private func noticeFollowers() {
        guard happenings.hasListeners != isFollowed else { return }
        isFollowed.toggle()
        inbox.putFirst(.followed(isFollowed))
    }

    /// Commits the writes that wait, unless a commit is under way.
    private func commitWrites() {
        guard let (tickets, writes) = writes.begin() else { return }
        store.commit(writes) { [loop] results in
            loop.execute { self.assumeIsolated { $0.committed(tickets, results) } }
        }
    }

    private func committed(
        _ tickets: [StoreTicket], _ results: [Result<StoreAnswer, StoreRefusal>]
    ) {
        writes.end()
        // The answers must come in the order of the writes.
        inbox.put(contentsOf: zip(tickets, results).map { .stored($0, $1) })
        takeIn()
    }

    private func timePassed() {
        for input in localTime.inputs(at: moments.now().wall) { hear(input) }
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
        case .store(let ticket, let write): writes.add(write, ticket)
        case .note(let note, let id): store.note(note, of: id, at: now)
        case .launch(let order): launcher.launch(order)
        case .expire(let id, let reason): launcher.expire(id, reason: reason)
        case .kill(let id, let reason, let message): launcher.kill(id, reason: reason, message: message)
        case .setCPULimit(let id, let limit): launcher.setCPULimit(id, limit)
        case .setPriority(let id, let priority): launcher.setPriority(id, priority)
        case .setConditions(let id, let conditions): launcher.setConditions(id, conditions)
        case .reply(let id, let call, let result): launcher.reply(id, call: call, result)
        case .replyToSession(let id, let call, let result): launcher.reply(id, sessionCall: call, result)
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
        case .recordPending(let requests): recorder?.record(pending: requests, at: now)
        case .recordSleep(let sleeps):
            recorder?.record(RecordedEntry(at: now, sleeps ? .willSleep : .hasWoken))
        case .transfer(let order): transferOrders.append(order)
        case .work(let work): worker.start(work)
        case .arm(let wake):
            timer.set(bootAt: wake.boot, wallAt: wake.wall)
            worker.setMachineAlarm(wake.machine)
        case .letSleep: sleepDelay?.release()
        case .drained: drainedContinuation.finish()
        }
    }

    private func performTransferOrders() {
        if transferOrders.isEmpty { return }
        transferDesk.perform(transferOrders)
        transferOrders = []
    }

    private func answer(_ call: CallID, _ answer: HostAnswer) {
        if case .connected(let id) = answer {
            clients.admit(id, by: call) { [weak self] in self?.hear(.clientLeft(id)) }
        }
        calls.answer(call, with: answer)
    }

    /// Registers a client; `HostControl` documents this function.
    public func connect(
        _ identifiers: [IdentifierPattern], from process: Int32
    ) async throws(SubmissionError) -> AsyncStream<ClientCall> {
        let peer = try ClientConnections.Peer(of: process)
        await untilBegun()
        let call = calls.makeID()
        clients.join(peer, by: call)
        let answer = await ask(.connect(identifiers, process: process), as: call)
        let stream = clients.takeStream(of: call)
        if case .refused(let error) = answer { throw error }
        return stream ?? AsyncStream { $0.finish() }
    }
}
