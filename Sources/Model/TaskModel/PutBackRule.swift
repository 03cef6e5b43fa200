/// Which ends of a launch make its request pending again.
public enum PutBackRule {
    /// Whether the host makes the request pending again after its launch ended.
    ///
    /// A launch that was lost, or that expired without the handler completing, has not done its work. All
    /// other ends are final, and so is the end of a launch that the user cancelled or whose manifest was
    /// removed. The end of an app's launch (of the kind `appLaunch`) that used its whole lease is final too,
    /// because another launch would also use its whole lease. The store refuses to put a request back while
    /// another one of its identifier is pending.
    ///
    /// - Parameters:
    ///   - kind: The request's kind.
    ///   - outcome: How the launch ended.
    ///   - completed: Whether the handler completed, with `true` or `false`.
    ///   - expiration: The reason of the expiration that was sent; `nil` if none was.
    ///   - isAtMostOnce: Whether the manifest sets `delivery: atMostOnce`.
    ///   - neverListened: Whether the handler listened for no expiration: then the expiration completed the
    ///     launch, without success.
    /// - Returns: Whether to put the request back; false if the request ends with its launch.
    public static func applies(
        kind: TaskKind, outcome: Outcome, completed: Bool, expiration: Reason?, isAtMostOnce: Bool,
        neverListened: Bool = false
    ) -> Bool {
        if isAtMostOnce || expiration == .cancelledByUser || expiration == .manifestRemoved { return false }
        switch outcome {
        case .lost: return true
        case .expired:
            // When the host stops, the machine sleeps or a user pauses the bundle, the missing expiration
            // handler does not count: the launch is treated like one that was lost.
            let isHosts =
                expiration == .hostShutdown || expiration == .systemSleep || expiration == .paused
            return !completed && (!neverListened || isHosts)
                && (kind != .appLaunch || expiration != .leaseEnded)
        case .succeeded, .failed, .killed, .crashed, .cancelled: return false
        }
    }

    /// Whether an ended launch counts as an attempt that ended by its own doing.
    ///
    /// If such an attempt made no progress, the next one waits for a back-off, and the host limits the number
    /// of such attempts. A lost launch counts, because it may have made the host or the launcher crash. Ends
    /// by conditions do not count, because the request waits until these conditions have passed.
    ///
    /// - Parameters:
    ///   - outcome: How the launch ended.
    ///   - expiration: The reason of the expiration that was sent; `nil` if none was.
    /// - Returns: Whether it counts.
    public static func counts(_ outcome: Outcome, expiration: Reason?) -> Bool {
        outcome == .lost || (outcome == .expired && expiration?.isCausedByLaunch == true)
    }

    /// How long the next attempt must wait so that restarts do not exceed the CPU limit of the task.
    ///
    /// The wait has two effects. From the start of an attempt to the start of the next, the request uses no
    /// more CPU time on average than the limit permits, the grace period included. And after `cpuLimit`, the
    /// next attempt can use a whole core immediately, and still no CPU window contains more than one quota
    /// from both attempts together.
    ///
    /// - Parameters:
    ///   - used: The CPU time of the ended attempt.
    ///   - elapsed: The time from the call of its handler to its end, on CLOCK_MONOTONIC.
    ///   - limit: The CPU limit that was in force.
    ///   - isExceeded: Whether the attempt ended because of the limit.
    /// - Returns: The wait from the end of the attempt; zero if it need not wait.
    public static func cpuWait(
        used: Duration, within elapsed: Duration, limit: CPULimit, isExceeded: Bool
    ) -> Duration {
        guard limit.percent > 0 else { return .zero }
        let repaid = used * 100 / limit.percent - elapsed
        let window = isExceeded ? limit.window - limit.quota : .zero
        return max(.zero, repaid, window)
    }

    /// How long to wait before a launch that failed or crashed is tried again.
    ///
    /// - Parameters:
    ///   - outcome: How the launch ended.
    ///   - expiration: The reason of the expiration that was sent; `nil` if none was.
    ///   - retry: The manifest's rule; `nil` means no retries.
    ///   - failures: The number of earlier launches of the request that failed or crashed; those that expired
    ///     or were lost do not count.
    /// - Returns: The wait, or `nil` if the request ends with its launch.
    public static func retryDelay(
        outcome: Outcome, expiration: Reason?, retry: RetryDeclaration?, failures: Int
    ) -> Duration? {
        guard outcome == .failed || outcome == .crashed else { return nil }
        guard expiration != .cancelledByUser, expiration != .manifestRemoved else { return nil }
        return retry?.delay(afterFailure: failures + 1)
    }
}
