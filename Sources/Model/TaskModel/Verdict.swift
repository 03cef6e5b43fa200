/// One finding of a policy: the quantity, the required and observed values, and when it can change.
public struct Rationale: Equatable, Hashable, Sendable, Codable {
    /// The name of the quantity: `externalPower`, `earliestBeginDate` or `launchesOfIdentifier`, for example.
    public var quantity: String
    /// The value that the policy requires, in words.
    public var required: String
    /// The value that the policy observed, in words.
    public var observed: String
    /// The earliest time at which the observed value can change by itself; `nil` if that does not depend on
    /// time.
    public var earliestChange: WallTime?
    /// An action or command that would help; `nil` if the user can only wait.
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

/// A policy's answer to the question whether one request may start now.
public enum Decision: String, Sendable, Codable, CaseIterable {
    /// The policy does not object.
    case proceed
    /// The request must not start now.
    case mustNotProceed
    /// The request must not start now, and a running launch should stop too.
    case absolutelyMustNotProceed
}

/// One policy's answer about one request, as `bgtask explain` prints it.
public struct Verdict: Equatable, Hashable, Sendable, Codable {
    /// The policy's name, such as `ExternalPower`.
    public var policy: String
    /// The policy's answer.
    public var decision: Decision
    /// How favorable the conditions are, 0 through 1; it counts only if the policy does not object.
    public var score: Double
    /// The weight of the score; 0 for a policy that can only veto, or that gives this request no score.
    public var weight: Double
    /// What the policy found; empty if it gave no reason.
    public var rationale: [Rationale]
    /// Since when the observed values have been the same, as far as the host knows; `nil` if that has no
    /// meaning.
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

    /// Whether the answer prevents the start.
    public var isVeto: Bool { decision != .proceed }
}
