/// The rules by which a store handles the launches that a dead host left open; the next host sets them when
/// it begins.
///
/// The store applies them to each open launch, oldest first; see `RequestStore.recover`.
public struct RecoveryTerms: Sendable {
    /// The present time, which becomes the end of these launches.
    public var at: WallTime
    /// Whether the manifest forbids a second attempt of the task.
    public var isAtMostOnce: @Sendable (BundleIdentifier, TaskIdentifier) -> Bool
    /// The earliest time of the next attempt; `nil` means immediately.
    public var backOff: @Sendable (LaunchRecord) -> WallTime?
    /// The identifiers that have a schedule; the host needs the time of the newest launch of each.
    public var scheduled: [TaskIdentifier]

    /// Makes rules; by default, each request gets another attempt, which may start immediately.
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

    /// The end of a launch whose host died.
    ///
    /// Its resource use after the last measurement is not known.
    public func end(of launch: LaunchRecord) -> EndedLaunch {
        let end = LaunchEnd(
            outcome: .lost, reason: .hostDied,
            message: "The host ended without recording how this launch ended")
        return EndedLaunch(
            id: launch.id, end: end, at: Moment(boot: .zero, monotonic: .zero, wall: at),
            cpuTime: launch.cpuTime, cpuIsLowerBound: true, peakMemory: launch.peakMemory)
    }

    /// How the request of such a launch becomes pending again; `nil` if the request ends with the launch.
    public func putBack(of launch: LaunchRecord) -> PutBack? {
        let isDue = PutBackRule.applies(
            kind: launch.kind, outcome: .lost, completed: false, expiration: launch.expiration,
            isAtMostOnce: isAtMostOnce(launch.bundle, launch.identifier))
        return isDue ? PutBack(notBefore: backOff(launch)) : nil
    }
}

/// The contents of the store that a host needs when it begins, after open launches were ended as `lost`.
public struct Recovery: Equatable, Sendable {
    /// The launches that were ended as `lost`, oldest first.
    public var lost: [LaunchRecord] = []
    /// The requests of these launches that are pending again.
    public var putBack: [TaskRequest] = []
    /// All pending requests, including those in ``putBack``, oldest first.
    public var pending: [TaskRequest] = []
    /// The start of the newest launch of each identifier in ``RecoveryTerms/scheduled``.
    public var lastLaunches: [TaskIdentifier: WallTime] = [:]
    /// The stored facts.
    public var facts = StoredFacts()

    /// Makes the recovery of an empty store.
    public init() {}
}
