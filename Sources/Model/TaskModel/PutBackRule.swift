/// Which ends of a launch make its request pending again.
public enum PutBackRule {
    /// Whether the request goes back, unless another one of its identifier is pending (the store looks at
    /// that).
    ///
    /// A launch that was lost, or expired without a word of the handler, has not done its work; everything
    /// else is an answer. What the user cancelled, and what has no manifest, stays ended. The launch of an
    /// app that took its whole lease does too: it would take it again.
    ///
    /// - Parameters:
    ///   - kind: The request's kind.
    ///   - outcome: How the launch ended.
    ///   - completed: Whether the handler completed, with `true` or `false`.
    ///   - expiration: The reason of the expiration that was sent; `nil` if none.
    ///   - isAtMostOnce: Whether the manifest sets `delivery: atMostOnce`.
    ///   - neverListened: Whether it had no expiration handler: then the expiration completed it, without
    ///     success.
    /// - Returns: False where the launch's end is the request's end.
    public static func applies(
        kind: TaskKind, outcome: Outcome, completed: Bool, expiration: Reason?, isAtMostOnce: Bool,
        neverListened: Bool = false
    ) -> Bool {
        if isAtMostOnce || expiration == .cancelledByUser || expiration == .manifestRemoved { return false }
        switch outcome {
        case .lost: return true
        case .expired:
            // The host's own stop, or the machine's sleep, says nothing about the handler: it is like a
            // launch that was lost.
            let isHosts = expiration == .hostShutdown || expiration == .systemSleep
            return !completed && (!neverListened || isHosts)
                && (kind != .appLaunch || expiration != .leaseEnded)
        case .succeeded, .failed, .killed, .crashed, .cancelled: return false
        }
    }

    /// How long to wait before a launch that failed or crashed is tried again; `nil` where its end is the
    /// request's end.
    ///
    /// - Parameters:
    ///   - outcome: How the launch ended.
    ///   - expiration: The reason of the expiration that was sent; `nil` if none.
    ///   - retry: The manifest's rule; `nil` means no retries.
    ///   - failures: Earlier launches of the request that failed or crashed; those that expired or were lost
    ///     are none.
    /// - Returns: The back-off.
    public static func retryDelay(
        outcome: Outcome, expiration: Reason?, retry: RetryDeclaration?, failures: Int
    ) -> Duration? {
        guard outcome == .failed || outcome == .crashed else { return nil }
        guard expiration != .cancelledByUser, expiration != .manifestRemoved else { return nil }
        return retry?.delay(afterFailure: failures + 1)
    }
}
