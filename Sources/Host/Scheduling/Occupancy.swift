import TaskModel

/// The queue in which a request waits for a slot; each lane has slots of its own.
enum Lane: CaseIterable, Hashable, Sendable {
    /// Launches by `bgtask launch`: they start without a free slot, but occupy one of their request's own
    /// lane.
    case simulated
    /// Continued tasks, which a user started.
    case continued
    /// Pushes of priority 10, and other requests that are not deferrable.
    case urgent
    /// Launches of an app's launch code.
    case app
    /// Deferrable work of seconds: refreshes, pushes and the events of transfers.
    case short
    /// Deferrable work of minutes or hours: processing and activities.
    case long

    /// Whether slots go to the bundle that had least service.
    ///
    /// Other lanes start their requests in the order of submission, and then those that were put back, in the
    /// order of their put-backs.
    var isFair: Bool { self == .short || self == .long }

    /// Whether a launch in the lane must end after its turn if another request waits for it.
    ///
    /// A user watches continued tasks and the launches by `bgtask launch`, and can end them. The lease of an
    /// app launch is not longer than a turn.
    var hasTurns: Bool { isFair || self == .urgent }
}

extension TaskRequest {
    /// The lane in which the request waits, and whose slot its launch occupies.
    var lane: Lane {
        switch kind {
        case .continuedProcessing: .continued
        case .appLaunch: .app
        case .processing, .activity: .long
        case .appRefresh, .push, .transferEvents: isDiscretionary ? .short : .urgent
        }
    }
}

/// The occupied slots; they are counted when a launch begins and ends, so that a decision need not count.
struct Occupancy: Sendable {
    /// The occupied slots of one lane.
    struct Slots: Sendable {
        var count = 0
        var byBundle: [BundleIdentifier: Int] = [:]
    }

    /// A launch of a task with a queue, beside another one of the same task.
    private struct Other: Sendable {
        let request: RequestID
        let since: WallTime
    }

    /// The requests with a launch under way, by identifier; of a task with a queue, the one whose launch
    /// began first.
    private(set) var requests: [TaskIdentifier: RequestID] = [:]
    /// The other requests with a launch under way, of tasks with queues, in the order of their launches.
    private var others: [TaskIdentifier: [Other]] = [:]
    /// When each of these launches began.
    private(set) var beginnings: [TaskIdentifier: WallTime] = [:]
    /// The lane whose slot each of these launches occupies.
    private(set) var lanes: [TaskIdentifier: Lane] = [:]
    private(set) var continued = Slots()
    private(set) var urgent = Slots()
    private(set) var app = Slots()
    private(set) var short = Slots()
    private(set) var long = Slots()
    /// When a slot was last occupied or released.
    private(set) var since: WallTime?

    /// Whether any launch is under way.
    var isBusy: Bool { !requests.isEmpty }

    /// The number of deferrable launches.
    var discretionary: Int { short.count + long.count }

    /// The number of launches of a task under way.
    func count(of identifier: TaskIdentifier) -> Int {
        (requests[identifier] == nil ? 0 : 1) + (others[identifier]?.count ?? 0)
    }

    mutating func begin(_ request: TaskRequest, at now: WallTime) {
        if requests[request.identifier] == nil {
            requests[request.identifier] = request.id
            beginnings[request.identifier] = now
        } else {
            others[request.identifier, default: []].append(Other(request: request.id, since: now))
        }
        lanes[request.identifier] = request.lane
        since = now
        count(request, 1)
    }

    mutating func end(_ request: TaskRequest, at now: WallTime) {
        leave(request)
        since = now
        count(request, -1)
    }

    private mutating func leave(_ request: TaskRequest) {
        let identifier = request.identifier
        var rest = others[identifier] ?? []
        if requests[identifier] == request.id {
            let next = rest.isEmpty ? nil : rest.removeFirst()
            requests[identifier] = next?.request
            beginnings[identifier] = next?.since
        } else {
            rest.removeAll { $0.request == request.id }
        }
        others[identifier] = rest.isEmpty ? nil : rest
        if requests[identifier] == nil { lanes[identifier] = nil }
    }

    /// The occupied slots of a lane; launches by `bgtask launch` occupy those of their request's own lane.
    func slots(of lane: Lane) -> Slots {
        switch lane {
        case .simulated: Slots()
        case .continued: continued
        case .urgent: urgent
        case .app: app
        case .short: short
        case .long: long
        }
    }

    private mutating func count(_ request: TaskRequest, _ change: Int) {
        switch request.lane {
        case .simulated: break
        case .continued: continued.count(request.bundle, change)
        case .urgent: urgent.count(request.bundle, change)
        case .app: app.count(request.bundle, change)
        case .short: short.count(request.bundle, change)
        case .long: long.count(request.bundle, change)
        }
    }
}

extension Occupancy.Slots {
    fileprivate mutating func count(_ bundle: BundleIdentifier, _ change: Int) {
        count += change
        let ofBundle = (byBundle[bundle] ?? 0) + change
        byBundle[bundle] = ofBundle == 0 ? nil : ofBundle
    }
}

extension Dictionary where Value == Int {
    /// Subtracts one from a count, and removes a count of 0.
    mutating func decrement(_ key: Key) {
        guard let count = self[key] else { return }
        self[key] = count > 1 ? count - 1 : nil
    }
}
