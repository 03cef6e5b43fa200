import HandlerRegistry
import HostSettings
import LinuxSystem
public import LogFiles
public import Signatures
public import TaskModel

/// The paths and settings with which a host starts.
public struct HostConfiguration: Sendable {
    /// The directory with the libraries of the plugins.
    public var pluginsDirectory: String
    /// The directory with the manifests.
    public var manifestsDirectory: String
    /// The directory with the definitions of custom conditions; by default `conditions.d` beside the
    /// directory of the manifests.
    public var conditionsDirectory: String
    /// The directory for the store, the copies of libraries and the bundles' data; the host creates it with
    /// mode 0700.
    public var stateDirectory: String
    /// The path of the control socket; a second host on the same state directory names it in its error.
    public var socketPath: String
    /// The path of the runner, the program of the launcher, the templates and the tasks.
    public var runnerPath: String
    /// Whether the conditions are invented, instead of measured: external power, an idle device and a nominal
    /// temperature.
    public var simulatesConditions: Bool
    /// Which networks are in low-data mode.
    public var lowData = LowDataMode.never
    /// How the host kills all processes of a launch; `nil` selects the strongest method that the machine
    /// offers.
    public var groupKill: GroupKill?
    /// The numbers of the users from which each bundle gets its own, if the host runs as root; `nil` if tasks
    /// run as root, too.
    public var bundleUsers: ClosedRange<UInt32>?
    /// The environment variables of every task, as `NAME=value`; each task also gets its temporary directory.
    public var taskEnvironment: [String]
    /// How long a template process keeps its plugin loaded after the plugin's last launch ended: 5 min by
    /// default.
    public var templateIdleTime = Duration.seconds(300)
    /// The number of newest launches that the host always keeps in the history.
    public var keptLaunches: Int
    /// The host also keeps every launch that ended less than this time ago.
    public var keptAge: Duration
    /// The signatures that manifests, conditions and libraries must have; by default none.
    public var signatures = SignatureRule()
    /// The maximum size of the recording for replays, in bytes; `nil` if the host records nothing.
    public var recordingSize: Int64?
    /// How much the stored log may occupy.
    public var logLimits = LogWriter.Limits()
    /// The files and directories that this configuration was read from; no manifest may have a write grant
    /// for them.
    public var sources: [String] = []
    /// Creates a configuration that keeps 10,000 launches and 30 days of history, and records nothing.
    public init(
        pluginsDirectory: String, manifestsDirectory: String, stateDirectory: String, socketPath: String,
        runnerPath: String,
        simulatesConditions: Bool, taskEnvironment: [String], groupKill: GroupKill? = nil
    ) {
        self.pluginsDirectory = pluginsDirectory
        self.manifestsDirectory = manifestsDirectory
        conditionsDirectory = ConditionsDirectory.beside(manifestsDirectory)
        self.stateDirectory = stateDirectory
        self.socketPath = socketPath
        self.runnerPath = runnerPath
        self.simulatesConditions = simulatesConditions
        self.groupKill = groupKill
        self.taskEnvironment = taskEnvironment
        keptLaunches = 10_000
        keptAge = .seconds(30 * 86_400)
    }
    /// The path of the program that makes transfers; it is beside the runner.
    var transferPath: String { HostPaths.transferProgram(beside: runnerPath) }
    /// The path of the program by which scripts talk to the host.
    var taskProgramPath: String { HostPaths.taskProgram(beside: runnerPath) }
    /// The directory of the stored log.
    var logDirectory: LogDirectory { LogDirectory(stateDirectory + "/log") }
    /// The directory of the recording.
    var recordingDirectory: String { stateDirectory + "/recording" }

    /// The configuration as lines of ``TaskHost/report()``.
    var facts: [HostReport.Fact] {
        [
            .init(name: "state directory", value: stateDirectory),
            .init(name: "plugins directory", value: pluginsDirectory),
            .init(name: "manifests directory", value: manifestsDirectory),
            .init(name: "conditions directory", value: conditionsDirectory),
            .init(name: "runner", value: runnerPath),
            .init(name: "conditions", value: simulatesConditions ? "simulated" : "system"),
            .init(
                name: "signatures",
                value: signatures.keys.isEmpty
                    ? "not required"
                    : "required, by a key of " + signatures.keys.map(\.name).joined(separator: ", ")),
        ]
    }

    /// Creates the directories that are missing; a created directory of manifests or plugins is logged.
    ///
    /// - Returns: The configuration with absolute paths that contain no symbolic links.
    /// - Throws: The system call that failed.
    func prepared(_ log: HostLog) throws(SystemCallError) -> HostConfiguration {
        func real(_ path: String) throws(SystemCallError) -> String {
            try DirectoryTree.make(path)
            return try DirectoryTree.realPath(of: path)
        }
        let missing = [pluginsDirectory, manifestsDirectory].filter(DirectoryTree.isMissing)
        var copy = self
        copy.stateDirectory = try real(stateDirectory)
        copy.pluginsDirectory = try real(pluginsDirectory)
        copy.manifestsDirectory = try real(manifestsDirectory)
        copy.conditionsDirectory = try real(conditionsDirectory)
        for directory in missing { log.append(.notice, "\(directory) did not exist, so the host created it") }
        return copy
    }
}
