import LinuxSystem
import Logging
import Synchronization
import TaskHost
import TaskModel

/// Tells the service manager, if there is one, when the host is ready, alive, reloads and stops.
///
/// All functions can be called from any thread, and none waits for the host.
final class ServiceStates: Sendable {
    /// How often a stopping host asks for more time: 10 s.
    ///
    /// Each time, it asks for three times as much. Our choice; a manager waits 90 s by default
    /// (`DefaultTimeoutStopSec=`), and would then kill launches that may still run until their deadline.
    private static let extensionInterval: Duration = .seconds(10)

    /// The shortest time between two signs of life, whatever the manager asks for: 50 ms, our choice.
    private static let shortestInterval: Duration = .milliseconds(50)

    private struct State {
        /// The signs of life, and the requests for more time.
        var loops: [Task<Void, any Error>] = []
        var isReloading = false
        var isStopping = false
    }

    private let host: TaskHost
    private let logger: Logger
    private let manager: ServiceManager?
    private let state = Mutex(State())

    /// Finds the manager of this process.
    init(of host: TaskHost, _ logger: Logger) {
        (self.host, self.logger) = (host, logger)
        manager = ServiceManager.ofThisProcess()
    }

    /// Says that the host is ready as soon as it answers, and from then on that it is alive.
    func beginServing() {
        guard let manager else { return }
        begin { [self] in
            let counts = await counts()
            tellUnlessStopping(.ready, counts)
            guard let watchdog = manager.watchdog else { return }
            while true {
                // The manager recommends half of its time (sd_watchdog_enabled(3)).
                try await Task.sleep(for: max(watchdog / 2, Self.shortestInterval))
                // A host that hangs does not count its launches, and then is not alive.
                tellUnlessStopping(await self.counts())
                manager.tell(.alive)
            }
        }
    }

    /// Makes the host read its files again, in the background; does nothing while it reloads or stops.
    func reload() {
        let begins = state.withLock { state in
            defer { state.isReloading = true }
            return !state.isReloading && !state.isStopping
        }
        guard begins else { return }
        logger.notice("reads the configuration and all manifests again: SIGHUP")
        Task {
            tellUnlessStopping(.reloading(since: SystemClocks().now().monotonic))
            await host.reload()
            let counts = await counts()
            state.withLock { $0.isReloading = false }
            tellUnlessStopping(.ready, counts)
        }
    }

    /// Says that the host stops, and asks for time while its launches end.
    func beginStopping() {
        state.withLock { $0.isStopping = true }
        guard let manager else { return }
        manager.tell(.stopping, .status("Stopping: launches end by their deadlines"))
        begin {
            while true {
                manager.tell(.extendTimeout(Self.extensionInterval * 3))
                try await Task.sleep(for: Self.extensionInterval)
            }
        }
    }

    /// Ends all of this, before the host's process ends.
    func end() {
        for loop in state.withLock({ $0.loops }) { loop.cancel() }
    }

    private func begin(_ loop: @escaping @Sendable () async throws -> Void) {
        let task = Task { try await loop() }
        state.withLock { $0.loops.append(task) }
    }

    private func tellUnlessStopping(_ notices: ServiceManager.Notice...) {
        // Under the lock, so that no notice follows that of the stop.
        state.withLock { if !$0.isStopping { manager?.tell(notices) } }
    }

    /// The host in numbers, as soon as it answers.
    private func counts() async -> ServiceManager.Notice {
        let counts = await host.counts()
        return .status(
            "handlers: \(counts.handlers), pending requests: \(counts.pending), running launches: \(counts.running)"
        )
    }
}
