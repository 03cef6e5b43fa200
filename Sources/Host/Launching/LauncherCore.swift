import LinuxSystem
import NIOCore
import RunnerWire
import TaskModel

/// Performs what ``LaunchLife``, ``TemplateBook`` and ``CPUMonitor`` decide.
///
/// Confined to one event loop.
final class LauncherCore: @unchecked Sendable {
    // Unchecked: everything is touched on `loop` only.
    let loop: any EventLoop
    let moments: any MomentSource
    let isolation: GroupKill
    let cores = ProcessorCount.available
    let events: AsyncStream<LaunchEvent>.Continuation
    /// Starts another launcher after one died; called off the loop.
    var replaceLauncher: (@Sendable () -> Void)?
    /// Called once, when the host's shut-down is complete.
    var onEnd: (@Sendable () -> Void)?

    var link: LauncherLink?
    var groups: GroupPool?
    var launches: [UInt64: RunningLaunch] = [:]
    var book = TemplateBook()
    private var templateTimers: [UInt64: Scheduled<Void>] = [:]
    private var templateGroups: [UInt64: ControlGroup] = [:]
    private var isRetryingSend = false
    private(set) var isShuttingDown = false

    init(
        loop: any EventLoop, moments: any MomentSource, isolation: GroupKill, groups: GroupPool?,
        events: AsyncStream<LaunchEvent>.Continuation
    ) {
        self.loop = loop
        self.moments = moments
        self.isolation = isolation
        self.groups = groups
        self.events = events
    }

    func tell(_ event: LaunchEvent) { events.yield(event) }

    func after(_ time: Duration, _ body: @escaping @Sendable () -> Void) -> Scheduled<Void> {
        loop.scheduleTask(in: .nanoseconds(max(0, time.wholeNanoseconds)), body)
    }

    func send(_ message: some WireMessage) throws(WireError) {
        guard let link else { return }
        if try link.send(message) { retrySend() }
    }

    /// The launcher's socket is full, which only a storm of launches does: try again until it is not.
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
        let launch = RunningLaunch(order)
        launches[launch.number] = launch
        // Without a launcher it waits: one that died is being replaced.
        if link != nil { prepare(launch) }
    }

    func expire(_ id: LaunchID, _ reason: Reason) {
        if let launch = find(id) { handle(.expire(reason), launch) }
    }

    func kill(_ id: LaunchID, _ reason: Reason, _ message: String) {
        if let launch = find(id) { handle(.kill(reason, message: message), launch) }
    }

    func find(_ id: LaunchID) -> RunningLaunch? { launches[UInt64(bitPattern: id.rawValue)] }

    /// Feeds the machine and performs what it answers.
    func handle(_ event: LaunchLife.Event, _ launch: RunningLaunch) {
        for action in launch.life.handle(event) { perform(action, launch) }
    }

    private func perform(_ action: LaunchLife.Action, _ launch: RunningLaunch) {
        switch action {
        case .prepare: prepare(launch)
        case .spawn: spawn(launch)
        case .sendStart: sendStart(launch)
        case .beginRun: beginRun(launch)
        case .climb(let ladder): climb(ladder[...], launch)
        case .awaitExit:
            let time = launch.openAssertions.isEmpty ? Self.exitTime : Self.assertionTime
            setLifeTimer(time, launch) { .tidyingEnded }
        case .kill:
            launch.lifeTimer?.cancel()
            launch.wasKilled = true
            try? send(KillMessage(launch: launch.number))
        case .end(let end): finish(launch, end)
        }
    }

    /// How long a task may stay after completion, or after its last assertion, until it has exited.
    static let exitTime = Duration.seconds(5)
    /// How long a task that holds an assertion at its completion may stay: the 30 s of assertions, then exiting.
    static let assertionTime = Duration.seconds(35)

    func setLifeTimer(
        _ time: Duration, _ launch: RunningLaunch, _ event: @escaping @Sendable () -> LaunchLife.Event
    ) {
        launch.lifeTimer?.cancel()
        launch.lifeTimer = after(time) { [self] in handle(event(), launch) }
    }

    private func climb(_ ladder: ArraySlice<LadderStep>, _ launch: RunningLaunch) {
        guard let step = ladder.first else { return }
        let rest = ladder.dropFirst()
        switch step {
        case .expire(let reason):
            let now = moments.now()
            let grace = launch.order.limits.lease.gracePeriod
            let message = ExpireMessage(
                reason: reason.rawValue, grace: UInt64(grace.wholeMilliseconds),
                deadline: (now.monotonic + grace).wholeNanoseconds)
            if let frame = try? launch.encoder.encode(message) { launch.control?.send(frame) }
            tell(.expiring(launch.id, reason, at: now))
            climb(rest, launch)
        case .wait(let time):
            launch.lifeTimer?.cancel()
            launch.lifeTimer = after(time) { [self] in climb(rest, launch) }
        case .kill:
            handle(.graceEnded, launch)
        }
    }

    // MARK: Templates

    func prepare(_ launch: RunningLaunch) {
        let key = TemplateKey(launch.order)
        switch book.request(key, for: launch.id) {
        case .ready(let id):
            launch.template = id
            handle(.templateReady, launch)
        case .wait(let id):
            launch.template = id
        case .start(let id):
            launch.template = id
            // It is spawned from its settings without ever being loaded as a template.
            startTemplate(id, launch.order)
        }
    }

    private func startTemplate(_ id: UInt64, _ order: LaunchOrder) {
        var message = TemplateMessage(
            template: id, library: order.libraryPath, directory: order.dataDirectory, isolation: isolation)
        message.environment = order.environment
        message.niceness = order.niceness == 0 ? nil : Int64(order.niceness)
        message.limits = [.init(resource: 4, soft: 0, hard: 0), .init(resource: 7, soft: 1024, hard: 4096)]
        do {
            if let group = try groups?.makeForTemplate() {
                templateGroups[id] = group
                message.cgroup = group.path
            }
            try send(message)
        } catch {
            templateFailed(id, "its settings can't be sent: \(error)", nil)
            return
        }
        templateTimers[id] = after(LaunchLife.loadDeadline) { [self] in
            templateTimers[id] = nil
            try? send(KillTemplateMessage(template: id))
            for launch in removeTemplate(id) { handle(.loadDeadlinePassed, launch) }
        }
    }

    private func waiting(_ ids: [LaunchID]) -> [RunningLaunch] { ids.compactMap(find) }

    private func templateReady(_ id: UInt64, _ isCloneable: Bool) {
        templateTimers.removeValue(forKey: id)?.cancel()
        for launch in waiting(book.ready(id, isCloneable: isCloneable)) { handle(.templateReady, launch) }
    }

    private func templateFailed(_ id: UInt64, _ finding: String, _ status: ExitStatus?) {
        templateTimers.removeValue(forKey: id)?.cancel()
        let text = OutputLines.harmless(finding)
        for launch in removeTemplate(id) {
            handle(.templateFailed(finding: text, status: status), launch)
        }
    }

    /// Forgets a template; returns the launches that waited for it.
    private func removeTemplate(_ id: UInt64) -> [RunningLaunch] {
        if let group = templateGroups.removeValue(forKey: id) { groups?.discard(group) }
        return waiting(book.remove(id))
    }

    /// Ends the templates of a bundle, or all; their running tasks go on.
    func retire(_ bundle: BundleIdentifier?) {
        for id in book.ready(of: bundle) { retireTemplate(id) }
    }

    private func retireTemplate(_ id: UInt64) {
        try? send(RetireMessage(template: id))
        // Who waits for it can't be: only loaded ones are retired.
        for launch in removeTemplate(id) { handle(.spawnFailed(finding: "its template was retired"), launch) }
    }

    // MARK: Processes

    private func spawn(_ launch: RunningLaunch) {
        guard let id = launch.template, let template = book.templates[id] else {
            handle(.spawnFailed(finding: "its template is gone"), launch)
            return
        }
        do {
            if launch.group == nil, var pool = groups {
                launch.group = try pool.acquire()
                groups = pool
            }
            if let group = launch.group {
                let clock = try ControlGroupClock(of: group)
                launch.usageBefore = clock.usage() ?? .zero
                launch.clock = clock
            }
            try send(
                SpawnMessage(
                    launch: launch.number, template: id, cgroup: launch.group?.path,
                    subprocesses: launch.order.subprocesses,
                    fresh: launch.order.fresh || !template.isCloneable,
                    memory: UInt64(launch.order.limits.memory.bytes)))
        } catch {
            handle(.spawnFailed(finding: "\(error)"), launch)
            return
        }
        if book.countLaunch(of: id) { retireTemplate(id) }
    }

    func received(_ report: LauncherReport, _ descriptors: [CInt]) {
        switch report {
        case .hello:
            break
        case .spawned(let message):
            spawned(message, descriptors)
        case .exited(let message):
            if let launch = launches[message.launch] { exited(launch, message) }
        case .templateReady(let message):
            templateReady(message.template, message.isCloneable)
        case .templateFailed(let message):
            templateFailed(
                message.template, message.finding, message.waitStatus.map(ExitStatus.init(waitStatus:)))
        case .spawnFailed(let message):
            guard let launch = launches[message.launch] else { return }
            // A template that can't clone any more is of no use to the next launch either.
            if let id = launch.template, book.templates[id]?.isReady == true { retireTemplate(id) }
            handle(.spawnFailed(finding: OutputLines.harmless(message.finding)), launch)
        case .unkillable(let message):
            guard let launch = launches[message.launch] else { return }
            handle(.unkillable, launch)
            tell(.unkillable(launch.id))
        }
    }

    private func spawned(_ message: SpawnedMessage, _ descriptors: [CInt]) {
        guard let launch = launches[message.launch], descriptors.count == SpawnedMessage.descriptorCount
        else {
            descriptors.forEach { _ = OwnedDescriptor(taking: $0) }
            return
        }
        launch.process = ProcessHandle(taking: OwnedDescriptor(taking: descriptors[0]))
        launch.pid = Int32(truncatingIfNeeded: message.pid)
        launch.control = ControlPipe(descriptors[1], on: loop)
        open(launch, report: descriptors[2], stdout: descriptors[3], stderr: descriptors[4])
        tell(.started(launch.id, pid: Int32(truncatingIfNeeded: message.pid)))
        handle(.spawned, launch)
    }

    private func sendStart(_ launch: RunningLaunch) {
        do {
            launch.control?.send(try launch.startFrames(at: moments.now()))
            setLifeTimer(LaunchLife.loadDeadline, launch) { .loadDeadlinePassed }
        } catch {
            handle(.violation(finding: "its launch can't be sent: \(error)", code: nil), launch)
        }
    }

    private func beginRun(_ launch: RunningLaunch) {
        if launch.life.stage == .running { launch.lifeTimer?.cancel() }
        let now = moments.now()
        tell(.ready(launch.id, at: now))
        launch.monitor = CPUMonitor(
            limit: launch.order.limits.cpu, cores: cores, at: now.monotonic, usage: launch.cpuTime().0)
        scheduleMonitor(launch)
    }

    // MARK: Ends

    private func exited(_ launch: RunningLaunch, _ message: ExitedMessage) {
        launch.exit = message
        if launch.openPipes == 0 {
            concludeExit(launch)
            return
        }
        // Its group is empty, so all its ends of the pipes are closed: this only bounds a leak of somebody else.
        launch.closingTimer = after(.seconds(2)) { [self] in
            launch.channels.forEach { $0.close(promise: nil) }
            launch.openPipes = 0
            concludeExit(launch)
        }
    }

    func concludeExit(_ launch: RunningLaunch) {
        guard let exit = launch.exit, launch.life.stage != .ended else { return }
        handle(
            .exited(ExitStatus(waitStatus: exit.waitStatus), leftovers: Int(clamping: exit.leftovers)), launch
        )
    }

    private func finish(_ launch: RunningLaunch, _ end: LaunchEnd) {
        launch.cancelTimers()
        tellNews(launch)
        finishOutput(launch)
        launch.control?.close()
        launch.channels.forEach { $0.close(promise: nil) }
        book.forget(launch.id)
        launches[launch.number] = nil
        let (cpuTime, isLowerBound) = launch.cpuTime()
        if let group = launch.group {
            let wasKilled = launch.wasKilled || (launch.exit.map { $0.leftovers > 0 } ?? true)
            if wasKilled { groups?.discard(group) } else { groups?.release(group) }
        }
        let peak = max(launch.peakResident, Int64(clamping: launch.exit?.maximumResident ?? 0))
        tell(
            .ended(
                launch.id, end, cpuTime: cpuTime, cpuIsLowerBound: isLowerBound && launch.pid != nil,
                peakMemory: peak > 0 ? ByteCount(bytes: peak) : nil, at: moments.now()))
    }

    // MARK: The launcher's own life

    /// A launcher has said hello.
    func connected(_ link: LauncherLink) {
        self.link = link
        if isShuttingDown {
            link.endSending()
            return
        }
        for launch in launches.values.sorted(by: { $0.number < $1.number })
        where launch.life.stage == .waiting {
            prepare(launch)
        }
    }

    /// The launcher is gone: what ran is emptied off the loop, then told as lost.
    func disconnected(_ message: String) {
        link = nil
        book.removeAll()
        templateTimers.values.forEach { $0.cancel() }
        templateTimers = [:]
        templateGroups = [:]
        let base = groups?.base
        let running = launches.values.filter {
            $0.life.stage != .waiting || isShuttingDown || $0.template != nil
        }
        let processes = running.compactMap(\.process)
        if !isShuttingDown { tell(.launcherDied(message: message)) }
        BlockingThread.start(named: "bgtask-sweep") { [self] in
            if let base { try? GroupPool.empty(base) }
            for process in processes {
                process.kill()
                _ = process.waitForEnd(timeoutMilliseconds: 5000)
            }
            loop.execute { [self] in swept(running, message) }
        }
    }

    private func swept(_ running: [RunningLaunch], _ message: String) {
        // The sweep removed the pool's directories.
        if let base = groups?.base { groups = try? GroupPool(base: base) }
        for launch in running.sorted(by: { $0.number < $1.number }) {
            launch.group = nil
            handle(.launcherDied(message: message), launch)
        }
        if isShuttingDown {
            groups?.remove()
            conclude()
        } else {
            replaceLauncher?()
        }
    }

    /// No launcher can be had: nothing waits for one any more.
    func giveUp(_ message: String) {
        if !isShuttingDown { tell(.launcherUnavailable(message: message)) }
        for launch in launches.values.sorted(by: { $0.number < $1.number }) {
            handle(.launcherDied(message: message), launch)
        }
    }

    /// Lets the launcher drain and end.
    func shutDown() {
        isShuttingDown = true
        guard let link else {
            giveUp("the host stops")
            conclude()
            return
        }
        link.endSending()
    }

    private func conclude() {
        events.finish()
        onEnd?()
        onEnd = nil
    }
}
