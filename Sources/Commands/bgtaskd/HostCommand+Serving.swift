public import ControlServer
import HostSettings
import LinuxSystem
import Logging
import ServiceLifecycle
public import TaskHost
import TaskModel

extension HostCommand {
    /// What asks the host to stop; a second one kills the launches.
    static let stopSignals = [SignalWatch.interrupt, SignalWatch.terminate, SignalWatch.hangUp]

    /// Joins the host and its control channel, and runs them until a signal.
    func serve() async throws {
        SignalWatch.ignorePipeAndFileSizeSignals()
        let signals = SignalWatch(Self.stopSignals)
        ProcessFacts.forbidInspection()
        let isOnTerminal = ProcessFacts.hasTerminal
        let isColored = isOnTerminal && ProcessFacts.environment("NO_COLOR") == nil
        let level = Logger.Level(rawValue: logLevel.rawValue) ?? .info
        LoggingSystem.bootstrap { _ in
            TerminalLogHandler(logLevel: level, isOnTerminal: isOnTerminal, isColored: isColored)
        }
        let logger = Logger(label: "bgtaskd")

        var configuration = HostConfiguration(
            pluginsDirectory: plugins, manifestsDirectory: manifests, stateDirectory: state,
            socketPath: socket, runnerPath: try runner ?? HostPaths.installedRunner(),
            simulatesConditions: conditions == .simulated, taskEnvironment: Self.taskEnvironment(),
            groupKill: isolation)
        configuration.templateIdleTime = .seconds(max(0, templateIdle))
        let host = try await TaskHost(configuration: configuration, logger: logger)
        let control = try ControlServer(host: host, socketPath: socket, logger: logger)
        // The channel stops after the host: clients see their launches' ends.
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: control), .init(service: host)], logger: Self.quietLogger()))
        let stopping = Task {
            var count = 0
            for await _ in signals.signals {
                count += 1
                if count == 1 { await group.triggerGracefulShutdown() } else { await host.killAll() }
            }
        }
        defer { stopping.cancel() }
        try await group.run()
    }

    /// The lifecycle's own words are of no use to those who run the host.
    private static func quietLogger() -> Logger {
        var logger = Logger(label: "lifecycle")
        logger.logLevel = .error
        return logger
    }

    /// What tasks see of the host's environment: no secrets, no surprises.
    private static func taskEnvironment() -> [String] {
        var lines = ["PATH=/usr/local/bin:/usr/bin:/bin", "SWIFT_BACKTRACE=enable=no"]
        for name in ["HOME", "LANG", "LC_ALL", "TZ"] {
            if let value = ProcessFacts.environment(name) { lines.append("\(name)=\(value)") }
        }
        return lines
    }
}

extension TaskHost: HostControl {}
