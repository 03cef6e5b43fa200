import Scheduling
import TaskModel

/// The pending requests, with their starts and cancellations under way.
struct RequestBook: Sendable {
    /// The start of a launch that the store has not recorded yet.
    struct Start: Sendable {
        /// The number that the launch will have.
        var launch: LaunchID
        /// The launch's directories; `nil` until they are created, which may be before or after the store's
        /// answer.
        var place: Result<LaunchPlace, SubmissionError>?
        var isSimulated: Bool
        var priority: LaunchPriority
        /// The client that will run the launch; `nil` if it will have its own process.
        var client: ClientID?
        /// The handler that will run; `nil` if the launch will run in a client.
        var handler: PermittedHandler?
    }

    /// All pending requests, including those that are being started or cancelled.
    private(set) var pending: [RequestID: TaskRequest] = [:]
    /// The numbers of ``pending`` in ascending order.
    private var order = RequestOrder()
    /// The pending request of each identifier; there is at most one.
    private var byIdentifier: [TaskIdentifier: RequestID] = [:]
    /// The requests that wait for another one of their identifier to end; ``pending`` has them, too, but the
    /// scheduler does not.
    private var appended: [TaskIdentifier: RequestID] = [:]
    /// The requests of queues; ``pending`` has them, too, and the scheduler the first of each queue.
    private(set) var queues = QueueBook()
    /// The requests that wait for the success of another one, by that one; ``pending`` has them, too, but the
    /// scheduler does not.
    private var followers: [RequestID: Set<RequestID>] = [:]
    /// The dates at which requests fail that the scheduler does not have, and those of queues; the scheduler
    /// has the dates of the others.
    private var appendedDeadlines = StartDeadlines()
    /// The starts that the store has not recorded yet, by request.
    private(set) var starting: [RequestID: Start] = [:]
    /// The starts that the store could not record.
    var refusedStarts = RefusedStarts()
    /// The requests with a cancellation that the store has not recorded yet.
    private(set) var withdrawing: Set<RequestID> = []
    /// The host's own cancellations that the store failed to record; the host tries them again.
    private var failedCancellations: [RequestID: Reason] = [:]
    /// The clients that submitted requests and will run them.
    private(set) var clients: [RequestID: ClientID] = [:]
    /// The callers that wait for the launch of a request.
    private var launchWaiters: [RequestID: [LaunchWaiter]] = [:]

    /// A caller of `bgtask launch` that waits for the launch.
    struct LaunchWaiter: Sendable {
        var call: CallID
        /// Whether the launch stops before its handler, for a debugger; then the caller waits until it has
        /// stopped.
        var debug: Bool
        /// Whether the launch's record contains what it used of its grants.
        var learn: Bool
    }

    /// The requests that the store has not accepted yet, but will accept unless a write fails.
    ///
    /// The scheduler has these requests already, so that a request and its launch can share a commit. Callers
    /// and followers of events get them only when they are durable.
    private(set) var foreseen: Set<RequestID> = []
    /// The number of submissions for each identifier that the store has not answered.
    private var submissions: [TaskIdentifier: Int] = [:]
    /// The number of pending requests for each bundle and kind, without those of schedules.
    private var counts: [Lane: Int] = [:]

    private struct Lane: Hashable {
        let bundle: BundleIdentifier
        let kind: TaskKind
    }

    /// The pending request of an identifier; `nil` if there is none.
    func request(of identifier: TaskIdentifier) -> TaskRequest? {
        byIdentifier[identifier].flatMap { pending[$0] }
    }

    /// The pending request of an identifier, if it waits for the success of others; otherwise `nil`.
    func waiting(of identifier: TaskIdentifier) -> TaskRequest? {
        request(of: identifier).flatMap { $0.openPredecessors.isEmpty ? nil : $0 }
    }

    /// The request that waits for another one of the identifier; `nil` if there is none.
    func appended(to identifier: TaskIdentifier) -> TaskRequest? {
        appended[identifier].flatMap { pending[$0] }
    }

    /// The requests with a tag, those that wait for others first, so that none of them becomes pending when
    /// all are cancelled.
    func requests(with tag: Tag) -> [TaskRequest] {
        pending.values.filter { $0.submission.tags.contains(tag) }.sorted(by: RequestBook.isBefore)
    }

    /// The order in which requests are cancelled together: those that wait for others first.
    static func isBefore(_ left: TaskRequest, _ right: TaskRequest) -> Bool {
        (left.after == nil) == (right.after == nil) ? left.id < right.id : left.after != nil
    }

    /// The earliest date at which a request fails that waits for another one; `nil` if there is none.
    mutating func firstAppendedDeadline() -> WallTime? {
        if appendedDeadlines.isEmpty { return nil }
        let pending = pending
        return appendedDeadlines.first { Self.waiting($0, in: pending) }
    }

    /// Returns the requests that wait for others and fail now; each is returned once.
    mutating func takeOverdueAppended(until now: WallTime) -> [TaskRequest] {
        guard appendedDeadlines.isDue(at: now) else { return [] }
        let pending = pending
        return appendedDeadlines.take(until: now) { Self.waiting($0, in: pending) }
    }

    private static func waiting(_ id: RequestID, in pending: [RequestID: TaskRequest]) -> TaskRequest? {
        pending[id].flatMap { $0.after == nil && !$0.isQueued && $0.openPredecessors.isEmpty ? nil : $0 }
    }

    /// The continued tasks of a bundle that wait for others, and those of its queues, oldest first.
    func appendedContinued(of bundle: BundleIdentifier) -> [TaskRequest] {
        let queued = queues.identifiers.flatMap { queues.members(of: $0) }
        let following = followers.values.reduce(into: Set(appended.values)) { $0.formUnion($1) }
        return following.union(queued).compactMap { pending[$0] }
            .filter { $0.bundle == bundle && $0.kind == .continuedProcessing }
            .sorted { $0.id < $1.id }
    }

    /// Puts the request that waits for another one of the identifier behind this one.
    mutating func moveAppended(of identifier: TaskIdentifier, after request: RequestID) {
        guard let id = appended[identifier] else { return }
        pending[id]?.after = request
    }

    /// Whether a request waits for this one.
    func isAppended(after id: RequestID) -> Bool { appended.values.contains { pending[$0]?.after == id } }

    /// Ends the wait of the request that waited for this one, which has ended.
    ///
    /// - Returns: The request, which is now the pending one of its identifier; `nil` if there is none.
    mutating func release(after request: RequestID, _ identifier: TaskIdentifier) -> TaskRequest? {
        guard let id = appended[identifier], pending[id]?.after == request else { return nil }
        appended[identifier] = nil
        byIdentifier[identifier] = id
        pending[id]?.after = nil
        return pending[id]
    }

    /// Adds a request, or replaces the request with the same number.
    mutating func insert(_ request: TaskRequest) {
        if pending.updateValue(request, forKey: request.id) == nil {
            count(request, 1)
            order.insert(request.id)
        }
        for predecessor in request.openPredecessors { followers[predecessor, default: []].insert(request.id) }
        if request.isQueued {
            queues.add(request)
            guard request.failsAt != nil else { return }
            let pending = pending
            let count = queues.count(of: request.identifier)
            appendedDeadlines.add(request, among: count) { Self.waiting($0, in: pending) }
        } else if request.after == nil {
            byIdentifier[request.identifier] = request.id
            guard !request.openPredecessors.isEmpty, request.failsAt != nil else { return }
            let pending = pending
            appendedDeadlines.add(request, among: followers.count) { Self.waiting($0, in: pending) }
        } else {
            appended[request.identifier] = request.id
            guard request.failsAt != nil else { return }
            let pending = pending
            appendedDeadlines.add(request, among: appended.count) { Self.waiting($0, in: pending) }
        }
    }

    /// The requests that wait for the success of this one, oldest first.
    func followers(of id: RequestID) -> [RequestID] { followers[id].map { $0.sorted() } ?? [] }

    /// Notes that a request has succeeded.
    ///
    /// - Returns: The requests without a queue that waited only for it, which the scheduler gets now.
    mutating func succeed(_ id: RequestID) -> [TaskRequest] {
        var released: [TaskRequest] = []
        for follower in (followers.removeValue(forKey: id) ?? []).sorted() {
            pending[follower]?.openPredecessors.removeAll { $0 == id }
            guard let request = pending[follower], request.openPredecessors.isEmpty else { continue }
            if request.isQueued { queues.release(request) } else { released.append(request) }
        }
        return released
    }

    /// Makes room for so many more requests.
    mutating func reserve(_ count: Int) {
        pending.reserveCapacity(pending.count + count)
        byIdentifier.reserveCapacity(byIdentifier.count + count)
    }

    /// Determines the first requests of the queues that have changed; see ``QueueBook/settle(at:_:_:date:)``.
    mutating func settleQueues(
        at now: WallTime, _ orders: [TaskIdentifier: QueueOrder], date: (TaskRequest) -> WallTime?
    ) -> [QueueBook.Move] {
        queues.settle(at: now, pending, orders, date: date)
    }

    /// The next date of a queued request; `nil` if none waits for one.
    mutating func nextQueueDate() -> WallTime? { queues.nextDate() }

    /// Lets the queues advance whose requests have waited for a date that has come.
    mutating func releaseQueues(until now: WallTime) { queues.release(until: now) }

    /// Determines the dates of queued requests again, because the wall clock was set.
    mutating func redateQueues() { queues.redate() }

    /// Examines all queues again.
    mutating func touchQueues() { queues.touchAll() }

    /// All pending requests of an identifier, those that wait for others first.
    func requests(of identifier: TaskIdentifier) -> [TaskRequest] {
        let queued = queues.members(of: identifier).sorted().compactMap { pending[$0] }
        return [appended(to: identifier), request(of: identifier)].compactMap(\.self) + queued
    }

    private mutating func count(_ request: TaskRequest, _ change: Int) {
        if request.isQueued { return }
        guard request.submission.origin != .schedule else { return }
        let lane = Lane(bundle: request.bundle, kind: request.kind)
        let count = counts[lane, default: 0] + change
        counts[lane] = count == 0 ? nil : count
    }

    /// The number of pending requests of a bundle and kind, without those of schedules.
    func count(of bundle: BundleIdentifier, _ kind: TaskKind) -> Int {
        counts[Lane(bundle: bundle, kind: kind)] ?? 0
    }

    // MARK: Submissions

    /// The pending requests that are durable: all except ``foreseen``.
    var durable: some Collection<TaskRequest> { pending.values.lazy.filter { !foreseen.contains($0.id) } }

    /// The number of requests in ``durable``, without counting them.
    var durableCount: Int { pending.count - foreseen.count }

    /// A part of the durable pending requests, oldest first.
    ///
    /// - Parameters:
    ///   - after: The request after which the part begins; `nil` for the first part.
    ///   - limit: The greatest number of requests, at least 1.
    ///   - tag: Only requests with this tag; `nil` means all.
    /// - Returns: The part, and where the next one begins.
    func page(after: RequestID?, limit: Int, tag: Tag?) -> ListingPage<TaskRequest, RequestID> {
        var rows: [TaskRequest] = []
        rows.reserveCapacity(min(limit, 1000))
        for id in order.after(after) {
            guard let request = pending[id], !foreseen.contains(id) else { continue }
            if let tag, !request.submission.tags.contains(tag) { continue }
            if rows.count == limit { return ListingPage(rows: rows, next: rows.last?.id) }
            rows.append(request)
        }
        return ListingPage(rows: rows, next: nil)
    }

    /// Whether the store has not yet answered a submission of the identifier.
    func isSubmitting(_ identifier: TaskIdentifier) -> Bool { submissions[identifier] != nil }

    /// The number of submissions of the identifier that the store has not answered.
    func submissionCount(of identifier: TaskIdentifier) -> Int { submissions[identifier] ?? 0 }

    mutating func beginSubmission(of identifier: TaskIdentifier) {
        submissions[identifier, default: 0] += 1
    }

    mutating func endSubmission(of identifier: TaskIdentifier) {
        let left = (submissions[identifier] ?? 1) - 1
        submissions[identifier] = left == 0 ? nil : left
    }

    mutating func foresee(_ request: TaskRequest) {
        foreseen.insert(request.id)
        insert(request)
    }

    /// Notes that the store has accepted a request.
    ///
    /// - Returns: Whether the request was foreseen.
    mutating func confirm(_ id: RequestID) -> Bool { foreseen.remove(id) != nil }

    // MARK: Starts and cancellations

    /// Removes a request that is not pending any more.
    ///
    /// With `keepsClient`, the client of the request stays known, because the request was launched and may be
    /// put back.
    @discardableResult
    mutating func remove(_ id: RequestID, keepsClient: Bool = false) -> TaskRequest? {
        guard let request = pending.removeValue(forKey: id) else { return nil }
        let pending = pending
        order.remove { pending[$0] != nil }
        count(request, -1)
        foreseen.remove(id)
        for predecessor in request.openPredecessors {
            followers[predecessor]?.remove(id)
            if followers[predecessor]?.isEmpty == true { followers[predecessor] = nil }
        }
        if request.isQueued { queues.remove(request) }
        if byIdentifier[request.identifier] == id { byIdentifier[request.identifier] = nil }
        if appended[request.identifier] == id { appended[request.identifier] = nil }
        starting[id] = nil
        withdrawing.remove(id)
        refusedStarts.forget(id)
        if !keepsClient { clients[id] = nil }
        return request
    }

    mutating func start(_ id: RequestID, _ start: Start) {
        starting[id] = start
        // The next request of its queue can start at the same time.
        if let request = pending[id], request.isQueued { queues.leave(request) }
    }

    /// Stores the directories of a start that the store has not recorded.
    ///
    /// - Returns: Whether the launch has a start that the store has not recorded.
    mutating func keep(_ place: Result<LaunchPlace, SubmissionError>, of launch: LaunchID) -> Bool {
        guard let id = starting.first(where: { $0.value.launch == launch })?.key else { return false }
        starting[id]?.place = place
        return true
    }

    mutating func endStart(_ id: RequestID) -> Start? { starting.removeValue(forKey: id) }

    /// Marks a request as being cancelled; returns false if it is marked already.
    mutating func beginWithdrawing(_ id: RequestID) -> Bool { withdrawing.insert(id).inserted }

    mutating func endWithdrawing(_ id: RequestID) { withdrawing.remove(id) }

    /// Keeps a cancellation by the host to try it again; until then, the request stays marked.
    ///
    /// A failed cancellation by a user at the same time may have removed the mark.
    mutating func failCancellation(of id: RequestID, _ reason: Reason) {
        failedCancellations[id] = reason
        withdrawing.insert(id)
    }

    /// Whether the host must try again to cancel a request.
    func hasFailedCancellation(_ id: RequestID) -> Bool { failedCancellations[id] != nil }

    mutating func takeFailedCancellations() -> [(RequestID, Reason)] {
        defer { failedCancellations = [:] }
        return failedCancellations.filter { pending[$0.key] != nil }.sorted { $0.key < $1.key }
    }

    mutating func setClient(_ client: ClientID?, of id: RequestID) { clients[id] = client }

    /// Removes a client that left from all requests.
    mutating func forget(_ client: ClientID) { clients = clients.filter { $0.value != client } }

    mutating func waitForLaunch(of id: RequestID, _ waiter: LaunchWaiter) {
        launchWaiters[id, default: []].append(waiter)
    }

    /// Removes and returns the callers that wait for the launch of a request.
    mutating func takeLaunchWaiters(of id: RequestID) -> [LaunchWaiter] {
        launchWaiters.removeValue(forKey: id) ?? []
    }

    func hasLaunchWaiters(of id: RequestID) -> Bool { launchWaiters[id] != nil }
}
