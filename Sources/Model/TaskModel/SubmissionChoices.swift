/// What the host does with a request that has not started by the deadline of its client.
public enum DeadlineAction: String, Sendable, Codable, CaseIterable {
    /// The request fails with the reason `deadlinePassed`.
    case fail
    /// The request starts as soon as no policy objects, whatever its score is.
    case start
}

/// The time by which a client wants a request to start.
public struct StartDeadline: Equatable, Hashable, Sendable, Codable {
    /// The time.
    public var date: WallTime
    /// What the host does if the request has not started by then.
    public var action: DeadlineAction

    /// Makes a deadline.
    public init(date: WallTime, action: DeadlineAction) {
        self.date = date
        self.action = action
    }
}

/// What the host does with a submission if a request of its identifier waits already.
public enum PendingRule: String, Sendable, Codable, CaseIterable {
    /// The new request takes the place of the pending one, as with Apple's API.
    case replace
    /// The pending request stays, and the host accepts no new one.
    case keep
    /// The new request waits until the pending or running one has ended for good, put-backs included.
    ///
    /// At most one request of an identifier can wait in this way.
    case append
}
