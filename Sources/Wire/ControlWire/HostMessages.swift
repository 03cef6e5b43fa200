public import TaskModel

/// One condition with its source.
public struct ConditionMessage: Codable, Equatable, Sendable {
    /// The name of the condition, such as `power` or `network`.
    public var key: String
    /// The value in the syntax of `bgtask conditions set`.
    public var value: String
    /// The source of the value, such as `sysfs` or `simulated`.
    public var source: String
    /// Since when the condition has had this value.
    public var since: Timestamp

    public init(_ row: ConditionRow) {
        key = row.key
        value = row.value
        source = row.source
        since = Timestamp(row.since)
    }
}

/// The body of `PATCH /v1/conditions`.
public struct ConditionSettingsMessage: Codable, Equatable, Sendable {
    /// Settings of the form `KEY=VALUE`; the host applies all of them or none.
    public var settings: [String]

    public init(settings: [String]) {
        self.settings = settings
    }
}

/// Facts about the host and the machine: the body of `GET /v1/report`.
public struct ReportMessage: Codable, Equatable, Sendable {
    /// One isolation layer.
    public struct Layer: Codable, Equatable, Sendable {
        /// The layer's name.
        public var name: String
        /// Whether the layer is available.
        public var isAvailable: Bool
        /// Where the layer was found, or why it is not available.
        public var finding: String
    }

    /// One line of the report, such as `state directory` with its path.
    public struct Fact: Codable, Equatable, Sendable {
        /// What the value describes.
        public var name: String
        /// The value in words.
        public var value: String
    }

    /// How the host kills all processes of a launch.
    public var groupKill: GroupKill
    /// All isolation layers that the host looked for.
    public var layers: [Layer]
    /// The layers of the sandbox that the machine has; `nil` from an older host, which does not send them.
    public var sandbox: [SandboxLayer]?
    /// All other facts, in the order in which they are shown.
    public var facts: [Fact]
    /// The errors in the host's configuration; `nil` from an older host, which does not send them.
    public var problems: [ProblemMessage]?

    public init(_ report: HostReport) {
        groupKill = report.isolation.groupKill
        layers = report.isolation.layers.map {
            Layer(name: $0.name, isAvailable: $0.isAvailable, finding: $0.finding)
        }
        sandbox = SandboxLayer.allCases.filter(report.isolation.sandbox.contains)
        facts = report.facts.map { Fact(name: $0.name, value: $0.value) }
        problems = report.problems.map(ProblemMessage.init)
    }
}

/// The body of `GET /v1/version`.
public struct VersionMessage: Codable, Equatable, Sendable {
    /// Always `bgtask`.
    public var product: String
    /// The host's version.
    public var version: String
    /// The version of the control API; see ``ControlProtocol/version``.
    public var api: Int

    public init(version: String) {
        product = "bgtask"
        self.version = version
        api = ControlProtocol.version
    }
}
