public import TaskModel

/// The body of `POST /v1/cancel`.
public struct CancelMessage: Codable, Equatable, Sendable {
    /// `R17`, `L42` or an identifier.
    public var target: String

    /// Asks the host to cancel what the target names.
    public init(target: ControlTarget) {
        self.target = target.description
    }
}

/// What a cancel reached.
public struct CancellationMessage: Codable, Equatable, Sendable {
    /// Pending requests that are gone.
    public var requests: [RequestID]
    /// Launches that were asked to stop.
    public var launches: [LaunchID]

    /// Copies an answer.
    public init(_ cancellation: Cancellation) {
        requests = cancellation.requests
        launches = cancellation.launches
    }
}

/// The body of `POST /v1/expire`.
public struct ExpireMessage: Codable, Equatable, Sendable {
    /// `L42` or an identifier.
    public var target: String
    /// One that an expiration may give; `nil` is `simulated`.
    public var reason: Reason?

    /// Asks the host to stop the launches that the target names.
    public init(target: ControlTarget, reason: Reason) {
        self.target = target.description
        self.reason = reason
    }
}

/// The launches that an expire reached.
public struct ExpirationMessage: Codable, Equatable, Sendable {
    /// Which were asked to stop.
    public var launches: [LaunchID]
    /// Why.
    public var reason: Reason

    /// Names the launches that the host asked to stop.
    public init(launches: [LaunchID], reason: Reason) {
        self.launches = launches
        self.reason = reason
    }
}
