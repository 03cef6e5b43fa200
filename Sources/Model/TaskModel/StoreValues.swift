/// The state of a request; the database contains the raw values.
public enum RequestState: String, Sendable, CaseIterable {
    /// The request is stored, and no launch of it runs.
    case pending
    /// A launch of the request runs.
    case launched
    /// The request has ended and is never launched again.
    case done
}

/// The store's answer to a submission.
public struct Acceptance: Equatable, Sendable {
    /// The request: the new one, or the one that the store already contained.
    public var request: TaskRequest
    /// The request's state; always `pending` unless ``isRepeat`` is true.
    public var state: RequestState
    /// Whether the store changed nothing, because it had already accepted the same submission.
    public var isRepeat: Bool
    /// The pending request that the new one replaced; `nil` if none.
    public var replaced: TaskRequest?
    /// Whether the store changed nothing, because a request was pending and the submission said to keep it;
    /// then ``isRepeat`` is true, too.
    public var isKept = false

    public init(
        request: TaskRequest, state: RequestState, isRepeat: Bool, replaced: TaskRequest?,
        isKept: Bool = false
    ) {
        self.request = request
        self.state = state
        self.isRepeat = isRepeat
        self.replaced = replaced
        self.isKept = isKept
    }
}

/// A request with its state and, after it has ended, its outcome.
public struct RequestRecord: Equatable, Sendable {
    /// The request.
    public var request: TaskRequest
    /// The request's state.
    public var state: RequestState
    /// How the request ended; `nil` if it has not.
    ///
    /// This is the outcome of its last launch, or `cancelled` if it ended while it was pending.
    public var outcome: Outcome?
    /// Why the request ended; `nil` if there is no reason or it has not ended.
    public var reason: Reason?
    /// When the request ended; `nil` if it has not.
    public var endedAt: WallTime?
    /// The request that replaced this one while it was pending; `nil` if none did.
    public var replacedBy: RequestID?

    public init(
        request: TaskRequest, state: RequestState, outcome: Outcome? = nil, reason: Reason? = nil,
        endedAt: WallTime? = nil, replacedBy: RequestID? = nil
    ) {
        self.request = request
        self.state = state
        self.outcome = outcome
        self.reason = reason
        self.endedAt = endedAt
        self.replacedBy = replacedBy
    }
}

/// How to make a request pending again when its launch ends.
public struct PutBack: Equatable, Sendable {
    /// The earliest time of the next attempt; `nil` if it may start immediately.
    public var notBefore: WallTime?
    /// Whether this is a retry after a failure or crash, which adds 1 to the request's failures.
    public var isRetry: Bool
    /// The progress of the request's attempts, including the one that ended.
    public var attempts: AttemptHistory

    public init(
        notBefore: WallTime?, isRetry: Bool = false, attempts: AttemptHistory = AttemptHistory()
    ) {
        self.notBefore = notBefore
        self.isRetry = isRetry
        self.attempts = attempts
    }
}
