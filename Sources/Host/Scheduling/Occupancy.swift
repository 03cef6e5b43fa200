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
    /// Deferrable requests.
    case discretionary
}

extension TaskRequest {
    /// The lane in which the request waits, and whose slot its launch occupies.
    var lane: Lane {
        if isDiscretionary { return .discretionary }
        switch kind {
        case .continuedProcessing: return .continued
        case .appLaunch: return .app
        case .appRefresh, .processing, .push, .transferEvents, .activity: return .urgent
        }
    }
}

/// The occupied slots; they are counted when a launch begins and ends, so that a decision need not count.
struct Occupancy: Sendable {
    /// The requests with a launch under way, by identifier.
    private(set) var requests: [TaskIdentifier: RequestID] = [:]
    private(set) var discretionary = 0
    private(set) var continued = 0
    private(set) var urgent = 0
    private(set) var apps = 0
    private(set) var discretionaryByBundle: [BundleIdentifier: Int] = [:]
    /// When a slot was last occupied or released.
    private(set) var since: WallTime?

    /// Whether any launch is under way.
    var isBusy: Bool { !requests.isEmpty }

    mutating func begin(_ request: TaskRequest, at now: WallTime) {
        requests[request.identifier] = request.id
        since = now
        count(request, 1)
    }

    mutating func end(_ request: TaskRequest, at now: WallTime) {
        requests[request.identifier] = nil
        since = now
        count(request, -1)
    }

    private mutating func count(_ request: TaskRequest, _ change: Int) {
        switch request.lane {
        case .simulated: break
        case .continued: continued += change
        case .urgent: urgent += change
        case .app: apps += change
        case .discretionary:
            discretionary += change
            let count = (discretionaryByBundle[request.bundle] ?? 0) + change
            discretionaryByBundle[request.bundle] = count == 0 ? nil : count
        }
    }
}

extension Dictionary where Value == Int {
    /// Subtracts one from a count, and removes a count of 0.
    mutating func decrement(_ key: Key) {
        guard let count = self[key] else { return }
        self[key] = count > 1 ? count - 1 : nil
    }
}
