/// How long a task that has completed may continue, before the host kills its processes.
struct TidyingTime {
    /// How long a task may take to exit after its completion or, if later, the end of its last assertion.
    static let exit = Duration.seconds(5)
    /// How long a task may continue in all if it holds an assertion at its completion or begins one
    /// afterwards: 30 s for assertions, and 5 s to exit.
    static let withAssertions = Duration.seconds(35)

    /// When it completed, on CLOCK_MONOTONIC.
    let completedAt: Duration

    /// How much time is left.
    ///
    /// - Parameters:
    ///   - holdsAssertion: Whether an assertion is open.
    ///   - now: The present time on CLOCK_MONOTONIC.
    /// - Returns: The time, zero or more.
    func left(holdsAssertion: Bool, at now: Duration) -> Duration {
        let most = max(completedAt + Self.withAssertions - now, .zero)
        return holdsAssertion ? most : min(Self.exit, most)
    }
}
