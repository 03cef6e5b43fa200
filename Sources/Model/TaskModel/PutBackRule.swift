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
            // When the host stops or the machine sleeps, the missing expiration handler does not count: the
            // launch is treated like one that was lost.
            let isHosts = expiration == .hostShutdown || expiration == .systemSleep
            return !completed && (!neverListened || isHosts)
                && (kind != .appLaunch || expiration != .leaseEnded)
        case .succeeded, .failed, .killed, .crashed, .cancelled: return false
        }
    }

    /// How long to wait before a launch that failed or crashed is tried again.
    ///
    /// - Parameters:
    ///   - outcome: How the launch ended.
    ///   - expiration: The reason of the expiration that was sent; `nil` if none was.
    ///   - retry: The manifest's rule; `nil` means no retries.
    ///   - failures: The number of earlier launches of the request that failed or crashed, without those that
    ///     expired or were lost.
    /// - Returns: The wait, or `nil` if the request ends with its launch.
    public static func retryDelay(
        outcome: Outcome, expiration: Reason?, retry: RetryDeclaration?, failures: Int
    ) -> Duration? {
        guard outcome == .failed || outcome == .crashed else { return nil }
        guard expiration != .cancelledByUser, expiration != .manifestRemoved else { return nil }
        return retry?.delay(afterFailure: failures + 1)
    }
}
