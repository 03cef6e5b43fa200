/// Where a request is in its life; the raw values are in the database.
public enum RequestState: String, Sendable, CaseIterable {
    /// Stored, not launched.
    case pending
    /// A launch runs it.
    case launched
    /// Over for good.
    case done
}

/// The store's answer to a submission.
public struct Acceptance: Equatable, Sendable {
    /// The request: the new one, or the one that was there.
    public var request: TaskRequest
    /// Its state; anything but `pending` only where ``isRepeat``.
    public var state: RequestState
    /// Whether nothing was stored, because the same was accepted before.
    public var isRepeat: Bool
    /// The pending request whose place it took; `nil` if none.
    public var replaced: TaskRequest?

    /// Makes an answer.
    public init(request: TaskRequest, state: RequestState, isRepeat: Bool, replaced: TaskRequest?) {
        self.request = request
        self.state = state
        self.isRepeat = isRepeat
        self.replaced = replaced
    }
}

/// A request with its state and, once it is done, its end.
public struct RequestRecord: Equatable, Sendable {
    /// The request.
    public var request: TaskRequest
    /// Where it is.
    public var state: RequestState
    /// How it ended: its last launch's outcome, or `cancelled` before any; `nil` before.
    public var outcome: Outcome?
    /// Why; `nil` where there is none.
    public var reason: Reason?
    /// When; `nil` before.
    public var endedAt: WallTime?
    /// The request that took its place while it was pending.
    public var replacedBy: RequestID?

    /// Makes a record.
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

/// The wish that a request becomes pending again when its launch ends.
public struct PutBack: Equatable, Sendable {
    /// The next attempt must not start before this; `nil` is at once.
    public var notBefore: WallTime?
    /// Whether the launch failed or crashed and is tried again: adds 1 to the request's failures.
    public var isRetry: Bool

    /// Makes a wish.
    public init(notBefore: WallTime?, isRetry: Bool = false) {
        self.notBefore = notBefore
        self.isRetry = isRetry
    }
}

/// What `RequestStore.recover` found and did.
public struct Recovery: Equatable, Sendable {
    /// The launches that are lost now, oldest first.
    public var lost: [LaunchRecord]
    /// The requests that are pending again.
    public var putBack: [TaskRequest]

    /// Makes a result.
    public init(lost: [LaunchRecord], putBack: [TaskRequest]) {
        self.lost = lost
        self.putBack = putBack
    }
}
