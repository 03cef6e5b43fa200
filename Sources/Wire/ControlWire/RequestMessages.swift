public import TaskModel

/// A request to run a task: the body of `POST /v1/requests`.
public struct SubmissionMessage: Codable, Equatable, Sendable {
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// The earliest time at which the task may start; `nil` means immediately.
    public var earliestBeginDate: Timestamp?
    /// Whether the launch requires external power, in addition to the manifest; `nil` means false.
    public var requiresExternalPower: Bool?
    /// Whether the launch requires a network connection, in addition to the manifest; `nil` means false.
    public var requiresNetworkConnectivity: Bool?
    /// Which network the launch requires, which implies `requiresNetworkConnectivity`; with `nil`, the
    /// manifest or the kind decides.
    public var network: NetworkRequirement?
    /// The payload: a JSON object as text, at most 48 KiB; `nil` if there is none.
    public var payload: String?
    /// For continued tasks, the title that the user sees.
    public var title: String?
    /// For continued tasks, the second line, below the title.
    public var subtitle: String?
    /// What to do with a continued task that cannot start now; `nil` means `queue`.
    public var strategy: SubmissionStrategy?
    /// Whether the launch requires a GPU; `nil` means false.
    public var requiresGPU: Bool?
    /// A key that identifies this submission: if it is repeated with the same key, the host returns the same
    /// request.
    public var idempotencyKey: String?
    /// The time by which the request must start; at this time, ``atDeadline`` applies.
    ///
    /// Without it (`nil`), the request does not fail, and the host computes the time from which it no longer
    /// waits for better conditions.
    public var deadline: Timestamp?
    /// What the host does if the request has not started by ``deadline``; `nil` means `fail`.
    public var atDeadline: DeadlineAction?
    /// What the host does if a request of the identifier is pending already; `nil` means `replace`.
    public var ifPending: PendingRule?
    /// Words by which the client groups its requests, at most 8; `nil` means none.
    public var tags: [Tag]?
    /// For a task whose queue has the order `priority`: 0 through 9, higher ones first; `nil` means 5.
    public var priority: Int?
    /// The requests that must succeed before this one starts, at most 100; `nil` means none.
    ///
    /// If one of them ends without success, this one fails with the reason `predecessorFailed`.
    public var afterSuccessOf: [RequestID]?
    /// The kind that the client expects; the host refuses the request if the manifest has another.
    ///
    /// `nil` accepts the kind in the manifest.
    public var kind: TaskKind?

    /// Makes a submission with the defaults of all other keys.
    public init(identifier: TaskIdentifier) {
        self.identifier = identifier
    }

    /// The submission as a value of the model.
    public var submission: TaskSubmission {
        var submission = TaskSubmission(identifier: identifier, origin: .client)
        submission.earliestBeginDate = earliestBeginDate?.time
        submission.requiresExternalPower = requiresExternalPower ?? false
        submission.requiresNetworkConnectivity = requiresNetworkConnectivity ?? false || network != nil
        submission.network = network
        submission.payload = payload
        submission.title = title ?? ""
        submission.subtitle = subtitle ?? ""
        submission.strategy = strategy ?? .queue
        submission.requiresGPU = requiresGPU ?? false
        submission.idempotencyKey = idempotencyKey
        submission.startDeadline = deadline.map { StartDeadline(date: $0.time, action: atDeadline ?? .fail) }
        submission.ifPending = ifPending ?? .replace
        submission.tags = Set(tags ?? []).sorted()
        submission.priority = priority
        submission.predecessors = Set(afterSuccessOf ?? []).sorted()
        submission.kind = kind
        return submission
    }
}

/// A request that the host has accepted.
public struct RequestMessage: Codable, Equatable, Sendable {
    /// The request's id, such as `R17`.
    public var request: RequestID
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// The bundle's identifier.
    public var bundle: BundleIdentifier
    /// The task's kind.
    public var kind: TaskKind
    /// When the host accepted the request.
    public var submittedAt: Timestamp
    /// The earliest time at which the task may start; `null` means immediately.
    @Explicit public var earliestBeginDate: Timestamp?
    /// The earliest time of the next attempt, after the request was put back; `null` if there is none.
    @Explicit public var notBefore: Timestamp?
    /// The time from which the request no longer waits for better conditions: only vetoes still delay it.
    public var deadline: Timestamp
    /// The number of the request's next launch, from 1.
    public var attempt: Int
    /// Since when it waits: since it was accepted or, after an attempt, since it was put back; `nil` from an
    /// older host.
    public var waitingSince: Timestamp?
    /// How many attempts in a row were stopped without progress; `nil` from an older host.
    public var attemptsWithoutProgress: Int?
    /// Whether the submission requires external power.
    public var requiresExternalPower: Bool
    /// Whether the submission requires a network connection.
    public var requiresNetworkConnectivity: Bool
    /// Which network the submission requires; `null` if it does not say.
    @Explicit public var network: NetworkRequirement?
    /// Whether the submission requires a GPU.
    public var requiresGPU: Bool
    /// What to do with a continued task that cannot start now.
    public var strategy: SubmissionStrategy
    /// What made the request.
    public var origin: RequestOrigin
    /// The title from the submission; empty if it has none.
    public var title: String
    /// The subtitle from the submission; empty if it has none.
    public var subtitle: String
    /// The tags, sorted; `nil` from an older host.
    public var tags: [Tag]?
    /// When the request fails if it has not started; `null` if it has no such deadline.
    @Explicit public var failsAt: Timestamp?
    /// The request of the same identifier, pending or running, that must end before this one is considered
    /// for a start; `null` if none.
    @Explicit public var after: RequestID?
    /// `true` if the request is one of a queue; left out otherwise.
    public var isQueued: Bool?
    /// For a request of a queue, the priority of its submission; left out if that stated none.
    public var priority: Int?
    /// The requests that had to succeed before this one; left out if there are none.
    public var afterSuccessOf: [RequestID]?
    /// Those of ``afterSuccessOf`` that have not succeeded; left out if there are none.
    public var notSucceeded: [RequestID]?
    /// The launch whose failure made the request (`onFailure`); left out if none did.
    public var failedLaunch: LaunchID?

    /// Copies a request, without its payload and its idempotency key.
    public init(_ request: TaskRequest) {
        self.request = request.id
        identifier = request.identifier
        bundle = request.bundle
        kind = request.kind
        submittedAt = Timestamp(request.submittedAt)
        deadline = Timestamp(request.deadline)
        attempt = request.attempt
        waitingSince = Timestamp(request.waitingSince)
        attemptsWithoutProgress = request.attempts.withoutProgress
        requiresExternalPower = request.submission.requiresExternalPower
        requiresNetworkConnectivity = request.submission.requiresNetworkConnectivity
        requiresGPU = request.submission.requiresGPU
        strategy = request.submission.strategy
        origin = request.submission.origin
        title = request.submission.title
        subtitle = request.submission.subtitle
        earliestBeginDate = request.submission.earliestBeginDate.map(Timestamp.init)
        notBefore = request.notBefore.map(Timestamp.init)
        network = request.submission.network
        tags = request.submission.tags
        failsAt = request.failsAt.map(Timestamp.init)
        after = request.after
        isQueued = request.isQueued ? true : nil
        priority = request.submission.priority
        let predecessors = request.submission.predecessors
        afterSuccessOf = predecessors.isEmpty ? nil : predecessors
        notSucceeded = request.openPredecessors.isEmpty ? nil : request.openPredecessors
        failedLaunch = request.failedLaunch
    }
}

/// The answer of `GET /v1/requests/R17`: a request in any state.
public struct RequestDetailMessage: Codable, Equatable, Sendable {
    /// The request.
    public var request: RequestMessage
    /// `pending`; `launched` while a launch of it runs; `done` after its end.
    public var state: String
    /// How it ended: the outcome of its last launch, or that of its end while it was pending; `null` before.
    @Explicit public var outcome: Outcome?
    /// Why it ended; `null` if there is no reason.
    @Explicit public var reason: Reason?
    /// When it ended; `null` before.
    @Explicit public var endedAt: Timestamp?
    /// The request that replaced it; `null` if none did.
    @Explicit public var replacedBy: RequestID?
    /// Its launches, in the order of its attempts, as far as the host still has them.
    public var launches: [LaunchMessage]

    /// Warnings about the request while it is pending, in whole sentences.
    public var warnings: [String] {
        guard state == RequestState.pending.rawValue else { return [] }
        return TaskRequest.warnings(
            kind: request.kind, origin: request.origin, submittedAt: request.submittedAt.time,
            earliestBeginDate: request.earliestBeginDate?.time)
    }

    /// Copies a record, and the records of its launches.
    public init(_ record: RequestRecord, _ launches: [LaunchRecord]) {
        request = RequestMessage(record.request)
        state = record.state.rawValue
        self.launches = launches.map(LaunchMessage.init)
        outcome = record.outcome
        reason = record.reason
        endedAt = record.endedAt.map(Timestamp.init)
        replacedBy = record.replacedBy
    }

    /// Whether the request has ended.
    public var hasEnded: Bool { state == RequestState.done.rawValue }
}

/// The answer of `POST /v1/requests`: the keys of the accepted request, `replaces`, `isRepeat`, `isKept` and
/// `warnings`.
public struct AcceptanceMessage: Codable, Equatable, Sendable {
    /// The accepted request.
    public var request: RequestMessage
    /// The pending request of the same identifier that this one replaces; `nil` if none.
    public var replaces: RequestID?
    /// Whether the host had already accepted a request with the same idempotency key, so that nothing
    /// changed.
    public var isRepeat: Bool
    /// Whether the request was pending already and stays, as the submission demanded, so that nothing
    /// changed.
    public var isKept: Bool
    /// Warnings about the request, in whole sentences; the host keeps the request in spite of them.
    public var warnings: [String]

    private enum CodingKeys: String, CodingKey { case replaces, isRepeat, isKept, warnings }

    public init(_ accepted: AcceptedSubmission) {
        request = RequestMessage(accepted.request)
        replaces = accepted.replaces
        isRepeat = accepted.isRepeat
        isKept = accepted.isKept
        warnings = accepted.warnings
    }

    /// Decodes a request; an older host sends none of the other keys.
    public init(from decoder: any Decoder) throws {
        request = try RequestMessage(from: decoder)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        replaces = try values.decodeIfPresent(RequestID.self, forKey: .replaces)
        isRepeat = try values.decodeIfPresent(Bool.self, forKey: .isRepeat) ?? false
        isKept = try values.decodeIfPresent(Bool.self, forKey: .isKept) ?? false
        warnings = try values.decodeIfPresent([String].self, forKey: .warnings) ?? []
    }

    /// Encodes the keys of the request, and those of the acceptance in the same object.
    public func encode(to encoder: any Encoder) throws {
        try request.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(replaces, forKey: .replaces)
        try values.encode(isRepeat, forKey: .isRepeat)
        try values.encode(isKept, forKey: .isKept)
        try values.encode(warnings, forKey: .warnings)
    }
}

/// A pending request, with every policy's answer.
public struct PendingRequestMessage: Codable, Equatable, Sendable {
    /// The request.
    public var request: RequestMessage
    /// The policies' answers; one with a decision other than `proceed` prevents the start.
    public var verdicts: [VerdictMessage]
    /// What the request waits for, in one sentence; `null` from an older host.
    @Explicit public var headline: String?
    /// What the request has waited for until now, the longest wait first; `null` from an older host.
    @Explicit public var waited: [WaitMessage]?

    public init(_ pending: PendingRequest) {
        request = RequestMessage(pending.request)
        headline = pending.headline
        waited = pending.waited.map(WaitMessage.init)
        verdicts = pending.verdicts.map(VerdictMessage.init)
    }
}

/// A page of pending requests: the answer of `GET /v1/requests` with `after`.
public struct PendingPageMessage: Codable, Equatable, Sendable {
    /// The requests, oldest first.
    public var requests: [PendingRequestMessage]
    /// The value of `after` for the next page; `null` if there are no more requests.
    @Explicit public var next: RequestID?

    public init(_ page: ListingPage<PendingRequest, RequestID>) {
        requests = page.rows.map(PendingRequestMessage.init)
        next = page.next
    }
}

/// A page of pending requests in short form: the answer of `GET /v1/requests` with `after` and
/// `summary=true`.
public struct PendingSummaryPageMessage: Codable, Equatable, Sendable {
    /// The requests, oldest first.
    public var requests: [PendingSummaryMessage]
    /// The value of `after` for the next page; `null` if there are no more requests.
    @Explicit public var next: RequestID?

    public init(_ page: ListingPage<PendingSummary, RequestID>) {
        requests = page.rows.map(PendingSummaryMessage.init)
        next = page.next
    }
}

/// A pending request in short form, with the first reason why it waits.
public struct PendingSummaryMessage: Codable, Equatable, Sendable {
    /// The request's id, such as `R17`.
    public var request: RequestID
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// The task's kind.
    public var kind: TaskKind
    /// The number of the request's next launch, from 1.
    public var attempt: Int
    /// When the host accepted the request.
    public var submittedAt: Timestamp
    /// The earliest time of the next launch: the later one of the earliest begin date and of a retry's.
    @Explicit public var earliestStart: Timestamp?
    /// The first reason why the request waits, in words; `null` if it may start now.
    @Explicit public var reason: String?
    /// How many other reasons there are.
    public var otherReasons: Int
    /// The tags, sorted; `nil` from an older host.
    public var tags: [Tag]?
    /// What the request waits for, in one sentence; `null` from an older host.
    @Explicit public var headline: String?

    public init(_ summary: PendingSummary) {
        let request = summary.request
        headline = summary.headline
        self.request = request.id
        identifier = request.identifier
        kind = request.kind
        attempt = request.attempt
        submittedAt = Timestamp(request.submittedAt)
        otherReasons = summary.otherReasons
        tags = request.submission.tags
        earliestStart = summary.earliestStart.map(Timestamp.init)
        reason = summary.firstReason
    }
}

/// One policy's answer about one request.
public struct VerdictMessage: Codable, Equatable, Sendable {
    /// The policy's name.
    public var policy: String
    /// The policy's answer.
    public var decision: Decision
    /// How favorable the conditions are, 0 through 1.
    public var score: Double
    /// The weight of the score; 0 if it does not count.
    public var weight: Double
    /// What the policy found.
    public var rationale: [RationaleMessage]
    /// Since when the observed values have been the same; `null` if unknown.
    @Explicit public var since: Timestamp?

    public init(_ verdict: Verdict) {
        policy = verdict.policy
        decision = verdict.decision
        score = verdict.score
        weight = verdict.weight
        rationale = verdict.rationale.map(RationaleMessage.init)
        since = verdict.since.map(Timestamp.init)
    }
}

/// One finding of a policy: a quantity, with its required and its observed value.
public struct RationaleMessage: Codable, Equatable, Sendable {
    /// The name of the quantity, such as `externalPower`.
    public var quantity: String
    /// The value that the policy requires, in words.
    public var required: String
    /// The value that the policy observed, in words.
    public var observed: String
    /// The earliest time at which the observed value can change by itself; `null` if that does not depend on
    /// time.
    @Explicit public var earliestChange: Timestamp?
    /// An action or command that would help; `null` if the user can only wait.
    @Explicit public var remedy: String?

    public init(_ rationale: Rationale) {
        quantity = rationale.quantity
        required = rationale.required
        observed = rationale.observed
        earliestChange = rationale.earliestChange.map(Timestamp.init)
        remedy = rationale.remedy
    }

    /// The rationale as a value of the model.
    public var rationale: Rationale {
        Rationale(
            quantity: quantity, required: required, observed: observed, earliestChange: earliestChange?.time,
            remedy: remedy)
    }
}
