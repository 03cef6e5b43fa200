/// One value of the host's configuration, with where it came from.
public struct ConfiguredValue: Equatable, Sendable {
    /// The value that one layer gives.
    public struct Origin: Equatable, Sendable {
        /// The value, as a file has it.
        public var value: String
        /// Where the value comes from: `/etc/bgtask/bgtaskd.yaml:3`, `environment BGTASK_LOG_LEVEL`, `option
        /// --log-level`, `standard`, `bgtask settings`.
        public var source: String

        public init(value: String, source: String) {
            self.value = value
            self.source = source
        }
    }

    /// `scheduling.refreshSpacing`.
    public var key: String
    /// The value in force, and where it comes from.
    public var inForce: Origin
    /// The values below it, the nearest first.
    public var overridden: [Origin]
    /// The value that takes its place when the host restarts; `nil` if a restart changes nothing.
    public var afterRestart: Origin?

    public init(key: String, inForce: Origin, overridden: [Origin], afterRestart: Origin? = nil) {
        self.key = key
        self.inForce = inForce
        self.overridden = overridden
        self.afterRestart = afterRestart
    }
}

/// One file that the host's configuration is looked for in.
public struct ConfigurationFile: Equatable, Sendable {
    /// What the host makes of it.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// Its values are in force, unless a higher layer overrides them.
        case inForce
        /// It is not there, which is right.
        case missing
        /// It is wrong now; what it said before is still in force.
        case lastRightVersion
        /// It is wrong, and nothing of it is in force.
        case leftOut
    }

    /// The file.
    public var path: String
    /// `vendor`, `administrator` or `option --config`.
    public var layer: String
    /// What the host makes of it.
    public var state: State

    public init(path: String, layer: String, state: State) {
        self.path = path
        self.layer = layer
        self.state = state
    }
}

/// The host's configuration: what `bgtask config show` prints.
public struct ConfigurationListing: Equatable, Sendable {
    /// Every value in force, in the order of the documentation.
    public var values: [ConfiguredValue]
    /// Every file, the lowest layer first.
    public var files: [ConfigurationFile]
    /// What is wrong in the files.
    public var problems: [ManifestProblem]

    public init(values: [ConfiguredValue], files: [ConfigurationFile], problems: [ManifestProblem]) {
        self.values = values
        self.files = files
        self.problems = problems
    }
}
