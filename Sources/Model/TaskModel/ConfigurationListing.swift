/// One value of the host's configuration, with where it came from.
public struct ConfiguredValue: Equatable, Sendable {
    /// A value from one layer of the configuration.
    public struct Origin: Equatable, Sendable {
        /// The value, as it is written in a file.
        public var value: String
        /// Where the value comes from: `/etc/bgtask/bgtaskd.yaml:3`, `environment BGTASK_LOG_LEVEL`, `option
        /// --log-level`, `standard`, `bgtask settings`.
        public var source: String

        public init(value: String, source: String) {
            self.value = value
            self.source = source
        }
    }

    /// The setting's key, such as `scheduling.refreshSpacing`.
    public var key: String
    /// The value in force, and where it comes from.
    public var inForce: Origin
    /// The values from lower layers that ``inForce`` overrides, the highest layer first.
    public var overridden: [Origin]
    /// The value that will be in force after a restart of the host; `nil` if a restart changes nothing.
    public var afterRestart: Origin?

    public init(key: String, inForce: Origin, overridden: [Origin], afterRestart: Origin? = nil) {
        self.key = key
        self.inForce = inForce
        self.overridden = overridden
        self.afterRestart = afterRestart
    }
}

/// One file in which the host looks for its configuration.
public struct ConfigurationFile: Equatable, Sendable {
    /// Whether the host uses the file's values.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// The values of the file are in force, except those that a higher layer overrides.
        case inForce
        /// The file does not exist.
        ///
        /// This is not an error.
        case missing
        /// The file is invalid now; its values from before the last change are still in force.
        case lastRightVersion
        /// The file is invalid, and none of its values is in force.
        case leftOut
    }

    /// The path of the file.
    public var path: String
    /// The layer of the file: `vendor`, `administrator` or `option --config`.
    public var layer: String
    /// Whether the host uses the file's values.
    public var state: State

    public init(path: String, layer: String, state: State) {
        self.path = path
        self.layer = layer
        self.state = state
    }
}

/// The host's configuration, as `bgtask config show` prints it.
public struct ConfigurationListing: Equatable, Sendable {
    /// Every value in force, in the order of the documentation.
    public var values: [ConfiguredValue]
    /// Every file, the lowest layer first.
    public var files: [ConfigurationFile]
    /// Errors in the files.
    public var problems: [ManifestProblem]

    public init(values: [ConfiguredValue], files: [ConfigurationFile], problems: [ManifestProblem]) {
        self.values = values
        self.files = files
        self.problems = problems
    }
}
