/// The number of a request in the store, written as `R17`.
public struct RequestID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The store's number, from 1.
    public let rawValue: Int64
    /// Makes an id from the store's number.
    public init(rawValue: Int64) { self.rawValue = rawValue }
    /// Parses text such as `R17`; returns `nil` for anything else.
    public init?(_ text: String) {
        guard text.hasPrefix("R"), let number = Int64(text.dropFirst()), number > 0 else { return nil }
        rawValue = number
    }
    /// The form `R17`.
    public var description: String { "R\(rawValue)" }
    /// Orders by age: a smaller number was accepted earlier.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// What the host does with a continued request that cannot start now.
public enum SubmissionStrategy: String, Sendable, Codable, CaseIterable {
    /// It refuses the request with `immediateRunIneligible`.
    case fail
    /// It keeps the request; kept requests start in the order of their submission.
    case queue
}

/// What made a request.
public enum RequestOrigin: String, Sendable, Codable, CaseIterable {
    /// A client of the control channel.
    case client
    /// A running handler of the same bundle.
    case handler
    /// The schedule of a manifest.
    case schedule
    /// A simulated launch (`bgtask launch`) of an identifier that had no pending request.
    case simulated
    /// The installation of a plugin that is an app, or a change of its library.
    case installation
    /// The end of all transfers of a background session of the bundle.
    case session
    /// The failure of a request whose task has an `onFailure:`.
    case failure
}

/// How urgent a silent push is; the numbers are those of Apple's `apns-priority`.
public enum PushPriority: Int, Sendable, Codable, CaseIterable {
    /// The host may delay the push to save power.
    case considerate = 5
    /// The host starts the push as soon as no policy has a veto; the push needs no score. Of the rate limits,
    /// only those per identifier and per hour apply.
    case immediate = 10
}

/// A request of a client, a handler or a schedule, before the host has accepted it.
public struct TaskSubmission: Equatable, Sendable, Codable {
    /// The task's identifier; a manifest must permit it.
    public var identifier: TaskIdentifier
    /// The kind that the submitter expects; it must be the kind in the manifest.
    ///
    /// `nil` accepts the kind in the manifest. Stores keep only the request's kind.
    public var kind: TaskKind?
    /// The earliest time at which the task may start; when it starts depends on the conditions.
    ///
    /// `nil` means that it may start immediately.
    public var earliestBeginDate: WallTime?
    /// Whether the launch requires external power; the manifest may require it too.
    public var requiresExternalPower = false
    /// Whether the launch requires a network connection; the manifest may require it too.
    public var requiresNetworkConnectivity = false
    /// Which network the launch requires; the manifest may be stricter.
    ///
    /// A value implies ``requiresNetworkConnectivity``. With `nil`, the manifest or the kind decides which
    /// one is enough (``NetworkRequirement/inForce(_:_:kind:)``).
    public var network: NetworkRequirement?
    /// The payload: a JSON object as text, at most 48 KiB.
    ///
    /// `nil` means that there is none.
    public var payload: String?
    /// For continued tasks, the title that the user sees.
    public var title = ""
    /// For continued tasks, the second line, below the title.
    public var subtitle = ""
    /// For continued tasks, what to do if the task cannot start now.
    public var strategy = SubmissionStrategy.queue
    /// Whether the launch requires a GPU.
    public var requiresGPU = false
    /// For pushes, how urgent the push is.
    public var pushPriority = PushPriority.considerate
    /// For activities, the end of the window in which to start, which becomes the request's deadline.
    ///
    /// `nil` means that there is no window. Stores keep only the request's deadline.
    public var deadline: WallTime?
    /// A key that identifies this submission: if it is repeated with the same key, the host returns the same
    /// request.
    ///
    /// `nil` never matches another submission.
    public var idempotencyKey: String?
    /// The time by which the client wants the request to start; `nil` if it did not say.
    public var startDeadline: StartDeadline?
    /// What to do if a request of the identifier waits already.
    ///
    /// Stores do not keep it.
    public var ifPending = PendingRule.replace
    /// The words by which the client groups its requests: at most ``Tag/mostPerRequest``, sorted, each once.
    public var tags: [Tag] = []
    /// For tasks with a queue, the place among those that wait: ``QueuePriority/range``, higher ones first.
    ///
    /// `nil` means ``QueuePriority/standard``.
    public var priority: Int?
    /// The requests that must succeed before this one may start, sorted, each once.
    ///
    /// At most ``mostPredecessors``.
    public var predecessors: [RequestID] = []
    /// What made the request.
    public var origin: RequestOrigin

    /// Makes a submission with the defaults of all other properties.
    public init(identifier: TaskIdentifier, origin: RequestOrigin) {
        self.identifier = identifier
        self.origin = origin
    }
}

extension TaskSubmission {
    /// Whether this is a push of priority 5, and the request that waits is one of priority 10, whose place it
    /// may not take.
    ///
    /// - Parameters:
    ///   - waiting: The pending request of the same identifier.
    ///   - kind: The kind of the identifier.
    /// - Returns: Whether this submission must be refused.
    public func isLessUrgent(than waiting: TaskRequest, kind: TaskKind) -> Bool {
        kind == .push && pushPriority == .considerate && waiting.submission.pushPriority == .immediate
    }
}

/// A request that the host has accepted; the store keeps it until it ends.
public struct TaskRequest: Equatable, Sendable, Codable {
    /// The number of the request in the store.
    public let id: RequestID
    /// The submission that made the request.
    public var submission: TaskSubmission
    /// The bundle whose manifest permits the task.
    public var bundle: BundleIdentifier
    /// The kind that the manifest gives the task.
    public var kind: TaskKind
    /// When the host accepted the request.
    public var submittedAt: WallTime
    /// The number of the next launch, from 1; grows when the host puts the request back.
    public var attempt: Int
    /// How many launches of the request failed or crashed; those that expired or were lost do not count.
    public var failures = 0
    /// The earliest time of the next attempt after the request was put back, in addition to the earliest
    /// begin date; `nil` if there is none.
    public var notBefore: WallTime?
    /// The time from which the request no longer waits for better conditions: only vetoes still delay it.
    public var deadline: WallTime
    /// The beginning of the present wait: when the request was accepted, or when it was put back.
    ///
    /// Requests that were put back start in the order of this time.
    public var waitingSince: WallTime
    /// The progress of the earlier attempts.
    public var attempts = AttemptHistory()
    /// The request of the same identifier that must end before this one may start; `nil` if there is none.
    ///
    /// The scheduler gets the request only when this is `nil`.
    public var after: RequestID?
    /// Those of ``TaskSubmission/predecessors`` that have not succeeded.
    ///
    /// The scheduler gets the request only when there are none. If one of them ends otherwise, the request
    /// fails, and keeps those that had not succeeded.
    public var openPredecessors: [RequestID] = []
    /// Whether the request is one of a queue: others of the same identifier can be pending at the same time.
    ///
    /// The task had a `queue:` when the request was accepted.
    public var isQueued = false

    /// Makes a request from the values that the store keeps; its wait begins with its submission.
    public init(
        id: RequestID, submission: TaskSubmission, bundle: BundleIdentifier, kind: TaskKind,
        submittedAt: WallTime, attempt: Int, notBefore: WallTime?, deadline: WallTime
    ) {
        self.id = id
        self.submission = submission
        self.bundle = bundle
        self.kind = kind
        self.submittedAt = submittedAt
        self.attempt = attempt
        self.notBefore = notBefore
        self.deadline = deadline
        waitingSince = submittedAt
    }

    /// Makes the request pending again after an attempt.
    ///
    /// - Parameters:
    ///   - putBack: How it becomes pending.
    ///   - time: The end of the attempt.
    public mutating func putBack(_ putBack: PutBack, at time: WallTime) {
        attempt += 1
        if putBack.isRetry { failures += 1 }
        notBefore = putBack.notBefore?.rounded
        waitingSince = time.rounded
        attempts = putBack.attempts
    }

    /// The task's identifier.
    public var identifier: TaskIdentifier { submission.identifier }

    /// When the request fails if it has not started; `nil` if it has no such deadline.
    public var failsAt: WallTime? {
        guard let limit = submission.startDeadline, limit.action == .fail else { return nil }
        return limit.date
    }

    /// The earliest begin date; `nil` for continued tasks, which ignore it.
    public var effectiveBeginDate: WallTime? {
        kind == .continuedProcessing ? nil : submission.earliestBeginDate
    }

    /// How far ahead an earliest begin date can be without a warning: 7 days.
    ///
    /// Apple's documentation advises against dates more than a week ahead.
    public static let farAhead = Duration.seconds(7 * 86_400)

    /// Warnings for the submitter, in whole sentences; the host keeps the request in spite of them.
    public var warnings: [String] {
        Self.warnings(
            kind: kind, origin: submission.origin, submittedAt: submittedAt,
            earliestBeginDate: effectiveBeginDate)
    }

    /// The same for the facts of a request; the dates of schedules are not the submitter's, and need none.
    public static func warnings(
        kind: TaskKind, origin: RequestOrigin?, submittedAt: WallTime, earliestBeginDate: WallTime?
    ) -> [String] {
        guard let date = earliestBeginDate, kind != .continuedProcessing, origin != .schedule else {
            return []
        }
        if submittedAt - date > .seconds(60) {
            return ["The earliest begin date is in the past, so it has no effect"]
        }
        guard date - submittedAt > farAhead else { return [] }
        return [
            "The earliest begin date is more than 7 days ahead, which Apple advises against. The host keeps the "
                + "request. If you meant another date, submit it again"
        ]
    }

    /// Whether the host may delay the request.
    ///
    /// This is true for all requests except continued ones, urgent pushes and app launches.
    public var isDiscretionary: Bool {
        kind.isDiscretionary && !(kind == .push && submission.pushPriority == .immediate)
    }
}

extension TaskRequest {
    private enum CodingKeys: String, CodingKey {
        case id, submission, bundle, kind, submittedAt, attempt, failures, notBefore, deadline, waitingSince
        case attempts, after, openPredecessors, isQueued
    }

    /// Decodes a request; in an older recording, its wait begins with its submission, without attempts.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try values.decode(RequestID.self, forKey: .id),
            submission: try values.decode(TaskSubmission.self, forKey: .submission),
            bundle: try values.decode(BundleIdentifier.self, forKey: .bundle),
            kind: try values.decode(TaskKind.self, forKey: .kind),
            submittedAt: try values.decode(WallTime.self, forKey: .submittedAt),
            attempt: try values.decode(Int.self, forKey: .attempt),
            notBefore: try values.decodeIfPresent(WallTime.self, forKey: .notBefore),
            deadline: try values.decode(WallTime.self, forKey: .deadline))
        failures = try values.decode(Int.self, forKey: .failures)
        waitingSince = try values.decodeIfPresent(WallTime.self, forKey: .waitingSince) ?? submittedAt
        attempts = try values.decodeIfPresent(AttemptHistory.self, forKey: .attempts) ?? AttemptHistory()
        after = try values.decodeIfPresent(Int64.self, forKey: .after).map(RequestID.init(rawValue:))
        isQueued = try values.decodeIfPresent(Bool.self, forKey: .isQueued) ?? false
        openPredecessors =
            try values.decodeIfPresent([RequestID].self, forKey: .openPredecessors) ?? []
    }

    /// Encodes a request; ``waitingSince`` and ``attempts`` only after the first attempt.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(submission, forKey: .submission)
        try values.encode(bundle, forKey: .bundle)
        try values.encode(kind, forKey: .kind)
        try values.encode(submittedAt, forKey: .submittedAt)
        try values.encode(attempt, forKey: .attempt)
        try values.encode(failures, forKey: .failures)
        try values.encodeIfPresent(notBefore, forKey: .notBefore)
        try values.encode(deadline, forKey: .deadline)
        if waitingSince != submittedAt { try values.encode(waitingSince, forKey: .waitingSince) }
        if attempts != AttemptHistory() { try values.encode(attempts, forKey: .attempts) }
        try values.encodeIfPresent(after?.rawValue, forKey: .after)
        if isQueued { try values.encode(isQueued, forKey: .isQueued) }
        if !openPredecessors.isEmpty { try values.encode(openPredecessors, forKey: .openPredecessors) }
    }
}

extension TaskSubmission {
    private enum CodingKeys: String, CodingKey {
        case identifier, kind, earliestBeginDate, requiresExternalPower, requiresNetworkConnectivity, network
        case payload, title, subtitle, strategy, requiresGPU, pushPriority, deadline, idempotencyKey
        case startDeadline, ifPending, tags, priority, predecessors, origin
    }

    /// Decodes a submission; one of an older recording has no tags and no deadline of a client.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            identifier: try values.decode(TaskIdentifier.self, forKey: .identifier),
            origin: try values.decode(RequestOrigin.self, forKey: .origin))
        kind = try values.decodeIfPresent(TaskKind.self, forKey: .kind)
        earliestBeginDate = try values.decodeIfPresent(WallTime.self, forKey: .earliestBeginDate)
        requiresExternalPower = try values.decode(Bool.self, forKey: .requiresExternalPower)
        requiresNetworkConnectivity = try values.decode(Bool.self, forKey: .requiresNetworkConnectivity)
        network = try values.decodeIfPresent(NetworkRequirement.self, forKey: .network)
        payload = try values.decodeIfPresent(String.self, forKey: .payload)
        title = try values.decode(String.self, forKey: .title)
        subtitle = try values.decode(String.self, forKey: .subtitle)
        strategy = try values.decode(SubmissionStrategy.self, forKey: .strategy)
        requiresGPU = try values.decode(Bool.self, forKey: .requiresGPU)
        pushPriority = try values.decode(PushPriority.self, forKey: .pushPriority)
        deadline = try values.decodeIfPresent(WallTime.self, forKey: .deadline)
        idempotencyKey = try values.decodeIfPresent(String.self, forKey: .idempotencyKey)
        startDeadline = try values.decodeIfPresent(StartDeadline.self, forKey: .startDeadline)
        ifPending = try values.decodeIfPresent(PendingRule.self, forKey: .ifPending) ?? .replace
        tags = try values.decodeIfPresent([Tag].self, forKey: .tags) ?? []
        priority = try values.decodeIfPresent(Int.self, forKey: .priority)
        predecessors = try values.decodeIfPresent([RequestID].self, forKey: .predecessors) ?? []
    }

    /// Encodes a submission; what has its default and was added later is left out.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(identifier, forKey: .identifier)
        try values.encodeIfPresent(kind, forKey: .kind)
        try values.encodeIfPresent(earliestBeginDate, forKey: .earliestBeginDate)
        try values.encode(requiresExternalPower, forKey: .requiresExternalPower)
        try values.encode(requiresNetworkConnectivity, forKey: .requiresNetworkConnectivity)
        try values.encodeIfPresent(network, forKey: .network)
        try values.encodeIfPresent(payload, forKey: .payload)
        try values.encode(title, forKey: .title)
        try values.encode(subtitle, forKey: .subtitle)
        try values.encode(strategy, forKey: .strategy)
        try values.encode(requiresGPU, forKey: .requiresGPU)
        try values.encode(pushPriority, forKey: .pushPriority)
        try values.encodeIfPresent(deadline, forKey: .deadline)
        try values.encodeIfPresent(idempotencyKey, forKey: .idempotencyKey)
        try values.encodeIfPresent(startDeadline, forKey: .startDeadline)
        if ifPending != .replace { try values.encode(ifPending, forKey: .ifPending) }
        if !tags.isEmpty { try values.encode(tags, forKey: .tags) }
        try values.encodeIfPresent(priority, forKey: .priority)
        if !predecessors.isEmpty { try values.encode(predecessors, forKey: .predecessors) }
        try values.encode(origin, forKey: .origin)
    }
}
