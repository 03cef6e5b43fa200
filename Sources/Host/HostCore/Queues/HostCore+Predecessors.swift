import Scheduling
import TaskModel

/// Requests that wait for the success of others (`bgtask submit --after R7`).
extension HostCore {
    /// Refuses predecessors together with choices that contradict them.
    ///
    /// The store, which knows all requests, checks which ones are named.
    func checkPredecessors(_ submission: TaskSubmission) throws(SubmissionError) {
        guard !submission.predecessors.isEmpty else { return }
        func refuse(_ finding: String, _ remedy: String) -> SubmissionError {
            SubmissionError(
                code: .invalidRequest, subject: "\(submission.identifier)", finding: finding, remedy: remedy)
        }
        let (count, most) = (Set(submission.predecessors).count, TaskSubmission.mostPredecessors)
        if count > most {
            throw refuse(
                "it must wait for \(count) requests; the limit is \(most)",
                "Name at most \(most), of which each can wait for others")
        }
        if submission.ifPending == .append {
            throw refuse(
                "it must wait for the success of other requests, and for the end of a request of its task",
                "Choose one of the two")
        }
        if submission.strategy == .fail,
            declaration(for: submission.identifier)?.kind == .continuedProcessing
        {
            throw refuse(
                "it must wait for other requests, and its strategy is to fail if it can't start at once",
                "Leave out the strategy, or what it waits for")
        }
    }

    /// Handles the end of a request for those that wait for its success.
    ///
    /// The store has done the same in the write that ended the request.
    mutating func settleFollowers(of id: RequestID, succeeded: Bool) {
        if succeeded {
            for request in requests.succeed(id) {
                log(
                    .info, "\(request.id) need not wait any more, because \(id) has succeeded",
                    identifier: request.identifier)
                feed(.submitted(request))
                cancelWithoutClient(request)
            }
            return
        }
        // A long chain must not become a deep recursion.
        var failed = [id]
        while let next = failed.popLast() {
            for follower in requests.followers(of: next) {
                if let identifier = requests.pending[follower]?.identifier {
                    log(
                        .notice, "\(follower) fails, because \(next) did not succeed", identifier: identifier)
                }
                forget(follower, .predecessorFailed)
                failed.append(follower)
            }
        }
    }
}

extension TaskRequest {
    /// The predecessors that have not succeeded, as words: `R7`, `R7 and R8`, `R7 and 3 others`.
    var openPredecessorWords: String? {
        guard let first = openPredecessors.first else { return nil }
        return switch openPredecessors.count {
        case 1: "\(first)"
        case 2: "\(first) and \(openPredecessors[1])"
        default: "\(first) and \(openPredecessors.count - 1) others"
        }
    }
}
