/// When a process may end whose task has completed, so that what its code still submits is not cut off.
///
/// A value; times are nanoseconds of one monotonic clock. The rule and where its numbers come from:
/// Documentation/Decisions/0006-a-quiet-spell-before-the-exit.md.
struct QuietSpell {
    /// How many looks in a row must have found nothing.
    ///
    /// One is not enough: a timer may fire in the middle of it, after the threads were looked at. What has
    /// worked between two looks is found by the CPU time that it took.
    static let looks = 3
    /// How long nothing may have happened where a wake-up from outside can't be foreseen, and how far ahead
    /// timers are waited for.
    ///
    /// With it no submission was lost when it was tried on real apps.
    static let long: UInt64 = 250_000_000
    /// How long it takes in all at most, except for calls that wait for the host.
    ///
    /// As long as an app launch has for what it begins in the background, which is enough to submit. The host
    /// ends a process 5 s after its task has completed.
    static let limit: UInt64 = 1_000_000_000

    private let begin: UInt64
    private var lastActivity: UInt64
    private var quietLooks = 0

    /// Begins a spell.
    init(at now: UInt64) {
        begin = now
        lastActivity = now
    }

    /// Takes what was seen.
    ///
    /// - Parameters:
    ///   - finding: What the other threads do.
    ///   - isAsking: Whether a call waits for the host's answer: that is never cut off here.
    ///   - now: When it was seen.
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
