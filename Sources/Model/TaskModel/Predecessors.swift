extension TaskSubmission {
    /// The largest number of ``predecessors``: 100.
    ///
    /// Our choice. A request can name one that waits for a hundred others itself.
    public static let mostPredecessors = 100

    /// The predecessors that have not succeeded, as a store finds them when it accepts the submission.
    ///
    /// - Parameters:
    ///   - isQueued: Whether the request enters a queue.
    ///   - record: Returns the stored request with a number; `nil` if there is none.
    /// - Returns: Those that the request must wait for, sorted.
    /// - Throws: A ``SubmissionError`` if one of them is not known or ended without success, or if it could
    ///   never come first.
    public func findOpenPredecessors(
        isQueued: Bool, _ record: (RequestID) throws -> RequestRecord?
    ) throws -> [RequestID] {
        try predecessors.filter { id in
            func refuse(
                _ code: SubmissionError.Code, _ finding: String, _ remedy: String
            ) -> SubmissionError {
                SubmissionError(code: code, subject: "\(identifier)", finding: finding, remedy: remedy)
            }
            guard let found = try record(id) else {
                throw refuse(
                    .notFound, "it must wait for \(id), and the host has no such request",
                    "Name a request that 'bgtask pending' or 'bgtask launches' shows")
            }
            if found.state == .done {
                if found.outcome == .succeeded { return false }
                let end = [found.outcome?.rawValue, found.reason?.rawValue].compactMap(\.self)
                throw refuse(
                    .invalidRequest,
                    "it must wait for the success of \(id), which has ended: \(end.joined(separator: ", "))",
                    "To try \(id) again: bgtask retry \(id). Then name the new request")
            }
            // With one pending request of an identifier, the later one would take the place of the earlier.
            if found.request.identifier == identifier, !isQueued {
                throw refuse(
                    .invalidRequest,
                    "it must wait for \(id), which is of the same task, and the task has no queue",
                    "To run it after \(id): --if-pending append. Or add to the task in the manifest: queue: {}"
                )
            }
            return true
        }
    }
}
