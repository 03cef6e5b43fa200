/// The rules by which a store handles the launches that a dead host left open; the next host sets them when
/// it begins.
///
/// The store applies them to each open launch, oldest first; see `RequestStore.recover`.
public struct RecoveryTerms: Sendable {
    /// The present time, which becomes the end of these launches.
    public var at: WallTime
    /// Whether the manifest forbids a second attempt of the task.
    public var isAtMostOnce: @Sendable (BundleIdentifier, TaskIdentifier) -> Bool
    /// Returns the time before which the next attempt must not start, from the ended launch and the progress
    /// of all attempts; `nil` means that it may start immediately.
    public var backOff: @Sendable (LaunchRecord, AttemptHistory) -> WallTime?
    /// The number of attempts in a row without progress after which a request is not tried again.
    public var attemptLimit: Int
    /// The submission that the end of a launch makes, because its request has failed; `nil` if it makes none.
    public var onFailure: @Sendable (LaunchRecord, TaskRequest) -> FailureSubmission?
    /// The identifiers that have a schedule; the host needs the time of the newest launch of each.
    public var scheduled: [TaskIdentifier]

    /// Makes rules; by default, each request gets another attempt, which may start immediately.
    public init(
        at: WallTime,
        isAtMostOnce: @escaping @Sendable (BundleIdentifier, TaskIdentifier) -> Bool = { _, _ in false },
        backOff: @escaping @Sendable (LaunchRecord, AttemptHistory) -> WallTime? = { _, _ in nil },
        attemptLimit: Int = .max,
        onFailure: @escaping @Sendable (LaunchRecord, TaskRequest) -> FailureSubmission? = { _, _ in nil },
        scheduled: [TaskIdentifier] = []
    ) {
        self.at = at
        self.isAtMostOnce = isAtMostOnce
        self.backOff = backOff
        self.attemptLimit = attemptLimit
        self.onFailure = onFailure
        self.scheduled = scheduled
    }

    /// The end of a launch whose host died, and how its request becomes pending again.
    ///
    /// The launch's resource use after the last measurement is not known.
    ///
    /// - Parameters:
    ///   - launch: The launch, which has not ended.
    ///   - attempts: The progress of the earlier attempts of its request.
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

    /// The submission for a launch that ends as ``settle(_:_:)`` says; `nil` if there is none.
    public func failure(
        of launch: LaunchRecord, _ request: TaskRequest, _ ended: EndedLaunch, _ putBack: PutBack?
    ) -> FailureSubmission? {
        putBack == nil ? onFailure(launch.ended(ended), request) : nil
    }

    private func ended(_ launch: LaunchRecord, _ end: LaunchEnd) -> EndedLaunch {
        EndedLaunch(
            id: launch.id, end: end, at: Moment(boot: .zero, monotonic: .zero, wall: at),
            cpuTime: launch.cpuTime, cpuIsLowerBound: true, peakMemory: launch.peakMemory,
            network: launch.network)
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
    /// The date of the request of each launch in ``lastLaunches`` that was the first attempt of a request of
    /// the schedule.
    public var lastDates: [TaskIdentifier: WallTime] = [:]
    /// The requests of schedules that were cancelled after the newest launch of their identifier, and whose
    /// dates are still to come; the schedule skips these dates.
    public var skipped: [TaskRequest] = []
    /// The stored facts.
    public var facts = StoredFacts()

    /// Makes the recovery of an empty store.
    public init() {}

    /// Notes the newest launch of an identifier, with its request; `nil` if there was none.
    public mutating func note(
        last launch: LaunchRecord?, of identifier: TaskIdentifier, _ request: TaskRequest?
    ) {
        lastLaunches[identifier] = launch?.startedAt
        guard launch?.attempt == 1, request?.submission.origin == .schedule else { return }
        lastDates[identifier] = request?.submission.earliestBeginDate
    }

    /// Notes the newest request of a schedule that was cancelled; call it after
    /// ``note(last:of:_:)`` for its identifier.
    public mutating func note(cancelled record: RequestRecord, _ terms: RecoveryTerms) {
        let (identifier, submission) = (record.request.identifier, record.request.submission)
        guard terms.scheduled.contains(identifier), submission.origin == .schedule,
            record.outcome == .cancelled, record.reason == .cancelledByUser,
            let date = submission.earliestBeginDate, date > terms.at,
            let endedAt = record.endedAt, lastLaunches[identifier].map({ $0 < endedAt }) ?? true
        else { return }
        skipped.append(record.request)
    }
}
