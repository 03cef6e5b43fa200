public import TaskModel

/// The host's configuration: the body of `GET /v1/configuration`.
public struct ConfigurationMessage: Codable, Equatable, Sendable {
    /// A value from one layer of the configuration.
    public struct Origin: Codable, Equatable, Sendable {
        /// The value, as it is written in a file.
        public var value: String
        /// Where the value comes from; see ``Value/source``.
        public var source: String

        init(_ origin: ConfiguredValue.Origin) {
            value = origin.value
            source = origin.source
        }
    }

    /// One setting.
    public struct Value: Codable, Equatable, Sendable {
        /// The setting's key, such as `scheduling.refreshSpacing`.
        public var key: String
        /// The value in force.
        public var value: String
        /// Where the value comes from: a file with a line number, an environment variable, an option,
        /// `standard` or `bgtask settings`.
        public var source: String
        /// The values from lower layers that this one overrides, the highest layer first.
        public var overridden: [Origin]
        /// The value that will be in force after a restart of the host; `null` if a restart changes nothing.
        @Explicit public var afterRestart: Origin?

        public init(_ value: ConfiguredValue) {
            key = value.key
            self.value = value.inForce.value
            source = value.inForce.source
            overridden = value.overridden.map(Origin.init)
            afterRestart = value.afterRestart.map(Origin.init)
        }
    }

    /// One file.
    public struct File: Codable, Equatable, Sendable {
        /// The path of the file.
        public var path: String
        /// `vendor`, `administrator` or `option --config`.
        public var layer: String
        /// Whether the host uses the file's values.
        public var state: ConfigurationFile.State

        public init(_ file: ConfigurationFile) {
            path = file.path
            layer = file.layer
            state = file.state
        }
    }

    /// Every value in force.
    public var values: [Value]
    /// Every file, the lowest layer first.
    public var files: [File]
    /// Errors in the files.
    public var problems: [ProblemMessage]

    public init(_ listing: ConfigurationListing) {
        values = listing.values.map(Value.init)
        files = listing.files.map(File.init)
        problems = listing.problems.map(ProblemMessage.init)
    }
}
