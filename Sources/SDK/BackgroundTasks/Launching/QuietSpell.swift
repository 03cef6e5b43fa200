/// Decides when a process whose task has completed may end, so that requests that its code still submits
/// reach the host.
///
/// A *quiet spell* is a time in which no other thread was active. All times are nanoseconds of one monotonic
/// clock. Documentation/Decisions/0006-a-quiet-spell-before-the-exit.md explains the rule and its numbers.
struct QuietSpell {
    /// How many consecutive looks must have found no activity.
    ///
    /// One is not enough: a timer may fire during the look, after the threads were examined. A thread that
    /// ran between two looks is found by its CPU time.
    static let looks = 3
    /// How long, in nanoseconds, there must have been no activity if something outside the process may wake a
    /// thread.
    ///
    /// It is also how far ahead timers are considered. In tests with real apps, no submission was lost with
    /// this value.
    static let long: UInt64 = 250_000_000
    /// The longest time that the process waits for quiet, in nanoseconds; calls that wait for the host are
    /// not limited.
    ///
    /// It equals the time that an app launch has in the background, which is enough to submit requests. The
    /// host ends a process 5 s after its task has completed.
    static let limit: UInt64 = 1_000_000_000

    private let begin: UInt64
    private var lastActivity: UInt64
    private var quietLooks = 0

    /// Begins to wait for quiet.
    init(at now: UInt64) {
        begin = now
        lastActivity = now
    }

    /// Decides after one look whether the process may end.
    ///
    /// - Parameters:
    ///   - finding: The activity of the other threads.
    ///   - isAsking: Whether a call waits for the host; such a call is never interrupted.
    ///   - now: The time of the look.
    /// - Returns: Whether the process may end.
    mutating func mayEnd(_ finding: ProcessLook.Finding, isAsking: Bool, at now: UInt64) -> Bool {
        if isAsking || finding == .busy {
            lastActivity = now
            quietLooks = 0
            return !isAsking && now - begin >= Self.limit
        }
        quietLooks += 1
        guard quietLooks >= Self.looks else { return false }
        return finding == .idle || now - lastActivity >= Self.long
    }
}
