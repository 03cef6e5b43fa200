public import TaskModel

/// The answer to a call of the control API.
public enum HostAnswer: Sendable {
    /// The request is durable; it may be an earlier one that the submission repeats.
    case accepted(Acceptance)
    /// These requests were cancelled, and these launches were asked to stop.
    case cancelled(Cancellation)
    /// The launch was started.
    indirect case simulated(SimulatedLaunch)
    /// The host asked these launches to stop.
    case expiring([LaunchID])
    /// The state of the bundle after the change, which is durable.
    case bundle(BundleFacts)
    /// The pause of the host after the change, which is durable; `nil` if there is none.
    case paused(Pause?)
    /// The client is registered.
    case connected(ClientID)
    /// The transfer is durable, as it is now.
    case transfer(Transfer)
    /// The transfers are durable, in the order of the requests.
    case transfers([TransferID])
    /// The call succeeded.
    case done
    /// The call was refused.
    case refused(SubmissionError)
}

extension HostAnswer {
    /// The answer to a call after the host has stopped.
    public static let hostHasStopped = HostAnswer.refused(
        SubmissionError(
            code: .unavailable, subject: "bgtaskd", finding: "the host has stopped",
            remedy: "Start bgtaskd, then try again"))

    /// Returns the value of an answer, if the answer is of the expected kind.
    ///
    /// - Parameter unwrap: Returns the value; `nil` if the answer is of another kind.
    /// - Returns: The result of `unwrap`.
    /// - Throws: The refusal, or `unavailable` if the core answered with another kind.
    public func value<Value>(_ unwrap: (HostAnswer) -> Value?) throws(SubmissionError) -> Value {
        if let value = unwrap(self) { return value }
        if case .refused(let error) = self { throw error }
        throw SubmissionError(
            code: .unavailable, subject: "the host", finding: "it gave an answer that does not fit the call",
            remedy: "Report this as a fault of bgtaskd, with its log: bgtask logs")
    }

    /// Returns what the store did with the request of a call.
    public func acceptance() throws(SubmissionError) -> Acceptance {
        try value { if case .accepted(let acceptance) = $0 { acceptance } else { nil } }
    }

    /// Returns the pause of the host after a call that changed it; `nil` if there is none.
    public func pause() throws(SubmissionError) -> Pause? {
        try value { if case .paused(let pause) = $0 { .some(pause) } else { nil } }
    }
}

extension AcceptedSubmission {
    /// Describes what the store did with a submission.
    public init(_ acceptance: Acceptance) {
        self.init(
            request: acceptance.request,
            // A repeat of an earlier submission with the same idempotency key replaces nothing.
            replaces: acceptance.isRepeat ? nil : acceptance.replaced?.id,
            isRepeat: acceptance.isRepeat && !acceptance.isKept, isKept: acceptance.isKept,
            replacedDate: acceptance.isRepeat || acceptance.replaced?.submission.origin != .schedule
                ? nil : acceptance.replaced?.submission.earliestBeginDate)
    }
}
