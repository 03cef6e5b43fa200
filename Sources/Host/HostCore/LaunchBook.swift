import TaskModel

/// A launch that the store has recorded as begun, until it has recorded its end.
struct OpenLaunch: Sendable {
    /// How far the core is with it.
    enum Stage: Sendable {
        /// Its directories are being made.
        case preparing
        /// The launcher or its client has it.
        case started
        /// It is over; the store has not recorded that yet.
        case ending
    }

    /// As the store has it, with what is newer; and what earlier attempts left for its order.
    var begun: BegunLaunch
    /// The request that it consumed.
    let request: TaskRequest
    var stage = Stage.preparing
    /// The handler whose library or call it runs; `nil` in a client.
    let handler: PermittedHandler?
    /// The copies of libraries that it loads or may load, which must stay until it ends.
    var libraryCopies: Set<String> = []
    /// Whether the manifest forbids a second attempt.
    let isAtMostOnce: Bool
    /// Whether it stops before its handler, for a debugger.
    var isDebugged = false
    /// Whether its CPU limit is lifted.
    var isCPURelaxed = false
    /// Whether the scheduler has heard of its end, so that another launch may have its slot.
    var hasFreedSlot = false
    /// The client's call that completed it; answered when the end is stored.
    var reporter: CallID?
    /// Why it has to stop as soon as its directories are made.
    var stopBeforeStart: Reason?
    /// Whether a user cancelled it after it was over: its request must not come back.
    var isCancelled = false
    /// The task's process, once it is started.
    var processIdentifier: Int32?
    /// Its priority, for when it has a process.
    var priority: LaunchPriority
    /// What decided that it stops; `nil` until something did, or where a user asked for it.
    var stopExplanation: Explanation?
    /// The conditions that it knows of; `nil` for a `call:`, which never reads them.
    var conditions: HandlerConditions?
    /// The client that runs it; `nil` where it has a process of its own.
    var client: ClientID?
    /// What the client's process had used when it began; `nil` until that is known.
    var cpuBefore: Duration?
    /// Whether it was said that it uses more than its limit.
    var hasReportedCPU = false
    /// Whether it was asked to stop by itself; activities alone are.
    var shouldDefer = false
    /// Its assertions that have begun and not ended.
    var openAssertions: Set<UInt64> = []

    var record: LaunchRecord {
        get { begun.record }
        _modify { yield &begun.record }
    }
}

/// The launches that have begun and whose end is not recorded yet.
struct LaunchBook: Sendable {
    private var launches: [LaunchID: OpenLaunch] = [:]
    private var byIdentifier: [TaskIdentifier: LaunchID] = [:]
    /// When launches in clients that were asked to stop are over, on CLOCK_BOOTTIME.
    private(set) var deadlines: [LaunchID: Duration] = [:]
    /// Callers that wait until a debugged launch has stopped before its handler, or ended.
    private var readyWaiters: [LaunchID: [CallID]] = [:]

    var isEmpty: Bool { launches.isEmpty }
    var count: Int { launches.count }
    var ids: [LaunchID] { launches.keys.sorted() }
    var all: some Collection<OpenLaunch> { launches.values }

    /// Changes in place; a launch that is not there is left alone.
    subscript(id: LaunchID) -> OpenLaunch? {
        get { launches[id] }
        _modify { yield &launches[id] }
    }

    /// The launch of an identifier that has begun and not ended; there is at most one.
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
        if byIdentifier[launch.record.identifier] == id { byIdentifier[launch.record.identifier] = nil }
        deadlines[id] = nil
    }

    mutating func setDeadline(_ boot: Duration?, of id: LaunchID) { deadlines[id] = boot }

    mutating func waitUntilReady(_ id: LaunchID, _ call: CallID) {
        readyWaiters[id, default: []].append(call)
    }

    mutating func takeReadyWaiters(of id: LaunchID) -> [CallID] { readyWaiters.removeValue(forKey: id) ?? [] }
}
