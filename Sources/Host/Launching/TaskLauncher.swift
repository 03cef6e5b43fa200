public import LinuxSystem
import NIOCore
import RunnerWire
import Synchronization
public import TaskModel

/// Starts launches in isolated processes, exchanges messages with them, and ends them.
///
/// The work happens on the thread of a ``HostLoop``. Two more threads wait: for reports from the launcher
/// process, and for signals that stop it. Without launches, no thread wakes up. All methods may be called
/// from any thread, and return immediately unless they are `async`.
public final class TaskLauncher: Sendable {
    /// The settings of a task launcher.
    public struct Configuration: Sendable {
        /// The path of the `bgtask-runner` program.
        public var runnerPath: String
        /// The host's state directory: it contains `launcher.lock`, and its hash names the host's cgroup.
        public var stateDirectory: String
        /// How all processes of a launch are ended; `nil` selects the strongest available isolation.
        public var groupKill: GroupKill?
        /// The numbers of the users of bundles, of which ``LaunchPlace/user`` is one; `nil` if launches run
        /// as the host's user.
        public var users: ClosedRange<UInt32>?
        /// How long a loaded template stays without a launch: 5 min.
        ///
        /// Our choice: longer than the pauses in a burst of launches, but shorter than the 15 min
        /// between refreshes.
        public var templateIdleTime = Duration.seconds(300)
        /// The largest number of templates; `nil` calculates it from the limit of descriptors.
        ///
        /// If there are more, the loaded one that was not used for longest ends.
        public var maximumTemplates: Int?
        /// How long the launcher process may take to answer an order before it is killed and replaced: 15 s.
        ///
        /// Our choice: three times the 5 s after which it reports a process that can't be killed.
        public var answerTime = Duration.seconds(15)
        /// The layers of the sandbox that are left out, although the machine has them; only tests, which
        /// check what each layer holds, leave any out.
        var withoutLayers: Set<SandboxLayer> = []
        /// Whether the record of a launch contains the calls that the sandbox refused; only tests and
        /// benchmarks, which compare, leave that out.
        var recordsCalls = true
        /// How often the space of a bundle's directories is counted while a launch with a limit runs: 10 s.
        ///
        /// Our choice: counting 100,000 files takes about 0.1 s.
        var storageInterval = Duration.seconds(10)
        /// How many processes and threads the launches of one bundle may have together: 8192.
        ///
        /// Our choice: a quarter of the numbers of a small machine. It holds where launches have a user of
        /// their own, or a user namespace.
        var processLimit: UInt64 = 8192
        /// What the launches of a bundle may make the host do by what they send and print.
        var messageRate = MessageAllowances.Rate()
        /// Whether launches run as root, unless their bundles have users; only tests, whose launcher runs as
        /// another user, set it.
        var runsAsRoot = ProcessFacts.isRoot
        /// The source of the clocks.
        public var moments: any MomentSource
        /// Called on any thread if an earlier launcher still holds the lock; ``start()`` then waits for it.
        public var onWaiting: @Sendable (String) -> Void

        /// Creates a configuration.
        public init(
            runnerPath: String, stateDirectory: String, groupKill: GroupKill? = nil,
            moments: any MomentSource,
            onWaiting: @escaping @Sendable (String) -> Void = { _ in }
        ) {
            self.runnerPath = runnerPath
            self.stateDirectory = stateDirectory
            self.groupKill = groupKill
            self.moments = moments
            self.onWaiting = onWaiting
        }
    }

    private let configuration: Configuration
    private let onEvent: @Sendable (LaunchEvent) -> Void
    private let hostLoop: HostLoop
    private var loop: any EventLoop { hostLoop.loop }
    private let state = Mutex(State())

    private struct State {
        var core: LauncherCore?
        /// The parent of the groups of all templates and launches; `nil` without cgroups.
        var groups: ControlGroup?
        var isolation: IsolationReport?
        var processes = LaunchedProcesses()
        var failedStarts = 0
        /// Callers of ``shutDown()`` that wait for the end.
        var awaitingEnd: [CheckedContinuation<Void, Never>] = []
        var hasEnded = false
    }

    /// After how many failed starts the host is notified that there is no launcher; the attempts continue.
    private static let reportedFailedStarts = 5

    /// Creates a task launcher; ``start()`` starts it.
    ///
    /// - Parameters:
    ///   - configuration: The settings.
    ///   - loop: The event loop on which it works.
    ///   - onEvent: Called on the loop with the events of all launches; those of one launch are in order.
    public init(
        configuration: Configuration, on loop: HostLoop = HostLoop(),
        onEvent: @escaping @Sendable (LaunchEvent) -> Void
    ) {
        self.configuration = configuration
        self.onEvent = onEvent
        hostLoop = loop
    }

    /// The isolation that is used, and all layers that were probed; no layers before ``start()``.
    public var isolation: IsolationReport {
        state.withLock { $0.isolation } ?? IsolationReport(groupKill: .noFork, layers: [])
    }

    /// What the processes of all launches have in common.
    public var processes: LaunchedProcesses { state.withLock { $0.processes } }

    /// Probes the machine, removes what an earlier host left, and starts the launcher process.
    ///
    /// If an earlier launcher still holds the lock, this method waits for it, without a limit.
    ///
    /// - Throws: ``LauncherError``, or the error of the failed system call.
    public func start() async throws {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            BlockingThread.start(named: "bgtask-start") { [self] in
                do {
                    try prepare()
                    connect { done.resume(with: $0) }
                } catch {
                    done.resume(throwing: error)
                }
            }
        }
    }

    private var lockPath: String { configuration.stateDirectory + "/launcher.lock" }

    private func prepare() throws {
        let probe = try IsolationProbe(
            stateDirectory: configuration.stateDirectory, runnerPath: configuration.runnerPath,
            wanted: configuration.groupKill, users: configuration.users)
        do throws(FileLock.Failure) {
            // The lock is only tested here: the launcher process takes it.
            _ = try FileLock(path: lockPath, owner: "")
        } catch {
            guard case .held(let path, _) = error else { throw error }
            configuration.onWaiting(
                "the launcher of an earlier host is still ending its tasks and holds \(path); waiting for it")
            EarlierLauncher.awaitEnd(lockPath: lockPath, configuration.onWaiting)
        }
        let groups = try probe.groups.map(GroupPool.init(base:))
        let core = LauncherCore(
            loop: loop, moments: configuration.moments, isolation: probe.report.groupKill, groups: groups,
            sandbox: probe.report.sandbox.subtracting(configuration.withoutLayers),
            reportsCalls: probe.reportsCalls && configuration.recordsCalls,
            templateIdleTime: configuration.templateIdleTime,
            maximumTemplates: configuration.maximumTemplates
                ?? Self.maximumTemplates(descriptors: DescriptorLimit.raise()),
            answerTime: configuration.answerTime, messageRate: configuration.messageRate,
            onEvent: onEvent)
        core.storageInterval = configuration.storageInterval
        core.processLimit = configuration.processLimit
        core.runsAsRoot = configuration.runsAsRoot
        core.replaceLauncher = { [weak self] in self?.replace() }
        core.onEnd = { [weak self] in self?.finish() }
        state.withLock {
            $0.core = core
            $0.groups = probe.groups
            $0.isolation = probe.report
            $0.processes.users = probe.report.sandbox.contains(.user) ? configuration.users : nil
            $0.processes.group = probe.groups.flatMap { $0.path.split(separator: "/").last.map(String.init) }
        }
    }

    /// The largest number of templates for a limit of descriptors: a sixteenth of it, 4 through 1000.
    ///
    /// A template with its standby has five descriptors in the launcher, so templates take at most a third
    /// of the limit. The rest is the reserve for launches, which need up to ten each, and for the host's
    /// connections and store. The launcher's poll has room for 1024 templates. `nil`, an unknown limit,
    /// counts as 1024.
    static func maximumTemplates(descriptors: Int?) -> Int { min(1000, max(4, (descriptors ?? 1024) / 16)) }

    /// Starts a launcher process; `done` is called once, after its *hello* or after it failed.
    private func connect(_ done: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        guard let core = state.withLock({ $0.core }) else { return }
        let link: LauncherLink
        do throws(SystemCallError) {
            link = try LauncherLink(
                runnerPath: configuration.runnerPath, lockPath: lockPath,
                groups: state.withLock(\.groups), on: loop)
        } catch {
            done(
                .failure(
                    LauncherError(
                        code: .launcherUnavailable, subject: configuration.runnerPath,
                        finding: error.description,
                        remedy:
                            "Put bgtask-runner beside bgtaskd, or set 'paths.runner' (--runner) to its path"))
            )
            return
        }
        state.withLock { $0.processes.launcher = link.processNumber }
        let greeting = Greeting()
        link.receive { [self] input in
            switch input {
            case .report(.hello(let hello), _):
                guard hello.protocolVersion == 1 else {
                    link.endSending()
                    return
                }
                greeting.wasHeard.withLock { $0 = true }
                state.withLock { $0.failedStarts = 0 }
                loop.execute { core.connected(link) }
                done(.success(()))
            case .report(let report, let descriptors):
                loop.execute { core.received(report, descriptors) }
            case .paused(let pause):
                loop.execute { core.paused(link, pause) }
            case .ended(let message):
                // Its number may soon be that of another process.
                state.withLock { $0.processes.launcher = nil }
                if greeting.wasHeard.withLock({ $0 }) {
                    loop.execute { core.disconnected(message) }
                } else {
                    done(
                        .failure(
                            LauncherError(
                                code: .launcherUnavailable, subject: configuration.runnerPath,
                                finding: "it ended before it was ready: \(message)",
                                remedy: "Read what it printed before this message")))
                }
            }
        }
    }

    private final class Greeting: Sendable {
        let wasHeard = Mutex(false)
    }

    /// Starts a launcher process after one has died, again and again until it succeeds.
    private func replace() {
        BlockingThread.start(named: "bgtask-start") { [self] in
            EarlierLauncher.awaitEnd(lockPath: lockPath, configuration.onWaiting)
            connect { [self] result in
                guard case .failure(let error) = result, let core = state.withLock({ $0.core }) else {
                    return
                }
                let failures = state.withLock { state in
                    state.failedStarts += 1
                    return state.failedStarts
                }
                if failures == Self.reportedFailedStarts {
                    loop.execute { core.reportUnavailable("\(error)") }
                }
                // The attempts never end, because the program may be missing only during an update of its
                // package.
                let pause: TimeAmount = failures < Self.reportedFailedStarts ? .seconds(1) : .seconds(5)
                _ = loop.scheduleTask(in: pause) { [self] in replace() }
            }
        }
    }

    private func onLoop(_ body: @escaping @Sendable (LauncherCore) -> Void) {
        guard let core = state.withLock({ $0.core }) else { return }
        loop.execute { body(core) }
    }

    // MARK: Orders

    /// Starts a launch.
    ///
    /// Its progress and end are reported as events. Each launch id may be used only once.
    public func launch(_ order: LaunchOrder) {
        onLoop { $0.launch(order) }
    }

    /// Asks a launch to stop: sends *expire*, waits for the grace period, and then kills it.
    ///
    /// Further calls for the same launch have no effect.
    public func expire(_ id: LaunchID, reason: Reason) {
        onLoop { $0.expire(id, reason) }
    }

    /// Kills all processes of a launch; a launch that has completed keeps its outcome.
    public func kill(_ id: LaunchID, reason: Reason, message: String) {
        onLoop { $0.kill(id, reason, message) }
    }

    /// Ends all launches as lost after 7 s, even if their processes do not end.
    ///
    /// For a host whose user does not want to wait any longer, not even for a process that the kernel can't
    /// kill.
    public func abandon() {
        onLoop { core in _ = core.after(Self.abandonTime) { core.abandon() } }
    }

    /// Our choice: the launcher reports after 5 s that a process can't be killed, and gets 2 s more for that.
    private static let abandonTime = Duration.seconds(7)

    /// Sets or removes (`nil`) the CPU limit of a launch, and starts a new window.
    public func setCPULimit(_ id: LaunchID, _ limit: CPULimit?) {
        onLoop { $0.setCPULimit(id, limit) }
    }

    /// Changes the priority of a launch: of its threads and, if the cpu controller is delegated, of its
    /// group.
    public func setPriority(_ id: LaunchID, _ priority: LaunchPriority) {
        onLoop { $0.setPriority(id, priority) }
    }

    /// Sends the machine's conditions to a launch, unless it already has the same ones.
    public func setConditions(_ id: LaunchID, _ conditions: HandlerConditions) {
        onLoop { $0.setConditions(id, conditions) }
    }

    /// The present CPU time and memory of all running launches.
    ///
    /// For a launch with a cgroup, the values include all its processes, and take one read of an open file.
    /// For other launches, /proc is searched.
    public func usage() async -> [LaunchID: LaunchUsage] { await ask { $0.usage() } ?? [:] }

    /// The present CPU time and memory of one launch; `nil` if it has ended.
    public func usage(of id: LaunchID) async -> LaunchUsage? { await ask { $0.usage(of: id) } ?? nil }

    /// Asks the core on its event loop; `nil` if the launcher has ended.
    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (LauncherCore) -> Answer
    ) async -> Answer? {
        guard let core = state.withLock({ $0.hasEnded ? nil : $0.core }) else { return nil }
        return await withCheckedContinuation { answer in
            loop.execute { answer.resume(returning: question(core)) }
        }
    }

    /// Answers a `submit`, `cancel` or `pending` event; does nothing if the launch has ended.
    public func reply(_ id: LaunchID, call: UInt64, _ answer: Result<[TaskRequest], SubmissionError>) {
        onLoop { core in
            if let launch = core.find(id) { core.reply(launch, call, answer) }
        }
    }

    /// Answers a `sessionCall` event with a JSON object; does nothing if the launch has ended.
    public func reply(_ id: LaunchID, sessionCall: UInt64, _ answer: Result<[UInt8], SubmissionError>) {
        onLoop { core in
            if let launch = core.find(id) { core.replyToSession(launch, sessionCall, answer) }
        }
    }

    /// Ends the templates of a bundle whose plugin was changed or removed; running tasks continue.
    public func retire(bundle: BundleIdentifier) {
        onLoop { $0.retire(bundle) }
    }

    private func finish() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.awaitingEnd = [] }
            return state.awaitingEnd
        }
        for caller in waiting { caller.resume() }
    }

    /// Ends the launcher process, and waits for its end.
    ///
    /// Launches that still run are asked to stop. After at most 2 s, they are killed and reported as lost.
    public func shutDown() async {
        guard state.withLock({ $0.core }) != nil else {
            return
        }
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.awaitingEnd.append(done) }
                return state.hasEnded
            }
            if hasEnded { done.resume() }
            onLoop { $0.shutDown() }
        }
    }
}
