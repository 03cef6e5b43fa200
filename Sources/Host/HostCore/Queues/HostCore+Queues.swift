import Scheduling
public import TaskModel

/// The queues of tasks: which requests the scheduler has, and what the others wait for.
extension HostCore {
    /// Gives the scheduler the first request of each queue that has changed.
    mutating func advanceQueues() {
        guard phase == .starting || phase == .serving, !requests.queues.touched.isEmpty else { return }
        var orders: [TaskIdentifier: QueueOrder] = [:]
        for identifier in requests.queues.touched {
            orders[identifier] = declaration(for: identifier)?.queue?.order ?? .fifo
        }
        let (scheduler, time) = (scheduler, now.wall)
        let date = { (request: TaskRequest) in scheduler.beginDate(of: request, at: time) }
        for move in requests.settleQueues(at: now.wall, orders, date: date) {
            switch move {
            case .takeBack(let id): feed(.withdrawn(id))
            case .give(let id): if let request = requests.pending[id] { feed(.submitted(request)) }
            }
        }
    }

    /// The queue of a request; the default one if its task has none any more.
    func queue(of request: TaskRequest) -> QueueDeclaration {
        declaration(for: request)?.queue ?? QueueDeclaration()
    }

    /// Refuses a submission to a queue that is full, and choices that have no meaning for its task.
    func checkQueue(_ submission: TaskSubmission) throws(SubmissionError) {
        let identifier = submission.identifier
        func refuse(
            _ code: SubmissionError.Code, _ finding: String, _ remedy: String
        ) -> SubmissionError {
            SubmissionError(code: code, subject: "\(identifier)", finding: finding, remedy: remedy)
        }
        if let priority = submission.priority, !QueuePriority.range.contains(priority) {
            throw refuse(
                .invalidRequest, "its priority is \(priority); 0 through 9 are valid",
                "Choose a priority of 0 through 9; 9 starts first")
        }
        guard let queue = queue(for: submission) else {
            guard submission.priority != nil else { return }
            throw refuse(
                .invalidRequest, "it has a priority, and the task has no queue",
                "Leave out the priority, or add to the task in the manifest: queue: {order: priority}")
        }
        if submission.priority != nil, queue.order == .fifo {
            throw refuse(
                .invalidRequest,
                "it has a priority, and the requests of its queue start in the order of submission",
                "Leave out the priority, or change the manifest: queue: {order: priority}")
        }
        if submission.ifPending != .replace {
            throw refuse(
                .invalidRequest,
                "it says what happens to a pending request, and the task has a queue, in which all are kept",
                "Leave that out; to submit a piece of work only once, give it a key")
        }
        let count = requests.queues.count(of: identifier) + requests.submissionCount(of: identifier)
        if count >= queue.limit, !isRepeat(submission) {
            throw refuse(
                .tooManyPendingTaskRequests,
                "its queue has \(count) requests already; the manifest permits \(queue.limit)",
                "Submit it again when some have started, cancel some, or permit more in the manifest: "
                    + "queue: {limit: \(queue.limit * 2)}")
        }
    }

    /// Whether a pending request of the queue has the key of a submission; it then needs no place.
    private func isRepeat(_ submission: TaskSubmission) -> Bool {
        guard let key = submission.idempotencyKey else { return false }
        return requests.queues.members(of: submission.identifier).contains {
            requests.pending[$0]?.submission.idempotencyKey == key
        }
    }

    /// The queue that a submission enters; `nil` if the task has none, or if `bgtask launch` made the
    /// submission.
    func queue(for submission: TaskSubmission) -> QueueDeclaration? {
        submission.origin == .simulated ? nil : declaration(for: submission.identifier)?.queue
    }

    // MARK: Listings

    /// The queues with pending requests or launches, ordered by name.
    public func queueStates(at now: Moment) -> [QueueState] {
        var foresight = Foresight(scheduler, at: now)
        return requests.queues.identifiers.compactMap { identifier in
            let waiting = requests.queues.members(of: identifier).filter {
                !requests.foreseen.contains($0)
            }
            guard let sample = waiting.first.flatMap({ requests.pending[$0] }) else { return nil }
            let first = requests.queues.first(of: identifier).first.flatMap { requests.pending[$0] }
            return QueueState(
                identifier: identifier, bundle: sample.bundle, declaration: queue(of: sample),
                waiting: waiting.count,
                running: launches.all.count { $0.record.identifier == identifier && $0.stage != .ending },
                next: first?.id,
                headline: first.map { foresight.headline(of: scheduler.pendingRequest($0.id) ?? $0) }
                    ?? "All of its requests wait for their dates, or for other requests.")
        }
    }

    /// The places of the requests of queues, which one listing computes once.
    typealias QueuePlaces = [TaskIdentifier: [RequestID: Int]]

    /// How many requests of its queue come before a request that waits; `nil` if the scheduler has it.
    ///
    /// `places` keeps the places of whole queues, for the next request of the same listing.
    func place(inQueueOf request: TaskRequest, _ places: inout QueuePlaces) -> Int? {
        guard request.isQueued, requests.queues.isWaiting(request) else { return nil }
        if let known = places[request.identifier] { return known[request.id] }
        let all = requests.queues.places(
            of: request.identifier, queue(of: request).order, in: requests.pending)
        places[request.identifier] = all
        return all[request.id]
    }

    /// The verdict about a request behind others of its queue; `nil` for all others.
    func waitInQueue(_ request: TaskRequest, place: Int?) -> Verdict? {
        guard let place, requests.queues.isWaiting(request) else { return nil }
        if place == 0 { return nil }
        let first = requests.queues.first(of: request.identifier).first
        return Verdict(
            policy: QueueState.policy, decision: .mustNotProceed, score: 0, weight: 0,
            rationale: [
                Rationale(
                    quantity: "queue", required: "the first of its queue",
                    observed: place == 1 ? "behind 1 other request" : "behind \(place) other requests",
                    remedy: first.map { "To see what the first one waits for: bgtask explain \($0)" })
            ], since: request.waitingSince)
    }

    /// What a request of a queue waits for, in one sentence; `nil` if the scheduler has it.
    func headline(inQueue request: TaskRequest, place: Int?) -> String? {
        guard let place, requests.queues.isWaiting(request) else { return nil }
        if place == 0 {
            return "Waits for its date; it is the first of its queue."
        }
        return "Waits in the queue of its task: \(place.counted("request comes", "requests come")) before it."
    }
}
