import HandlerRegistry
import HostCore
import HostSettings
import Launching
import LinuxSystem
import Recording
import SystemConditions
import TaskModel

/// The parts of a host that are made from its configuration alone.
extension HostConfiguration {
    /// The settings of the launcher.
    func launching(_ moments: any MomentSource, _ log: HostLog) -> TaskLauncher.Configuration {
        var launching = TaskLauncher.Configuration(
            runnerPath: runnerPath, stateDirectory: stateDirectory, groupKill: groupKill, moments: moments,
            onWaiting: { log.append(.notice, $0) })
        launching.templateIdleTime = templateIdleTime
        launching.users = bundleUsers
        return launching
    }

    /// Creates the registry of manifests and plugins; it reads nothing yet.
    func makeRegistry() -> HandlerRegistry {
        HandlerRegistry(
            manifestsDirectory: manifestsDirectory, pluginsDirectory: pluginsDirectory,
            libraryCacheDirectory: stateDirectory + "/libraries",
            conditionsDirectory: conditionsDirectory, stateDirectory: stateDirectory,
            configuration: sources, programs: HostPaths.programs(runner: runnerPath),
            controlSocket: socketPath, startup: StartupFiles.standard(), signatures: signatures)
    }

    /// Creates the sensors of the machine's conditions; they measure nothing yet.
    func makeSensors(_ moments: any MomentSource, _ log: HostLog) -> ConditionSensors {
        ConditionSensors(
            mode: simulatesConditions ? .simulated : .system, dataDirectory: stateDirectory, lowData: lowData,
            moments: moments,
            onProblem: { log.append(.warning, $0) })
    }

    /// Creates the recorder of the scheduler's events; `nil` if the host records nothing.
    ///
    /// - Throws: The system call that failed.
    func makeRecorder(_ log: HostLog) throws -> EventRecorder? {
        try recordingSize.map { size in
            try EventRecorder(
                directory: recordingDirectory, limit: ByteCount(bytes: size),
                onProblem: { log.append(.warning, $0) })
        }
    }

    /// The report about the host and its machine, for `bgtask doctor`.
    func report(
        of core: HostCore, _ isolation: IsolationReport, transferCPU: Duration
    ) -> HostReport {
        let counts = core.counts
        return HostReport(
            isolation: isolation,
            facts: [.init(name: "version", value: ProductVersion.current)] + facts + [
                .init(name: "handlers", value: "\(counts.handlers)"),
                .init(name: "pending requests", value: "\(counts.pending)"),
                .init(name: "running launches", value: "\(counts.running)"),
                .init(name: "CPU time of transfers", value: DurationText.format(transferCPU)),
            ], problems: core.configurationProblems)
    }
}
