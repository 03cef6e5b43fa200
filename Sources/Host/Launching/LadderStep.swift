import TaskModel

/// One step of stopping a launch.
enum LadderStep: Equatable, Sendable {
    /// Send the *expire* frame with this reason.
    case expire(Reason)
    /// Wait this long for the launch to complete, on CLOCK_MONOTONIC.
    case wait(Duration)
    /// Ask all threads for their stacks, for the report of the kill that follows.
    case lookAtThreads
    /// Kill all processes of the launch.
    case kill

    /// How long before the kill the threads are asked for their stacks, at most.
    ///
    /// Each answer takes less than 1 ms, unless the machine is busy.
    static let lookTime = Duration.milliseconds(100)

    /// The steps of an expiration: one *expire* frame, the grace period, and a kill.
    ///
    /// The waits add up to the grace period. If the launch completes before the end, the remaining steps are
    /// skipped.
    static func expiration(_ reason: Reason, grace: Duration) -> [LadderStep] {
        let rest = min(lookTime, grace / 10)
        return [.expire(reason), .wait(grace - rest), .lookAtThreads, .wait(rest), .kill]
    }
}
