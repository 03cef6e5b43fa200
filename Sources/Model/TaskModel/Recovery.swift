/// What a host decides about the launches that a dead host left, and asks of the store, before it begins.
///
/// A store applies the terms to each of its open launches, oldest first; see `RequestStore.recover`.
public struct RecoveryTerms: Sendable {
    /// Now; the end of the launches.
    public var at: WallTime
    /// Whether the manifest forbids a second attempt.
    public var isAtMostOnce: @Sendable (BundleIdentifier, TaskIdentifier) -> Bool
    /// The time before which the next attempt must not start; `nil` is at once.
    public var backOff: @Sendable (LaunchRecord) -> WallTime?
    /// The identifiers whose newest launch the host asks for: those that have a schedule.
    public var scheduled: [TaskIdentifier]

    /// Makes terms; the default permits another attempt, which may start at once.
    public init(
        at: WallTime,
        isAtMostOnce: @escaping @Sendable (BundleIdentifier, TaskIdentifier) -> Bool = { _, _ in false },
        backOff: @escaping @Sendable (LaunchRecord) -> WallTime? = { _ in nil },
        scheduled: [TaskIdentifier] = []
    ) {
        self.at = at
        self.isAtMostOnce = isAtMostOnce
        self.backOff = backOff
        self.scheduled = scheduled
    }

    /// The end of a launch whose host died: what it used since it was recorded is not known.
    public func end(of launch: LaunchRecord) -> EndedLaunch {
        let end = LaunchEnd(
            outcome: .lost, reason: .hostDied,
            message: "The host ended without recording how this launch ended")
        return EndedLaunch(
            id: launch.id, end: end, at: Moment(boot: .zero, monotonic: .zero, wall: at),
            cpuTime: launch.cpuTime, cpuIsLowerBound: true, peakMemory: launch.peakMemory)
    }

    /// How the request of such a launch becomes pending again; `nil` if it ends with the launch.
    public func putBack(of launch: LaunchRecord) -> PutBack? {
        let isDue = PutBackRule.applies(
            kind: launch.kind, outcome: .lost, completed: false, expiration: launch.expiration,
            isAtMostOnce: isAtMostOnce(launch.bundle, launch.identifier))
        return isDue ? PutBack(notBefore: backOff(launch)) : nil
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
