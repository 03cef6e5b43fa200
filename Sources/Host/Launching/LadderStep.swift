import TaskModel

/// One rung of the expiration ladder.
enum LadderStep: Equatable, Sendable {
    /// Write the expire frame.
    case expire(Reason)
    /// Give it this long to complete, on CLOCK_MONOTONIC.
    case wait(Duration)
    /// Kill everything that it started.
    case kill

    /// The ladder of an expiration: told once, waited for, then killed.
    ///
    /// Always ends in a kill.
    static func expiration(_ reason: Reason, grace: Duration) -> [LadderStep] {
        [.expire(reason), .wait(grace), .kill]
    }
}
