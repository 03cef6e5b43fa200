import TaskModel

/// The pending requests, and what is under way with each.
struct RequestBook: Sendable {
    /// A request that the scheduler launches and the store has not recorded as launched yet.
    struct Start: Sendable {
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

    /// The pending request of an identifier.
    func request(of identifier: TaskIdentifier) -> TaskRequest? {
        byIdentifier[identifier].flatMap { pending[$0] }
    }

    /// Adds a request, or replaces it by a newer attempt of the same number.
    mutating func insert(_ request: TaskRequest) {
        pending[request.id] = request
        byIdentifier[request.identifier] = request.id
    }

    /// Forgets a request that is not pending any more.
    ///
    /// A request that is being launched keeps its client.
    @discardableResult
    mutating func remove(_ id: RequestID, keepsClient: Bool = false) -> TaskRequest? {
        guard let request = pending.removeValue(forKey: id) else { return nil }
        if byIdentifier[request.identifier] == id { byIdentifier[request.identifier] = nil }
        starting[id] = nil
        withdrawing.remove(id)
        if !keepsClient { clients[id] = nil }
        return request
    }

    mutating func start(_ id: RequestID, _ start: Start) { starting[id] = start }

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
