/// A submission that the host has accepted.
public struct AcceptedSubmission: Equatable, Sendable {
    /// The durable request.
    public var request: TaskRequest
    /// The pending request of the same identifier that it replaces.
    public var replaces: RequestID?
    /// Whether the host had accepted it before with the same idempotency key, so that nothing has changed.
    public var isRepeat: Bool

    /// Joins a request with what its acceptance changed.
    public init(request: TaskRequest, replaces: RequestID?, isRepeat: Bool = false) {
        self.request = request
        self.replaces = replaces
        self.isRepeat = isRepeat
    }
}

/// A request that waits, and the current verdicts of the policies.
public struct PendingRequest: Equatable, Sendable {
    /// The request.
    public var request: TaskRequest
    /// Every policy's answer; one that is a veto keeps the request from starting.
    public var verdicts: [Verdict]

    public init(request: TaskRequest, verdicts: [Verdict]) {
        self.request = request
        self.verdicts = verdicts
    }
}

/// A launch with what it printed and logged.
public struct LaunchDetail: Equatable, Sendable {
    /// The record.
    public var record: LaunchRecord
    /// Its lines, oldest first, as far as the host remembers them.
    public var log: [LogLine]

    public init(record: LaunchRecord, log: [LogLine]) {
        self.record = record
        self.log = log
    }
}

/// What a `cancel` reached.
public struct Cancellation: Equatable, Sendable {
    /// Pending requests that are gone.
    public var requests: [RequestID]
    /// Running launches that were asked to stop with `cancelledByUser`.
    public var launches: [LaunchID]

    public init(requests: [RequestID], launches: [LaunchID]) {
        self.requests = requests
        self.launches = launches
    }
}

/// A simulated launch that was started.
public struct SimulatedLaunch: Equatable, Sendable {
    /// Its record, just started.
    public var record: LaunchRecord
    /// The task's process, for a debugger; only where one was asked for.
    public var processIdentifier: Int32?

    public init(record: LaunchRecord, processIdentifier: Int32?) {
        self.record = record
        self.processIdentifier = processIdentifier
    }
}

/// What the plugins and manifests directories hold.
public struct PluginListing: Equatable, Sendable {
    /// What can be launched.
    public var handlers: [PermittedHandler]
    /// What is wrong.
    public var problems: [ManifestProblem]
    /// What their authors should know of the installed versions, by bundle.
    public var advice: [BundleIdentifier: [PluginAdvice]]

    public init(
        handlers: [PermittedHandler], problems: [ManifestProblem],
        advice: [BundleIdentifier: [PluginAdvice]] = [:]
    ) {
        self.handlers = handlers
        self.problems = problems
        self.advice = advice
    }
}

/// Facts about the host and the machine.
public struct HostReport: Equatable, Sendable {
    /// One line: `state directory`, `/var/lib/bgtask`.
    public struct Fact: Equatable, Sendable {
        /// What it is.
        public var name: String
        /// Its value.
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Which isolation layers were found.
    public var isolation: IsolationReport
    /// Everything else, in the order in which it is shown.
    public var facts: [Fact]
    /// What is wrong in the host's configuration.
    public var problems: [ManifestProblem]

    public init(isolation: IsolationReport, facts: [Fact], problems: [ManifestProblem] = []) {
        self.isolation = isolation
        self.facts = facts
        self.problems = problems
    }
}
