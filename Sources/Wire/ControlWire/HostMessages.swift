public import TaskModel

/// One condition with its source.
public struct ConditionMessage: Codable, Equatable, Sendable {
    /// `power`, `network`, ...
    public var key: String
    /// As `conditions set` takes it.
    public var value: String
    /// Who says so.
    public var source: String
    /// Since when.
    public var since: Timestamp

    /// Copies a row.
    public init(_ row: ConditionRow) {
        key = row.key
        value = row.value
        source = row.source
        since = Timestamp(row.since)
    }
}

/// The body of `PATCH /v1/conditions`.
public struct ConditionSettingsMessage: Codable, Equatable, Sendable {
    /// `KEY=VALUE` each; all are taken or none.
    public var settings: [String]

    /// Makes an order.
    public init(settings: [String]) {
        self.settings = settings
    }
}

/// What the host found out: the body of `GET /v1/report`.
public struct ReportMessage: Codable, Equatable, Sendable {
    /// One isolation layer.
    public struct Layer: Codable, Equatable, Sendable {
        /// Its name.
        public var name: String
        /// Whether it is there.
        public var isAvailable: Bool
        /// Where, or why not.
        public var finding: String
    }

    /// One fact.
    public struct Fact: Codable, Equatable, Sendable {
        /// What it is.
        public var name: String
        /// Its value.
        public var value: String
    }

    /// What guarantees that nothing of a launch survives its kill.
    public var groupKill: GroupKill
    /// Every layer that was probed.
    public var layers: [Layer]
    /// Everything else.
    public var facts: [Fact]
    /// What is wrong in the host's configuration; an older host does not send it.
    public var problems: [ProblemMessage]?

    /// Copies a report.
    public init(_ report: HostReport) {
        groupKill = report.isolation.groupKill
        layers = report.isolation.layers.map {
            Layer(name: $0.name, isAvailable: $0.isAvailable, finding: $0.finding)
        }
        facts = report.facts.map { Fact(name: $0.name, value: $0.value) }
        problems = report.problems.map(ProblemMessage.init)
    }
}

/// The body of `GET /v1/version`.
public struct VersionMessage: Codable, Equatable, Sendable {
    /// `bgtask`.
    public var product: String
    /// The host's version.
    public var version: String
    /// The control API's, ``ControlProtocol/version``.
    public var api: Int

    public init(version: String) {
        product = "bgtask"
        self.version = version
        api = ControlProtocol.version
    }
}
