/// What a host decides about the launches that a dead host left, and asks of the store, before it begins.
///
/// A store applies the terms to each of its open launches, oldest first; see `RequestStore.recover`.
public struct RecoveryTerms: Sendable {
    /// Now; the end of the launches.
    public var at: WallTime
    /// Whether the manifest forbids a second attempt.
    public var isAtMostOnce: @Sendable (BundleIdentifier, TaskIdentifier) -> Bool
    /// The time before which the next attempt must not start, from the ended launch and what all attempts
    /// have brought; `nil` is at once.
    public var backOff: @Sendable (LaunchRecord, AttemptHistory) -> WallTime?
    /// The number of attempts in a row without progress after which a request is not tried again.
    public var attemptLimit: Int
    /// The identifiers whose newest launch the host asks for: those that have a schedule.
    public var scheduled: [TaskIdentifier]

    /// Makes terms; the default permits another attempt, which may start at once.
    public init(
        at: WallTime,
        isAtMostOnce: @escaping @Sendable (BundleIdentifier, TaskIdentifier) -> Bool = { _, _ in false },
        backOff: @escaping @Sendable (LaunchRecord, AttemptHistory) -> WallTime? = { _, _ in nil },
        attemptLimit: Int = .max,
        scheduled: [TaskIdentifier] = []
    ) {
        self.at = at
        self.isAtMostOnce = isAtMostOnce
        self.backOff = backOff
        self.attemptLimit = attemptLimit
        self.scheduled = scheduled
    }

    /// The end of a launch whose host died, and how its request becomes pending again.
    ///
    /// What the launch used since it was recorded is not known.
    ///
    /// - Parameters:
    ///   - launch: The launch, which has not ended.
    ///   - attempts: What the earlier attempts of its request brought.
    /// - Returns: The end, and the put-back; `nil` if the request ends with the launch.
    public func settle(_ launch: LaunchRecord, _ attempts: AttemptHistory) -> (EndedLaunch, PutBack?) {
        var end = LaunchEnd(
            outcome: .lost, reason: .hostDied,
            message: "The host ended without recording how this launch ended")
        let isDue = PutBackRule.applies(
            kind: launch.kind, outcome: .lost, completed: false, expiration: launch.expiration,
            isAtMostOnce: isAtMostOnce(launch.bundle, launch.identifier))
        guard isDue else { return (ended(launch, end), nil) }
        let attempts = attempts.following(launch, counts: true)
        if attempts.withoutProgress >= attemptLimit {
            end = end.givenUp(after: attempts.withoutProgress)
            return (ended(launch, end), nil)
        }
        return (ended(launch, end), PutBack(notBefore: backOff(launch, attempts), attempts: attempts))
    }

    private func ended(_ launch: LaunchRecord, _ end: LaunchEnd) -> EndedLaunch {
        EndedLaunch(
            id: launch.id, end: end, at: Moment(boot: .zero, monotonic: .zero, wall: at),
            cpuTime: launch.cpuTime, cpuIsLowerBound: true, peakMemory: launch.peakMemory)
    }
}

/// What a store holds when a host begins, once the launches of a dead host have ended in it.
public struct Recovery: Equatable, Sendable {
    /// The launches that are lost now, oldest first.
    public var lost: [LaunchRecord] = []
    /// The requests that are pending again because of that.
    public var putBack: [TaskRequest] = []
    /// Every pending request, those included; oldest first.
    public var pending: [TaskRequest] = []
    /// When the newest launch of each identifier in ``RecoveryTerms/scheduled`` was recorded.
    public var lastLaunches: [TaskIdentifier: WallTime] = [:]
    /// What was remembered.
    public var facts = StoredFacts()

    /// Makes the recovery of an empty store.
    public init() {}
}
