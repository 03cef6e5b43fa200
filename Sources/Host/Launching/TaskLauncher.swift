import LinuxSystem
import NIOCore
import RunnerWire
import Synchronization
public import TaskModel

/// Starts launches in isolated processes, carries their messages, and ends them.
///
/// It works on a loop's thread, and has one thread that waits for the launcher, and the launcher itself.
/// While nothing runs it wakes for nothing. All methods may be called from any thread and return at once,
/// unless they are `async`.
public final class TaskLauncher: Sendable {
    /// What it needs to know.
    public struct Configuration: Sendable {
        /// The `bgtask-runner` program.
        public var runnerPath: String
        /// Holds `launcher.lock`; its hash names the host's cgroup.
        public var stateDirectory: String
        /// What must end a launch's descendants; `nil` takes the strongest that there is.
        public var groupKill: GroupKill?
        /// How long a loaded template stays without a launch: 5 min.
        ///
        /// Ours: longer than the pauses of a burst, short beside the 15 min between refreshes.
        public var templateIdleTime = Duration.seconds(300)
        /// The clocks.
        public var moments: any MomentSource
        /// Called, on any thread, when an earlier launcher still holds its lock; ``start()`` waits for it.
        public var onWaiting: @Sendable (String) -> Void

        /// Makes a configuration.
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
        var isolation: IsolationReport?
        var failedStarts = 0
        var ended: CheckedContinuation<Void, Never>?
        var hasEnded = false
    }

    /// After how many failed starts the host is told that there is no launcher; it is tried again all the
    /// same.
    private static let reportedFailedStarts = 5

    /// Makes a launcher that does nothing yet.
    ///
    /// - Parameters:
    ///   - configuration: What it needs to know.
    ///   - loop: Where it works.
    ///   - onEvent: Called on the loop with what happens to launches, in order per launch.
    public init(
        configuration: Configuration, on loop: HostLoop = HostLoop(),
        onEvent: @escaping @Sendable (LaunchEvent) -> Void
    ) {
        self.configuration = configuration
        self.onEvent = onEvent
        hostLoop = loop
    }

    /// What isolates launches here, and every layer that was probed; empty before ``start()``.
    public var isolation: IsolationReport {
        state.withLock { $0.isolation } ?? IsolationReport(groupKill: .noFork, layers: [])
    }

    /// Probes the machine, empties what an earlier host left, and starts the launcher.
    ///
    /// Waits, without a bound, for an earlier launcher's lock.
    ///
    /// - Throws: ``LauncherError`` with what to do, or the system call that failed.
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
            stateDirectory: configuration.stateDirectory, wanted: configuration.groupKill)
        do throws(FileLock.Failure) {
            // Taken only to see whether another process holds it: the launcher takes it for itself.
            _ = try FileLock(path: lockPath, owner: "")
        } catch {
            guard case .held(let path, _) = error else { throw error }
            configuration.onWaiting(
                "an earlier launcher still ends its tasks and holds \(path); waiting for it")
        }
        let groups = try probe.groups.map(GroupPool.init(base:))
        let core = LauncherCore(
            loop: loop, moments: configuration.moments, isolation: probe.report.groupKill, groups: groups,
            templateIdleTime: configuration.templateIdleTime, onEvent: onEvent)
        core.replaceLauncher = { [weak self] in self?.replace() }
        core.onEnd = { [weak self] in self?.finish() }
        state.withLock {
            $0.core = core
            $0.isolation = probe.report
        }
    }

    /// Starts a launcher; `done` is called once, when it said hello or failed to.
    private func connect(_ done: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        guard let core = state.withLock({ $0.core }) else { return }
        let link: LauncherLink
        do throws(SystemCallError) {
            link = try LauncherLink(runnerPath: configuration.runnerPath, lockPath: lockPath)
        } catch {
            done(
                .failure(
                    LauncherError(
                        code: .launcherUnavailable, subject: configuration.runnerPath,
                        finding: error.description,
                        remedy: "bgtaskd needs bgtask-runner beside it, or --runner PATH")))
            return
        }
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
            case .ended(let message):
                if greeting.wasHeard.withLock({ $0 }) {
                    loop.execute { core.disconnected(message) }
                } else {
                    done(
                        .failure(
                            LauncherError(
                                code: .launcherUnavailable, subject: configuration.runnerPath,
                                finding: "it ended before it was ready: \(message)",
                                remedy: "Its own output above says why")))
                }
            }
        }
    }

    private final class Greeting: Sendable {
        let wasHeard = Mutex(false)
    }

    /// Puts a launcher in the place of one that died.
    private func replace() {
        BlockingThread.start(named: "bgtask-start") { [self] in
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
                // Never given up: the program may be on its way back, as in an update of its package.
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
    /// How it goes comes as events. An id must not be used twice.
    public func launch(_ order: LaunchOrder) {
        onLoop { $0.launch(order) }
    }

    /// Asks a launch to stop: expire frame, grace period, kill.
    ///
    /// Only the first call counts.
    public func expire(_ id: LaunchID, reason: Reason) {
        onLoop { $0.expire(id, reason) }
    }

    /// Kills a launch and everything that it started; one that has completed keeps its outcome.
    public func kill(_ id: LaunchID, reason: Reason, message: String) {
        onLoop { $0.kill(id, reason, message) }
    }

    /// Relaxes (`nil`) or restores a launch's CPU limit; the window starts afresh.
    public func setCPULimit(_ id: LaunchID, _ limit: CPULimit?) {
        onLoop { $0.setCPULimit(id, limit) }
    }

    /// Gives a launch another priority: its threads now, and its group's weight where the cpu controller is
    /// delegated.
    public func setPriority(_ id: LaunchID, _ priority: LaunchPriority) {
        onLoop { $0.setPriority(id, priority) }
    }

    /// Sends a launch the conditions of the machine; nothing happens if it already has the same.
    public func setConditions(_ id: LaunchID, _ conditions: HandlerConditions) {
        onLoop { $0.setConditions(id, conditions) }
    }

    /// CPU time and memory of what runs, as of now; launches that have ended are not in it.
    ///
    /// Complete where a launch has a cgroup: one read of a file that is kept open. Elsewhere /proc is
    /// searched.
    public func usage() async -> [LaunchID: LaunchUsage] { await ask { $0.usage() } ?? [:] }

    /// The same of one launch; `nil` if it has ended.
    public func usage(of id: LaunchID) async -> LaunchUsage? { await ask { $0.usage(of: id) } ?? nil }

    private func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (LauncherCore) -> Answer
    ) async -> Answer? {
        guard let core = state.withLock({ $0.hasEnded ? nil : $0.core }) else { return nil }
        return await withCheckedContinuation { answer in
            loop.execute { answer.resume(returning: question(core)) }
        }
    }

    /// Answers a `submit`, `cancel` or `pending` of a launch; one that has ended gets none.
    public func reply(_ id: LaunchID, call: UInt64, _ answer: Result<[TaskRequest], SubmissionError>) {
        onLoop { core in
            if let launch = core.find(id) { core.reply(launch, call, answer) }
        }
    }

    /// Ends the templates of a bundle whose plugin changed or went; running tasks go on.
    public func retire(bundle: BundleIdentifier) {
        onLoop { $0.retire(bundle) }
    }

    private func finish() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.ended = nil }
            return state.ended
        }
        waiting?.resume()
    }

    /// Ends the launcher and waits for it.
    ///
    /// What still runs gets the grace of a host's end, 2 s at most, then is
    /// killed and reported as lost.
    public func shutDown() async {
        guard state.withLock({ $0.core }) != nil else {
            return
        }
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.ended = done }
                return state.hasEnded
            }
            if hasEnded { done.resume() }
            onLoop { $0.shutDown() }
        }
    }
}
