public import TaskModel

/// Which ends of a launch make its request pending again.
public enum PutBackRule {
    /// Whether the request goes back, unless another one of its identifier is pending (the store looks at that).
    ///
    /// A launch that was lost, or expired without a word of the handler, has not done its work; everything else is an
    /// answer. What the user cancelled, and what has no manifest, stays ended.
    ///
    /// - Parameters:
    ///   - outcome: How the launch ended.
    ///   - completed: Whether the handler completed, with `true` or `false`.
    ///   - expiration: The reason of the expiration that was sent; `nil` if none.
    ///   - isAtMostOnce: Whether the manifest says `delivery: atMostOnce`.
    /// - Returns: False where the launch's end is the request's end.
    public static func applies(
        outcome: Outcome, completed: Bool, expiration: Reason?, isAtMostOnce: Bool
    ) -> Bool {
        if isAtMostOnce || expiration == .cancelledByUser || expiration == .manifestRemoved { return false }
        switch outcome {
        case .lost: return true
        case .expired: return !completed
        case .succeeded, .failed, .killed, .crashed, .cancelled: return false
        }
    }
}
