/// The progress that the earlier attempts of a request made, and how many of them in a row made none.
///
/// A request that is put back again and again without progress waits longer before each attempt, and ends
/// after a limited number of attempts; see ``PutBackRule``.
public struct AttemptHistory: Equatable, Hashable, Sendable, Codable {
    /// The number of attempts in a row that ended by their own doing, without a new checkpoint and without
    /// further progress.
    ///
    /// An attempt that the machine's conditions ended does not count. It does not interrupt the row either,
    /// unless it made further progress or saved a new checkpoint.
    public var withoutProgress = 0
    /// The furthest progress of all attempts, without its message; `nil` if no attempt reported progress.
    public var furthest: TaskProgress?

    /// Makes a history; by default, that of a request that has had no attempt.
    public init(withoutProgress: Int = 0, furthest: TaskProgress? = nil) {
        self.withoutProgress = withoutProgress
        self.furthest = furthest
    }

    /// The history after one more attempt.
    ///
    /// - Parameters:
    ///   - launch: The attempt, with its newest progress.
    ///   - counts: Whether the attempt counts if it made no progress; see ``PutBackRule``.
    /// - Returns: The history of the request before its next attempt.
    public func following(_ launch: LaunchRecord, counts: Bool) -> AttemptHistory {
        var history = self
        let isFurther = launch.progress.map { $0.isFurther(than: furthest) } ?? false
        if isFurther, let progress = launch.progress {
            history.furthest = TaskProgress(completed: progress.completed, total: progress.total)
        }
        if isFurther || launch.hasNewCheckpoint {
            history.withoutProgress = 0
        } else if counts {
            history.withoutProgress += 1
        }
        return history
    }
}

extension TaskProgress {
    /// Whether a request got further with this progress than with an earlier one.
    ///
    /// More completed units are further, and so is a greater fraction: a handler may report the units of the
    /// whole request, or only those that were left when the attempt began. An attempt that starts from the
    /// beginning and stops at the same place is not further.
    ///
    /// - Parameter earlier: The furthest progress of the earlier attempts; `nil` if there is none.
    /// - Returns: Whether this progress is further; a first progress without completed units is not.
    public func isFurther(than earlier: TaskProgress?) -> Bool {
        guard let earlier else { return completed > 0 }
        if completed > earlier.completed { return true }
        guard let fraction, let earlier = earlier.fraction else { return false }
        return fraction > earlier
    }
}
