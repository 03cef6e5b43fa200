public import TaskModel

/// The body of `POST /v1/requests`.
public struct SubmissionMessage: Codable, Equatable, Sendable {
    /// The task.
    public var identifier: TaskIdentifier
    /// Not before; `nil` has no delay.
    public var earliestBeginDate: Timestamp?
    /// Added to the manifest's constraint; `nil` is false.
    public var requiresExternalPower: Bool?
    /// Added to the manifest's constraint; `nil` is false.
    public var requiresNetworkConnectivity: Bool?
    /// JSON text of an object, at most 48 KiB.
    public var payload: String?
    /// What the user sees of a continued task.
    public var title: String?
    /// Its second line.
    public var subtitle: String?
    /// `nil` is `queue`.
    public var strategy: SubmissionStrategy?
    /// Asks for the GPU; `nil` is false.
    public var requiresGPU: Bool?
    /// A repeated submission with the same key returns the same request.
    public var idempotencyKey: String?
    /// The kind that the client means; refused if the manifest gives another one, `nil` takes that.
    public var kind: TaskKind?

    /// Makes a submission without any wish but to run.
    public init(identifier: TaskIdentifier) {
        self.identifier = identifier
    }

    /// The value that the host takes.
    public var submission: TaskSubmission {
        var submission = TaskSubmission(identifier: identifier, origin: .client)
        submission.earliestBeginDate = earliestBeginDate?.time
        submission.requiresExternalPower = requiresExternalPower ?? false
        submission.requiresNetworkConnectivity = requiresNetworkConnectivity ?? false
        submission.payload = payload
        submission.title = title ?? ""
        submission.subtitle = subtitle ?? ""
        submission.strategy = strategy ?? .queue
        submission.requiresGPU = requiresGPU ?? false
        submission.idempotencyKey = idempotencyKey
        submission.kind = kind
        return submission
    }
}

/// An accepted request.
public struct RequestMessage: Codable, Equatable, Sendable {
    /// Its number: `R17`.
    public var request: RequestID
    /// The task.
    public var identifier: TaskIdentifier
    /// The bundle.
    public var bundle: BundleIdentifier
    /// The kind.
    public var kind: TaskKind
    /// When it was accepted.
    public var submittedAt: Timestamp
    /// Not before.
    @Explicit public var earliestBeginDate: Timestamp?
    /// A put-back's back-off.
    @Explicit public var notBefore: Timestamp?
    /// When every wish but vetoes should have fallen.
    public var deadline: Timestamp
    /// The number of its next launch.
    public var attempt: Int
    /// As submitted.
    public var requiresExternalPower: Bool
    /// As submitted.
    public var requiresNetworkConnectivity: Bool
    /// As submitted.
    public var requiresGPU: Bool
    /// As submitted.
    public var strategy: SubmissionStrategy
    /// Who made it.
    public var origin: RequestOrigin
    /// As submitted; empty if none.
    public var title: String
    /// As submitted; empty if none.
    public var subtitle: String

    /// Copies a request; its payload and key stay with the host.
    public init(_ request: TaskRequest) {
        self.request = request.id
        identifier = request.identifier
        bundle = request.bundle
        kind = request.kind
        submittedAt = Timestamp(request.submittedAt)
        deadline = Timestamp(request.deadline)
        attempt = request.attempt
        requiresExternalPower = request.submission.requiresExternalPower
        requiresNetworkConnectivity = request.submission.requiresNetworkConnectivity
        requiresGPU = request.submission.requiresGPU
        strategy = request.submission.strategy
        origin = request.submission.origin
        title = request.submission.title
        subtitle = request.submission.subtitle
        earliestBeginDate = request.submission.earliestBeginDate.map(Timestamp.init)
        notBefore = request.notBefore.map(Timestamp.init)
    }
}

/// The answer of `POST /v1/requests`: the keys of the accepted request, and `replaces`.
public struct AcceptanceMessage: Codable, Equatable, Sendable {
    /// The accepted request.
    public var request: RequestMessage
    /// The pending request of the same identifier that it replaces.
    public var replaces: RequestID?
    /// Whether the host had accepted it before with the same idempotency key, so that nothing has changed.
    public var isRepeat: Bool

    private enum CodingKeys: String, CodingKey { case replaces, isRepeat }

    /// Copies an answer.
    public init(_ accepted: AcceptedSubmission) {
        request = RequestMessage(accepted.request)
        replaces = accepted.replaces
        isRepeat = accepted.isRepeat
    }

    /// Decodes a request; an older host sends neither key.
    public init(from decoder: any Decoder) throws {
        request = try RequestMessage(from: decoder)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        replaces = try values.decodeIfPresent(RequestID.self, forKey: .replaces)
        isRepeat = try values.decodeIfPresent(Bool.self, forKey: .isRepeat) ?? false
    }

    /// Encodes the keys of the request, with `replaces` and `isRepeat` beside them.
    public func encode(to encoder: any Encoder) throws {
        try request.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(replaces, forKey: .replaces)
        try values.encode(isRepeat, forKey: .isRepeat)
    }
}

/// A request that waits, with every policy's answer.
public struct PendingRequestMessage: Codable, Equatable, Sendable {
    /// The request.
    public var request: RequestMessage
    /// The answers; one whose decision is not `proceed` keeps it from starting.
    public var verdicts: [VerdictMessage]

    /// Copies a pending request.
    public init(_ pending: PendingRequest) {
        request = RequestMessage(pending.request)
        verdicts = pending.verdicts.map(VerdictMessage.init)
    }
}

/// One policy's answer.
public struct VerdictMessage: Codable, Equatable, Sendable {
    /// The policy.
    public var policy: String
    /// Its answer.
    public var decision: Decision
    /// 0 through 1.
    public var score: Double
    /// How much the score counts.
    public var weight: Double
    /// What it looked at.
    public var rationale: [RationaleMessage]
    /// Since when what it looked at has been so.
    @Explicit public var since: Timestamp?

    /// Copies a verdict.
    public init(_ verdict: Verdict) {
        policy = verdict.policy
        decision = verdict.decision
        score = verdict.score
        weight = verdict.weight
        rationale = verdict.rationale.map(RationaleMessage.init)
        since = verdict.since.map(Timestamp.init)
    }
}

/// A quantity, what it should be and what it is.
public struct RationaleMessage: Codable, Equatable, Sendable {
    /// What was looked at.
    public var quantity: String
    /// What is required.
    public var required: String
    /// What was seen.
    public var observed: String
    /// When it can change by itself at the earliest.
    @Explicit public var earliestChange: Timestamp?
    /// What would help.
    @Explicit public var remedy: String?

    /// Copies a rationale.
    public init(_ rationale: Rationale) {
        quantity = rationale.quantity
        required = rationale.required
        observed = rationale.observed
        earliestChange = rationale.earliestChange.map(Timestamp.init)
        remedy = rationale.remedy
    }

    /// The value.
    public var rationale: Rationale {
        Rationale(
            quantity: quantity, required: required, observed: observed, earliestChange: earliestChange?.time,
            remedy: remedy)
    }
}
