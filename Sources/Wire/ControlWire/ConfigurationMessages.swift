public import TaskModel

/// The host's configuration: the body of `GET /v1/configuration`.
public struct ConfigurationMessage: Codable, Equatable, Sendable {
    /// The value of one layer.
    public struct Origin: Codable, Equatable, Sendable {
        /// The value, as a file has it.
        public var value: String
        /// Where it comes from.
        public var source: String

        init(_ origin: ConfiguredValue.Origin) {
            value = origin.value
            source = origin.source
        }
    }

    /// One value.
    public struct Value: Codable, Equatable, Sendable {
        /// `scheduling.refreshSpacing`.
        public var key: String
        /// What is in force.
        public var value: String
        /// Where it comes from: a file with its line, an environment variable, an option, `standard`, `bgtask
        /// settings`.
        public var source: String
        /// The values that it overrides, the nearest layer first.
        public var overridden: [Origin]
        /// The value after the next start of the host; `null` if that changes nothing.
        @Explicit public var afterRestart: Origin?

        /// Copies a row.
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
        /// The file.
        public var path: String
        /// `vendor`, `administrator` or `option --config`.
        public var layer: String
        /// What the host makes of it.
        public var state: ConfigurationFile.State

        /// Copies a row.
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
    /// What is wrong in the files.
    public var problems: [ProblemMessage]

    /// Copies a listing.
    public init(_ listing: ConfigurationListing) {
        values = listing.values.map(Value.init)
        files = listing.files.map(File.init)
        problems = listing.problems.map(ProblemMessage.init)
    }
}
