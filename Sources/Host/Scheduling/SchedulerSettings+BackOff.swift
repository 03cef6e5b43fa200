public import TaskModel

/// How long requests wait after attempts that brought nothing.
extension SchedulerSettings {
    /// The back-off of a request after attempts in a row without progress.
    ///
    /// The back-off doubles with each attempt, up to ``backOffLimit``. Then up to a fifth is taken off, so
    /// that requests that were put back together do not come back together each time. The form is that of
    /// gRPC's connection back-off (`doc/connection-backoff.md`: exponential, with a jitter of 0.2); the
    /// numbers are our choice, and the jitter only shortens, so that ``backOffLimit`` is a limit. The jitter
    /// depends on nothing but the request's number and the number of attempts, so that a replay is exact.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts in a row, from 1.
    ///   - request: The request.
    /// - Returns: The time from the end of the last attempt.
    public func backOff(afterAttempts attempts: Int, of request: RequestID) -> Duration {
        share(of: delay(afterAttempts: attempts), of: request, attempts, 800...1000)
    }

    /// The back-off of a request whose launch was lost with the launcher or the host.
    ///
    /// All launches under way are lost together, and one of them may be the cause. It is not known which one.
    /// Therefore the jitter is wide, from half to one and a half of the standard delay, so that the others do
    /// not come back in step with the cause: in a simulation of three other launches of 30 s each, the share
    /// that was lost eight times in a row fell from 4 % to below 0.1 %. The wait is at most
    /// ``lostBackOffLimit``.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts in a row without progress, from 1.
    ///   - request: The request.
    /// - Returns: The time from the loss.
    public func backOff(afterLosses attempts: Int, of request: RequestID) -> Duration {
        min(
            share(of: delay(afterAttempts: attempts), of: request, attempts, 500...1500),
            backOffLimit, lostBackOffLimit)
    }

    private func delay(afterAttempts attempts: Int) -> Duration {
        var delay = min(backOffBase, backOffLimit)
        // The count can come from a recording, and after 64 doublings any delay has reached the limit.
        for _ in 1..<min(64, max(2, attempts)) where attempts > 1 && delay < backOffLimit { delay *= 2 }
        return min(delay, backOffLimit)
    }

    /// A share of a delay, in thousandths, that depends only on the request and the number of attempts.
    private func share(
        of delay: Duration, of request: RequestID, _ attempts: Int, _ range: ClosedRange<UInt64>
    ) -> Duration {
        var numbers = SeededNumbers(
            seed: UInt64(bitPattern: request.rawValue), part: UInt64(max(1, attempts)))
        let taken = numbers.next() % (range.upperBound - range.lowerBound + 1)
        return delay * Int64(range.upperBound - taken) / 1000
    }

    /// The longest time for which a request may have to wait before its next attempt.
    ///
    /// A later date was set before the wall clock was set back, and is ignored. The wait for a CPU limit of
    /// the manifest's own, or for a retry, can be a day.
    ///
    /// - Parameter declaration: The task's entry in the manifest; `nil` if there is none.
    /// - Returns: The longest wait.
    public func longestBackOff(of declaration: TaskDeclaration?) -> Duration {
        let standard = declaration.map { LaunchLimits.standard(for: $0.kind) }
        let hasOwnLimit = declaration?.limits.cpu != standard?.cpu
        if declaration?.retry != nil || hasOwnLimit { return max(backOffLimit, .seconds(86_400)) }
        // The wait after a launch that could not be started, or that used its whole CPU quota and its grace
        // period, can be longer than the limit for back-offs, but is below an hour.
        return max(backOffLimit, .seconds(3600))
    }
}
