/// A launch as a table shows it: the part of a ``LaunchRecord`` without the texts that only a look at a
/// single launch needs.
///
/// A listing of very many launches reads only these columns of the store.
public struct LaunchSummary: Equatable, Sendable {
    /// The launch's id.
    public let id: LaunchID
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// The current state.
    public var state: LaunchState
    /// How the launch ended; `nil` if it has not.
    public var outcome: Outcome?
    /// Why the launch ended or, before that, why it was asked to stop; `nil` if there is no reason.
    public var reason: Reason?
    /// The number of the attempt; 1 for the first launch of the request.
    public var attempt: Int
    /// When the host recorded the launch, before it started anything.
    public var startedAt: WallTime
    /// When the launch ended; `nil` if it has not.
    public var endedAt: WallTime?
    /// CPU time of the launch and all its descendants.
    public var cpuTime: Duration
    /// Whether ``cpuTime`` may be too low, because there was no cgroup to measure it.
    public var cpuIsLowerBound: Bool
    /// The newest progress; `nil` if the launch reported none.
    public var progress: TaskProgress?

    /// Makes the summary of a launch that is about to start.
    public init(
        id: LaunchID, identifier: TaskIdentifier, state: LaunchState, attempt: Int, startedAt: WallTime
    ) {
        self.id = id
        self.identifier = identifier
        self.state = state
        self.attempt = attempt
        self.startedAt = startedAt
        cpuTime = .zero
        cpuIsLowerBound = false
    }

    /// Copies a part of a record.
    public init(_ record: LaunchRecord) {
        self.init(
            id: record.id, identifier: record.identifier, state: record.state, attempt: record.attempt,
            startedAt: record.startedAt)
        outcome = record.end?.outcome
        reason = record.end == nil ? record.expiration : record.end?.reason
        endedAt = record.endedAt
        cpuTime = record.cpuTime
        cpuIsLowerBound = record.cpuIsLowerBound
        progress = record.progress
    }
}
