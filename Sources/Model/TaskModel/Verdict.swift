/// What a policy found: a quantity, what it should be, what it is, and when that can change.
public struct Rationale: Equatable, Hashable, Sendable, Codable {
    /// What was looked at: `externalPower`, `earliestBeginDate`, `launchesOfIdentifier`.
    public var quantity: String
    /// What the policy requires, for people.
    public var required: String
    /// What it saw, for people.
    public var observed: String
    /// The earliest time at which this can change by itself; `nil` if no clock decides it.
    public var earliestChange: WallTime?
    /// The act or command that would help; `nil` if only time does.
    public var remedy: String?

    public init(
        quantity: String, required: String, observed: String, earliestChange: WallTime? = nil,
        remedy: String? = nil
    ) {
        self.quantity = quantity
        self.required = required
        self.observed = observed
        self.earliestChange = earliestChange
        self.remedy = remedy
    }
}

/// The answer of a policy about starting one request now.
public enum Decision: String, Sendable, Codable, CaseIterable {
    /// It has nothing against it.
    case proceed
    /// Not now.
    case mustNotProceed
    /// Not now, and what runs already should stop too.
    case absolutelyMustNotProceed
}

/// One policy's answer about one request, as `explain` prints it.
public struct Verdict: Equatable, Hashable, Sendable, Codable {
    /// The policy's name: `ExternalPower`.
    public var policy: String
    /// Its answer.
    public var decision: Decision
    /// 0 through 1, of a policy that proceeds.
    public var score: Double
    /// How much its score counts; 0 for a policy that can only veto, or has no opinion on this request.
    public var weight: Double
    /// What it looked at.
    ///
    /// Empty if the policy gave no reason.
    public var rationale: [Rationale]
    /// Since when what it looked at has been so, as far as the host knows; `nil` if that has no time.
    public var since: WallTime?

    public init(
        policy: String, decision: Decision, score: Double, weight: Double, rationale: [Rationale],
        since: WallTime? = nil
    ) {
        self.since = since
        self.policy = policy
        self.decision = decision
        self.score = score
        self.weight = weight
        self.rationale = rationale
    }

    /// Whether it keeps the request from starting.
    public var isVeto: Bool { decision != .proceed }
}
