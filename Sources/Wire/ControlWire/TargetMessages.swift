public import TaskModel

/// The body of `POST /v1/cancel`, with one of its keys.
public struct CancelMessage: Codable, Equatable, Sendable {
    /// The request, launch or task to cancel: `R17`, `L42` or an identifier.
    public var target: String?
    /// The tag of the requests and launches to cancel.
    public var tag: Tag?

    public init(target: ControlTarget) {
        if case .tag(let tag) = target { self.tag = tag } else { self.target = target.description }
    }
}

/// What a cancellation cancelled: the response to `POST /v1/cancel`.
public struct CancellationMessage: Codable, Equatable, Sendable {
    /// The pending requests that the host cancelled.
    public var requests: [RequestID]
    /// The running launches that the host asked to stop.
    public var launches: [LaunchID]

    public init(_ cancellation: Cancellation) {
        requests = cancellation.requests
        launches = cancellation.launches
    }
}

/// The body of `POST /v1/expire`.
public struct ExpireMessage: Codable, Equatable, Sendable {
    /// The launches to stop: `L42`, or an identifier for all its launches.
    public var target: String
    /// The reason, one that ``Reason/isExpiration`` allows; `nil` means `simulated`.
    public var reason: Reason?

    public init(target: ControlTarget, reason: Reason) {
        self.target = target.description
        self.reason = reason
    }
}

/// The response to `POST /v1/expire`.
public struct ExpirationMessage: Codable, Equatable, Sendable {
    /// The launches that the host asked to stop.
    public var launches: [LaunchID]
    /// The reason that the launches received.
    public var reason: Reason

    public init(launches: [LaunchID], reason: Reason) {
        self.launches = launches
        self.reason = reason
    }
}
