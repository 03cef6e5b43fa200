import TaskModel

/// A launch under way: the store has recorded its start, and not its end.
struct OpenLaunch: Sendable {
    /// The stage of the launch.
    enum Stage: Sendable {
        /// The launch's directories are being created.
        case preparing
        /// The launcher or the client has the launch.
        case started
        /// The launch has ended, but the store has not recorded that yet.
        case ending
    }

    /// The record of the launch, which may be newer than the store's, and the data of earlier attempts.
    var begun: BegunLaunch
    /// The request that the launch runs.
    let request: TaskRequest
    var stage = Stage.preparing
    /// The handler whose library or call runs; `nil` in a client.
    let handler: PermittedHandler?
    /// The hashes of the library copies that the launch may load; they must not be removed before its end.
    var libraryCopies: Set<String> = []
    /// Whether the request is never put back, because of its manifest or because the launch runs in a client.
    let isAtMostOnce: Bool
    /// Whether the launch stops before its handler, for a debugger.
    var isDebugged = false
    /// Whether the launch's record contains what it used of its grants.
    var isLearning = false
    /// Whether the CPU limit of the launch is lifted.
    var isCPURelaxed = false
    /// Whether the scheduler was notified of the launch's end, so that another launch may have its slot.
    var hasFreedSlot = false
    /// The client's call that completed the launch; it gets its answer when the end is stored.
    var reporter: CallID?
    /// The reason for which the launch must end as soon as its directories exist; `nil` if it may start.
    var stopBeforeStart: Reason?
    /// Whether a user cancelled the launch, so that its request must not be put back.
    var isCancelled = false
    /// When the handler was called; `nil` before that.
    var readyAt: Moment?
    /// The number of the task's or client's process; `nil` before the process exists.
    var processIdentifier: Int32?
    /// The priority that the launch's process has or will get.
    var priority: LaunchPriority
    /// The priority in the launch's order; `nil` before the order.
    var orderedPriority: LaunchPriority?
    /// The explanation of the decision to stop the launch; `nil` if there is none, or a user asked for the
    /// stop.
    var stopExplanation: Explanation?
    /// The conditions that the launch was last sent; `nil` before its order, in a client, and for a `call:`,
    /// which never reads them.
    var conditions: HandlerConditions?
    /// The client that runs the launch; `nil` if the launch has its own process.
    var client: ClientID?
    /// The CPU time that the client's process had used when the launch began; `nil` until it is measured.
    var cpuBefore: Duration?
    /// Whether the log says already that the launch exceeds its CPU limit.
    var hasReportedCPU = false
    /// Whether the launch was asked to stop by itself; only activities are.
    var shouldDefer = false
    /// The assertions that the launch began and has not ended.
    var openAssertions: Set<UInt64> = []

    var record: LaunchRecord {
        get { begun.record }
        _modify { yield &begun.record }
    }
}

/// The launches under way.
struct LaunchBook: Sendable {
    private var launches: [LaunchID: OpenLaunch] = [:]
    private var byIdentifier: [TaskIdentifier: LaunchID] = [:]
    /// The ends of the grace periods of launches in clients, on CLOCK_BOOTTIME.
    private(set) var deadlines: [LaunchID: Duration] = [:]
    /// The callers that wait until a launch with a debugger has stopped before its handler, or ended.
    private var readyWaiters: [LaunchID: [CallID]] = [:]

    var isEmpty: Bool { launches.isEmpty }
    var count: Int { launches.count }
    var ids: [LaunchID] { launches.keys.sorted() }
    var all: some Collection<OpenLaunch> { launches.values }

    /// A launch under way, which can be changed in place; `nil` if there is none with this number.
    subscript(id: LaunchID) -> OpenLaunch? {
        get { launches[id] }
        _modify { yield &launches[id] }
    }

    /// The launch of an identifier; of a task with a queue, the newest of its launches.
    func launch(of identifier: TaskIdentifier) -> OpenLaunch? {
        byIdentifier[identifier].flatMap { launches[$0] }
    }

    func launch(of request: RequestID) -> OpenLaunch? {
        launches.values.first { $0.record.request == request }
    }

    mutating func insert(_ launch: OpenLaunch) {
        launches[launch.record.id] = launch
        byIdentifier[launch.record.identifier] = launch.record.id
    }

    mutating func remove(_ id: LaunchID) {
        guard let launch = launches.removeValue(forKey: id) else { return }
        if byIdentifier[launch.record.identifier] == id {
            byIdentifier[launch.record.identifier] =
                launches.values.filter { $0.record.identifier == launch.record.identifier }
                .map(\.record.id).max()
        }
        deadlines[id] = nil
    }

    mutating func setDeadline(_ boot: Duration?, of id: LaunchID) { deadlines[id] = boot }

    mutating func waitUntilReady(_ id: LaunchID, _ call: CallID) {
        readyWaiters[id, default: []].append(call)
    }

    mutating func takeReadyWaiters(of id: LaunchID) -> [CallID] { readyWaiters.removeValue(forKey: id) ?? [] }
}
