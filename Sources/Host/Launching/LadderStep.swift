import TaskModel

/// One rung of the expiration ladder.
enum LadderStep: Equatable, Sendable {
    /// Write the expire frame.
    case expire(Reason)
    /// Give it this long to complete, on CLOCK_MONOTONIC.
    case wait(Duration)
    /// Ask the main thread where it is, for the report of the kill that follows.
    case lookAtMainThread
    /// Kill everything that it started.
    case kill

    /// How long before the kill the main thread is asked at most: its answer takes well under a millisecond,
    /// unless the machine is busy.
    static let lookTime = Duration.milliseconds(100)

    /// The ladder of an expiration: told once, waited for, then killed.
    ///
    /// Its waits last as long as the grace period in all, and it always ends in a kill.
    static func expiration(_ reason: Reason, grace: Duration) -> [LadderStep] {
        let rest = min(lookTime, grace / 10)
        return [.expire(reason), .wait(grace - rest), .lookAtMainThread, .wait(rest), .kill]
    }
}
