public import TaskModel

extension PushRefusal {
    /// The refusal for a sender whose push the host did not accept.
    public init(_ error: SubmissionError) {
        switch error.code {
        case .unavailable, .unprepared:
            self.init(.unavailable, error.finding, remedy: error.remedy, retryAfter: 30)
        case .tooManyPendingTaskRequests, .immediateRunIneligible:
            self.init(.tooManyPushes, error.finding, remedy: error.remedy, retryAfter: 60)
        case .notPermitted, .notFound: self.init(.refused, error.finding, remedy: error.remedy)
        case .invalidRequest: self.init(.malformedBody, error.finding, remedy: error.remedy)
        }
    }
}
