extension RequestRecord {
    /// The submission that asks for the same work again.
    ///
    /// It has the payload, the needs and the tags of this request, and no dates. Its key makes a second retry
    /// of the same request a repeat of the first one, so that a command that is given twice does no work
    /// twice. Unless the task has a queue, it waits behind a newer request of the task; the host lets it take
    /// the place of the next one of the task's schedule.
    ///
    /// - Returns: The submission.
    /// - Throws: `invalidRequest` if the request has not ended, ended well, or was replaced.
    public func retried() throws(SubmissionError) -> TaskSubmission {
        func refuse(_ finding: String, _ remedy: String) -> SubmissionError {
            SubmissionError(code: .invalidRequest, subject: "\(request.id)", finding: finding, remedy: remedy)
        }
        guard state == .done else {
            throw refuse(
                "it is \(state.rawValue), so the host still tries it",
                "Wait for its end, or see what it waits for: bgtask explain \(request.id)")
        }
        if outcome == .succeeded {
            throw refuse(
                "it succeeded, so there is nothing to try again",
                "To run the task once more: bgtask submit \(request.identifier)")
        }
        if let replacedBy {
            throw refuse(
                "\(replacedBy) replaced it, and the host has not kept its payload",
                "Submit the task: bgtask submit \(request.identifier)")
        }
        let earlier = request.submission
        var submission = TaskSubmission(identifier: request.identifier, origin: .client)
        submission.requiresExternalPower = earlier.requiresExternalPower
        submission.requiresNetworkConnectivity = earlier.requiresNetworkConnectivity
        submission.network = earlier.network
        submission.requiresGPU = earlier.requiresGPU
        submission.payload = earlier.payload
        submission.title = earlier.title
        submission.subtitle = earlier.subtitle
        submission.strategy = earlier.strategy
        submission.tags = earlier.tags
        submission.priority = earlier.priority
        // A newer request of the task may have other work to do, so the retry does not replace it.
        if !request.isQueued { submission.ifPending = .append }
        submission.idempotencyKey = RetryKey.text(of: request.id)
        return submission
    }
}

/// The keys by which the host knows the retries of requests.
public enum RetryKey {
    private static let prefix = "retry-of-"

    /// The key of the retry of a request.
    static func text(of request: RequestID) -> String { prefix + "\(request)" }

    /// Whether a key is that of a retry, which is unique for as long as the store remembers it.
    public static func isKey(_ key: String?) -> Bool { key?.hasPrefix(prefix) ?? false }
}
