import HandlerRegistry
import LinuxSystem
public import TaskModel

/// Where the host finds things and what it may do.
public struct HostConfiguration: Sendable {
    /// Holds the handlers' libraries.
    public var pluginsDirectory: String
    /// Holds the manifests.
    public var manifestsDirectory: String
    /// Holds the definitions of custom conditions; `conditions.d` beside the manifests by default.
    public var conditionsDirectory: String
    /// The host's own, made with mode 0700: store, copies of libraries, the bundles' data.
    public var stateDirectory: String
    /// The control socket, which a second host on the same state reports.
    public var socketPath: String
    /// The program that is launcher, template and task.
    public var runnerPath: String
    /// Whether conditions come from the machine or begin as a mains-powered, idle, cool one.
    public var simulatesConditions: Bool
    /// Forces a weaker group kill than the machine offers; `nil` takes the strongest.
    public var groupKill: GroupKill?
    /// `NAME=value` lines that every task gets, besides its temporary directory.
    public var taskEnvironment: [String]
    /// How long a loaded template stays without a launch.
    public var templateIdleTime = Duration.seconds(300)
    /// History: launches kept at least.
    public var keptLaunches: Int
    /// History: launches younger than this are kept as well.
    public var keptAge: Duration
    /// The most bytes that the recording for replays may take; `nil` records nothing.
    public var recordingSize: Int64?
    /// Makes a configuration with standard numbers: 10,000 launches or 30 days of history.
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
    /// Where the log of events is.
    var recordingDirectory: String { stateDirectory + "/recording" }

    /// What a report says of it.
    var facts: [HostReport.Fact] {
        [
            .init(name: "state directory", value: stateDirectory),
            .init(name: "plugins directory", value: pluginsDirectory),
            .init(name: "manifests directory", value: manifestsDirectory),
            .init(name: "conditions directory", value: conditionsDirectory),
            .init(name: "runner", value: runnerPath),
            .init(name: "conditions", value: simulatesConditions ? "simulated" : "system"),
        ]
    }

    /// Directories that a user fills, and that do not exist yet.
    var missingDirectories: [String] {
        [pluginsDirectory, manifestsDirectory].filter(DirectoryTree.isMissing)
    }

    /// Makes the directories that are missing.
    ///
    /// - Returns: The same configuration with absolute paths without links.
    /// - Throws: The call that failed.
    func madeReal() throws(SystemCallError) -> HostConfiguration {
        func real(_ path: String) throws(SystemCallError) -> String {
            try DirectoryTree.make(path)
            return try DirectoryTree.realPath(of: path)
        }
        var copy = self
        copy.stateDirectory = try real(stateDirectory)
        copy.pluginsDirectory = try real(pluginsDirectory)
        copy.manifestsDirectory = try real(manifestsDirectory)
        copy.conditionsDirectory = try real(conditionsDirectory)
        return copy
    }
}
