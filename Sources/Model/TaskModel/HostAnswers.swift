/// A submission that the host has accepted.
public struct AcceptedSubmission: Equatable, Sendable {
    /// The request, as the host stored it.
    public var request: TaskRequest
    /// The pending request of the same identifier that this one replaces; `nil` if none.
    public var replaces: RequestID?
    /// Whether the host had already accepted a request with the same idempotency key, so that nothing
    /// changed.
    public var isRepeat: Bool
    /// Whether the request was pending already, and the submission said to keep it, so that nothing changed.
    public var isKept: Bool

    /// The date for which the replaced request was made, if a schedule made it.
    public var replacedDate: WallTime?

    /// Warnings for the submitter, in whole sentences; the host keeps the request in spite of them.
    public var warnings: [String] {
        guard let replacedDate, request.submission.origin != .schedule else { return request.warnings }
        let time = CivilTime(second: replacedDate.wholeSeconds)
        return request.warnings + [
            "This request takes the place of the one that the schedule of the task had made for "
                + "\(time.date)T\(time.clock)Z. The schedule continues after its launch, or if you cancel it"
        ]
    }

    /// Combines a request with the changes that its acceptance caused.
    public init(
        request: TaskRequest, replaces: RequestID?, isRepeat: Bool = false, isKept: Bool = false,
        replacedDate: WallTime? = nil
    ) {
        self.replacedDate = replacedDate
        self.request = request
        self.replaces = replaces
        self.isRepeat = isRepeat
        self.isKept = isKept
    }
}

/// A pending request, and the current verdicts of the policies.
public struct PendingRequest: Equatable, Sendable {
    /// The request.
    public var request: TaskRequest
    /// Every policy's answer; a single veto prevents the start.
    public var verdicts: [Verdict]
    /// What the request waits for, in one sentence; see ``Outlook/headline``.
    public var headline: String
    /// What the request has waited for until now.
    public var waited: [WaitSpan]

    public init(request: TaskRequest, verdicts: [Verdict], headline: String = "", waited: [WaitSpan] = []) {
        self.request = request
        self.verdicts = verdicts
        self.headline = headline
        self.waited = waited
    }
}

/// A pending request, and the first reason why it waits.
///
/// It takes a fraction of the time of a ``PendingRequest``, because only one verdict has texts for people.
public struct PendingSummary: Equatable, Sendable {
    /// The request.
    public var request: TaskRequest
    /// The first verdict that prevents the start; `nil` if the request may start now.
    public var reason: Verdict?
    /// How many other verdicts prevent the start.
    public var otherReasons: Int
    /// What the request waits for, in one sentence; see ``Outlook/headline``.
    public var headline: String

    public init(request: TaskRequest, reason: Verdict?, otherReasons: Int, headline: String = "") {
        self.headline = headline
        self.request = request
        self.reason = reason
        self.otherReasons = otherReasons
    }
}

/// A part of a listing, and where the next part begins.
public struct ListingPage<Row: Sendable, Cursor: Sendable>: Sendable {
    /// The rows, in the order of the listing.
    public var rows: [Row]
    /// The last row's number, after which the next page begins; `nil` if there are no more rows.
    public var next: Cursor?

    public init(rows: [Row], next: Cursor?) {
        self.rows = rows
        self.next = next
    }
}

extension ListingPage: Equatable where Row: Equatable, Cursor: Equatable {}

/// A launch, with the lines that it logged and printed.
public struct LaunchDetail: Equatable, Sendable {
    /// The record.
    public var record: LaunchRecord
    /// The launch's log lines and output, oldest first, as far as the host still has them.
    public var log: [LogLine]

    public init(record: LaunchRecord, log: [LogLine]) {
        self.record = record
        self.log = log
    }
}

/// What a `cancel` cancelled.
public struct Cancellation: Equatable, Sendable {
    /// The pending requests that the host cancelled.
    public var requests: [RequestID]
    /// The running launches that it asked to stop, with the reason `cancelledByUser`.
    public var launches: [LaunchID]

    public init(requests: [RequestID], launches: [LaunchID]) {
        self.requests = requests
        self.launches = launches
    }
}

/// A simulated launch that was started.
public struct SimulatedLaunch: Equatable, Sendable {
    /// The record of the launch, in state `starting`.
    public var record: LaunchRecord
    /// The process number for a debugger; `nil` unless the caller requested debugging.
    public var processIdentifier: Int32?

    public init(record: LaunchRecord, processIdentifier: Int32?) {
        self.record = record
        self.processIdentifier = processIdentifier
    }
}

/// The contents of the plugins directory and the manifests directory.
public struct PluginListing: Equatable, Sendable {
    /// The valid manifests, with the host's copies of their libraries.
    public var handlers: [PermittedHandler]
    /// The errors in manifests and libraries.
    public var problems: [ManifestProblem]
    /// Advice for the authors of the installed library versions, by bundle.
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
    /// One line of the report, such as `state directory` with the value `/var/lib/bgtask`.
    public struct Fact: Equatable, Sendable {
        /// What the value describes.
        public var name: String
        /// Its value.
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The isolation layers that the host found.
    public var isolation: IsolationReport
    /// All other lines of the report, in the order in which they are shown.
    public var facts: [Fact]
    /// The errors in the host's configuration.
    public var problems: [ManifestProblem]

    public init(isolation: IsolationReport, facts: [Fact], problems: [ManifestProblem] = []) {
        self.isolation = isolation
        self.facts = facts
        self.problems = problems
    }
}
