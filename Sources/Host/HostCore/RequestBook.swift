import TaskModel

/// The pending requests, and what is under way with each.
struct RequestBook: Sendable {
    /// A request that the scheduler launches and the store has not recorded as launched yet.
    struct Start: Sendable {
        /// The number that the launch gets.
        var launch: LaunchID
        /// Its directories, once they are made: that does not wait for the store.
        var place: Result<LaunchPlace, SubmissionError>?
        var isSimulated: Bool
        var priority: LaunchPriority
        /// The client that will run it, as the record says.
        var client: ClientID?
        /// The handler that will run it otherwise, as the record says.
        var handler: PermittedHandler?
    }

    /// Every pending request, those that are starting or being cancelled included.
    private(set) var pending: [RequestID: TaskRequest] = [:]
    /// The pending request of each identifier; there is at most one.
    private var byIdentifier: [TaskIdentifier: RequestID] = [:]
    /// The starts that the store has not recorded yet.
    private(set) var starting: [RequestID: Start] = [:]
    /// Requests whose cancellation the store has not recorded yet.
    private(set) var withdrawing: Set<RequestID> = []
    /// Cancellations of the host's own that the store could not record; they are tried again.
    private var failedCancellations: [RequestID: Reason] = [:]
    /// The client that submitted a request and runs it itself.
    private(set) var clients: [RequestID: ClientID] = [:]
    /// Callers that wait for the launch of a request.
    private var launchWaiters: [RequestID: [LaunchWaiter]] = [:]

    /// A caller of `bgtask launch`.
    struct LaunchWaiter: Sendable {
        var call: CallID
        /// Whether the launch stops before its handler, and the caller waits for that.
        var debug: Bool
    }

    /// Requests that the store has not taken yet, although nothing but a full disk can keep it from that.
    ///
    /// The scheduler has them already, so a launch can be recorded in the commit of its request. Callers and
    /// followers get them when they are durable.
    private(set) var foreseen: Set<RequestID> = []
    /// How many submissions of each identifier the store has not answered.
    private var submissions: [TaskIdentifier: Int] = [:]
    /// How many pending requests of a bundle and kind there are that no schedule made.
    private var counts: [Lane: Int] = [:]

    private struct Lane: Hashable {
        let bundle: BundleIdentifier
        let kind: TaskKind
    }

    /// The pending request of an identifier.
    func request(of identifier: TaskIdentifier) -> TaskRequest? {
        byIdentifier[identifier].flatMap { pending[$0] }
    }

    /// Adds a request, or replaces it by a newer attempt of the same number.
    mutating func insert(_ request: TaskRequest) {
        if pending.updateValue(request, forKey: request.id) == nil { count(request, 1) }
        byIdentifier[request.identifier] = request.id
    }

    private mutating func count(_ request: TaskRequest, _ change: Int) {
        guard request.submission.origin != .schedule else { return }
        let lane = Lane(bundle: request.bundle, kind: request.kind)
        let count = counts[lane, default: 0] + change
        counts[lane] = count == 0 ? nil : count
    }

    /// How many pending requests of a bundle and kind there are that no schedule made.
    func count(of bundle: BundleIdentifier, _ kind: TaskKind) -> Int {
        counts[Lane(bundle: bundle, kind: kind)] ?? 0
    }

    // MARK: Submissions

    /// Those that are durable; see ``foreseen``.
    var durable: some Collection<TaskRequest> { pending.values.lazy.filter { !foreseen.contains($0.id) } }

    /// Whether a submission of the identifier is on its way to the store.
    func isSubmitting(_ identifier: TaskIdentifier) -> Bool { submissions[identifier] != nil }

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

    /// The store has taken it.
    ///
    /// - Returns: Whether it was foreseen.
    mutating func confirm(_ id: RequestID) -> Bool { foreseen.remove(id) != nil }

    // MARK: Life

    /// Forgets a request that is not pending any more.
    ///
    /// A request that is being launched keeps its client.
    @discardableResult
    mutating func remove(_ id: RequestID, keepsClient: Bool = false) -> TaskRequest? {
        guard let request = pending.removeValue(forKey: id) else { return nil }
        count(request, -1)
        foreseen.remove(id)
        if byIdentifier[request.identifier] == id { byIdentifier[request.identifier] = nil }
        starting[id] = nil
        withdrawing.remove(id)
        if !keepsClient { clients[id] = nil }
        return request
    }

    mutating func start(_ id: RequestID, _ start: Start) { starting[id] = start }

    /// Keeps the directories of a start that the store has not recorded.
    ///
    /// - Returns: Whether there is such a start.
    mutating func keep(_ place: Result<LaunchPlace, SubmissionError>, of launch: LaunchID) -> Bool {
        guard let id = starting.first(where: { $0.value.launch == launch })?.key else { return false }
        starting[id]?.place = place
        return true
    }

    mutating func endStart(_ id: RequestID) -> Start? { starting.removeValue(forKey: id) }

    /// False if its cancellation is under way already.
    mutating func beginWithdrawing(_ id: RequestID) -> Bool { withdrawing.insert(id).inserted }

    mutating func endWithdrawing(_ id: RequestID) { withdrawing.remove(id) }

    mutating func failCancellation(of id: RequestID, _ reason: Reason) { failedCancellations[id] = reason }

    mutating func takeFailedCancellations() -> [(RequestID, Reason)] {
        defer { failedCancellations = [:] }
        return failedCancellations.filter { pending[$0.key] != nil }.sorted { $0.key < $1.key }
    }

    mutating func setClient(_ client: ClientID?, of id: RequestID) { clients[id] = client }

    /// Forgets a client that is gone.
    mutating func forget(_ client: ClientID) { clients = clients.filter { $0.value != client } }

    mutating func waitForLaunch(of id: RequestID, _ waiter: LaunchWaiter) {
        launchWaiters[id, default: []].append(waiter)
    }

    /// Those who waited for the launch of a request; they wait no longer.
    mutating func takeLaunchWaiters(of id: RequestID) -> [LaunchWaiter] {
        launchWaiters.removeValue(forKey: id) ?? []
    }

    func hasLaunchWaiters(of id: RequestID) -> Bool { launchWaiters[id] != nil }
}
