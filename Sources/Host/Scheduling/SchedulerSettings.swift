public import TaskModel

/// The numbers of the scheduler; `Documentation/Scheduling.md` says where each comes from.
public struct SchedulerSettings: Equatable, Sendable {
    /// Discretionary launches at once: 2.
    public var discretionarySlots = 2
    /// Discretionary launches of one bundle while a bundle without a launch waits: 1.
    public var discretionarySlotsPerBundle = 1
    /// Continued launches at once: 3.
    public var continuedSlots = 3
    /// How long a continued launch may go without a change of progress, on CLOCK_MONOTONIC: 60 s.
    public var stallLimit = Duration.seconds(60)
    /// How long renewals may keep a processing launch going: 8 h from its *ready*.
    public var renewalLimit = Duration.seconds(8 * 3600)
    /// CPU time within one period of a lease that counts as a sign of work: 0.1 s, more than waking to look around costs.
    public var leastCPU = Duration.milliseconds(100)
    /// Pending refresh requests of one bundle, its schedules' not counted: 1.
    public var pendingRefreshLimit = 1
    /// Pending processing requests of one bundle, its schedules' not counted: 10.
    public var pendingProcessingLimit = 10
    /// From the earliest begin date to the deadline, where no schedule sets one: 7 days, for a bundle not known to be in use.
    public var deadlineDelay = Duration.seconds(7 * 24 * 3600)
    /// The first back-off of a request that is put back: 5 s, doubled with every attempt.
    public var backOffBase = Duration.seconds(5)
    /// The longest back-off: 10 min.
    public var backOffLimit = Duration.seconds(600)
    /// How long to wait before asking again for a scheduled request that could not be stored: 60 s.
    public var scheduleRetryDelay = Duration.seconds(60)

    /// Makes the standard settings.
    public init() {}

    /// The pending requests of this kind that one bundle may have; `nil` has no limit.
    public func pendingLimit(for kind: TaskKind) -> Int? {
        switch kind {
        case .appRefresh: pendingRefreshLimit
        case .processing: pendingProcessingLimit
        case .continuedProcessing, .push, .transferEvents, .activity: nil
        }
    }

    /// How long a request waits that is put back after its launch number `attempt`, from 1.
    public func backOff(afterAttempt attempt: Int) -> Duration {
        var delay = backOffBase
        for _ in 1..<max(2, attempt) where attempt > 1 && delay < backOffLimit { delay *= 2 }
        return min(delay, backOffLimit)
    }

    /// The deadline of a submission that no schedule made.
    public func deadline(for submission: TaskSubmission, at now: Moment) -> WallTime {
        max(submission.earliestBeginDate ?? now.wall, now.wall) + deadlineDelay
    }
}
