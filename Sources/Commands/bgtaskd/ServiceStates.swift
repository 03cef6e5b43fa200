import LinuxSystem
import Logging
import Synchronization
import TaskHost
import TaskModel

/// Tells the service manager, if there is one, when the host is ready, alive, reloads and stops.
///
/// All functions can be called from any thread.
final class ServiceStates: Sendable {
    /// How often a stopping host asks for more time: 10 s.
    ///
    /// Each time, it asks for three times as much. Our choice; a manager waits 90 s by default
    /// (`DefaultTimeoutStopSec=`), and would then kill launches that may still run until their deadline.
    private static let extensionInterval: Duration = .seconds(10)

    private let host: TaskHost
    private let logger: Logger
    private let manager: ServiceManager?
    private let work = Mutex<[Task<Void, any Error>]>([])

    /// Finds the manager of this process.
    init(of host: TaskHost, _ logger: Logger) {
        (self.host, self.logger) = (host, logger)
        manager = ServiceManager.ofThisProcess()
    }

    /// Says that the host is ready as soon as it answers, and from then on that it is alive.
    func beginServing() {
        guard let manager else { return }
        begin { [self] in
            manager.tell(.ready, await status())
            guard let watchdog = manager.watchdog else { return }
            while true {
                // The manager recommends half of its time (sd_watchdog_enabled(3)).
                try await Task.sleep(for: watchdog / 2)
                // A host that hangs does not count its launches, and then is not alive.
                manager.tell(await status(), .alive)
            }
        }
    }

    /// Makes the host read its files again; returns afterwards.
    func reload() async {
        manager?.tell(.reloading(since: ServiceManager.monotonicTime))
        logger.notice("reads the configuration and all manifests again: SIGHUP")
        await host.reload()
        manager?.tell(.ready, await status())
    }

    /// Says that the host stops, and asks for time while its launches end.
    func beginStopping() {
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
        for task in work.withLock({ $0 }) { task.cancel() }
    }

    private func begin(_ operation: @escaping @Sendable () async throws -> Void) {
        let task = Task { try await operation() }
        work.withLock { $0.append(task) }
    }

    private func status() async -> ServiceManager.Notice {
        let counts = await host.counts()
        return .status(
            "\(counts.handlers) handlers, \(counts.pending) pending requests, \(counts.running) running launches"
        )
    }
}
