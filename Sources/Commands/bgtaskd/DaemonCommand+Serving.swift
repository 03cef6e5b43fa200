public import ControlServer
import DesktopNotices
import HostSettings
import LinuxSystem
import LogFiles
import Logging
import PushServer
import ServiceLifecycle
import Signatures
public import TaskHost
import TaskModel

extension DaemonCommand {
    /// The signals that the host handles: they make it stop, and a second one kills the launches; without a
    /// terminal, SIGHUP makes it reload.
    static let handledSignals = [SignalWatch.interrupt, SignalWatch.terminate, SignalWatch.hangUp]

    /// How often the program checks whether the host has nothing to do: 30 s.
    ///
    /// If the host has had nothing to do since its start, the first check returns the pages of the code that
    /// only the start uses.
    private static let restInterval: Duration = .seconds(30)
    /// How long a host does nothing before it returns the memory of its machine code to the kernel: 2 min.
    ///
    /// Our choice: the next input takes 6 ms longer, because the kernel must map the code again. Launches
    /// that come each minute must not pay for that.
    private static let restBeforeRelease: Duration = .seconds(120)

    /// Joins the host and its control channel, and runs them until a signal.
    func serve() async throws {
        SignalWatch.ignorePipeAndFileSizeSignals()
        DescriptorLimit.raise()
        let signals = SignalWatch(Self.handledSignals)
        ProcessFacts.forbidInspection()
        let settings = try SettingsFiles(sources)
        let effective = settings.latest.effective
        let level = Logger.Level(rawValue: effective.logLevel.rawValue) ?? .info
        let handler = HostLogHandler.chosen(effective.logFormat, level: level)
        LoggingSystem.bootstrap { _ in handler }
        defer { handler.writer.flush() }
        let logger = Logger(label: "bgtaskd")

        var configuration = HostConfiguration(
            pluginsDirectory: effective.paths.plugins, manifestsDirectory: effective.paths.manifests,
            stateDirectory: effective.paths.state, socketPath: effective.paths.socket,
            runnerPath: effective.paths.runner.isEmpty
                ? try HostPaths.installedRunner() : effective.paths.runner,
            simulatesConditions: effective.conditions == .simulated,
            taskEnvironment: Self.taskEnvironment(), groupKill: effective.groupKill)
        if !effective.paths.conditions.isEmpty {
            configuration.conditionsDirectory = effective.paths.conditions
        }
        configuration.sources = sources.paths
        configuration.lowData = effective.lowData
        configuration.bundleUsers = effective.bundleUsers
        configuration.templateIdleTime = effective.templateIdleTime
        configuration.keptLaunches = effective.keptLaunches
        // The store recognizes a push that is sent twice for as long as it keeps the request.
        configuration.keptAge = max(
            effective.keptAge, effective.pushes.address == nil ? .zero : PushServer.memory)
        configuration.signatures = SignatureRule(keys: effective.trustedKeys)
        configuration.recordingSize = effective.recordingSize
        configuration.logLimits.size = effective.logSize.bytes
        configuration.logLimits.age = effective.logAge
        configuration.logLimits.perLaunch = effective.logPerLaunch.bytes
        // Checked first, so that nothing has been started yet that would have to be stopped again.
        guard ProcessFacts.isExecutable(configuration.runnerPath) else {
            throw RunnerError(path: configuration.runnerPath)
        }
        let access = ControlAccess(
            read: effective.readers, submit: effective.submitters, bundles: effective.bundleSubmitters,
            onUnknown: { logger.warning("\($0)") })
        try ControlServer.check(socketPath: configuration.socketPath, access: access)
        let host = try await TaskHost(configuration: configuration, settings: settings, logger: logger)
        let states = ServiceStates(of: host, logger)
        let control = try ControlServer(
            host: host, socketPath: configuration.socketPath, access: access, logger: logger,
            onServing: { [paths = effective.paths] in
                // In the message, because the lines on a terminal have no other facts than the launch's.
                logger.notice(
                    "socket \(paths.socket), state \(paths.state), manifests \(paths.manifests), plugins \(paths.plugins)"
                )
                states.beginServing()
            })
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: control), .init(service: host),
        ]
        if let pushes = Self.pushServer(of: effective.pushes, for: host, host.logs.logger("pushes")) {
            services.append(.init(service: pushes))
        }
        if let connector = Self.pushConnector(of: effective, for: host, host.logs.logger("pushes")) {
            services.append(.init(service: connector))
        }
        if effective.showsNotices, let address = BusAddress.session {
            let logs = host.logs
            services.append(
                .init(
                    service: DesktopNotifier(address: address, logger: logger) {
                        logs.log(following: $0).stop
                    }))
        }
        // The channel stops after the host, so that clients receive the ends of their launches. The listener
        // for pushes stops first.
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services, logger: Self.quietLogger()))
        // A terminal that closes sends the same signal as a service manager that wants a service to reload.
        let hangUpReloads = !ProcessFacts.hasControllingTerminal
        let stopping = Task {
            var count = 0
            for await signal in signals.signals {
                if signal == SignalWatch.hangUp, hangUpReloads {
                    states.reload()
                    continue
                }
                count += 1
                if count == 1 {
                    states.beginStopping()
                    await group.triggerGracefulShutdown()
                } else {
                    await host.killAll()
                }
            }
        }
        defer { stopping.cancel() }
        defer { states.end() }
        let settling = Task {
            try await Task.sleep(for: Self.restInterval)
            if await host.lastWork == nil { ProgramText.release() }
            var released: Duration?
            while true {
                try await Task.sleep(for: Self.restInterval)
                let now = SystemClocks().now().boot
                guard let work = await host.lastWork, released.map({ $0 < work }) ?? true,
                    now - work >= Self.restBeforeRelease
                else { continue }
                ProgramText.release()
                released = now
            }
        }
        defer { settling.cancel() }
        try await group.run()
    }

    /// The sources of the configuration; options of the command line take precedence over all others.
    var sources: SettingsSources {
        SettingsSources(
            root: configRoot, file: config,
            options: [
                ("plugins", "paths.plugins", plugins), ("manifests", "paths.manifests", manifests),
                ("conditions-directory", "paths.conditions", conditionsDirectory),
                ("state", "paths.state", state), ("socket", "paths.socket", socket),
                ("runner", "paths.runner", runner), ("conditions", "conditions", conditions?.rawValue),
                ("isolation", "isolation", isolation?.rawValue),
                (
                    "template-idle", "templates.idleTime",
                    templateIdle.map { DurationText.format(.seconds(max(0, $0))) }
                ),
                ("log-level", "logLevel", logLevel?.rawValue),
                ("log-format", "logFormat", logFormat?.rawValue),
            ])
    }

    /// A logger for ServiceLifecycle that writes only errors; its other messages do not help operators.
    private static func quietLogger() -> Logger {
        var logger = Logger(label: "lifecycle")
        logger.logLevel = .error
        return logger
    }

    /// The environment of tasks: fixed values, and a few of the host's variables.
    ///
    /// No other variable of the host is passed to a task, because it may contain a secret.
    private static func taskEnvironment() -> [String] {
        var lines = ["PATH=/usr/local/bin:/usr/bin:/bin", "SWIFT_BACKTRACE=enable=no"]
        for name in ["HOME", "LANG", "LC_ALL", "TZ", "BGTASK_LOG_PRIVATE"] {
            if let value = ProcessFacts.environment(name) { lines.append("\(name)=\(value)") }
        }
        return lines
    }
}

/// The runner program can't be started.
private struct RunnerError: Error, CustomStringConvertible {
    let path: String

    var description: String {
        "\(path): this program does not exist or can't be executed. "
            + "Put bgtask-runner beside bgtaskd, or name it: --runner PATH. [launcherUnavailable]"
    }
}

extension TaskHost: HostControl {}
extension HostLogs: LogControl {}

extension HostTransfers: TransferControl {}

extension HostPushes: PushControl {}
