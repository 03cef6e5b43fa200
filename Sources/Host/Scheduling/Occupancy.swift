import TaskModel

/// Which queue a request waits in.
enum Lane: CaseIterable, Hashable, Sendable {
    /// Launches that someone asked for by name; they take no slot of others.
    case simulated
    /// A user asked for it.
    case continued
    /// Pushes of priority 10.
    case urgent
    /// The launch code of an app.
    case app
    /// May be put off.
    case discretionary
}

extension TaskRequest {
    /// Where it waits, and whose slot its launch holds.
    var lane: Lane {
        if isDiscretionary { return .discretionary }
        switch kind {
        case .continuedProcessing: return .continued
        case .appLaunch: return .app
        case .appRefresh, .processing, .push, .transferEvents, .activity: return .urgent
        }
    }
}

/// Who holds which slot; kept up to date so that a decision counts nothing.
struct Occupancy: Sendable {
    /// The requests whose launches are under way, by identifier.
    private(set) var requests: [TaskIdentifier: RequestID] = [:]
    private(set) var discretionary = 0
    private(set) var continued = 0
    private(set) var urgent = 0
    private(set) var apps = 0
    private(set) var discretionaryByBundle: [BundleIdentifier: Int] = [:]
    /// When a slot was last taken or given back.
    private(set) var since: WallTime?

    /// Whether anything is under way.
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
    /// Counts one less; a count of 0 goes.
    mutating func decrement(_ key: Key) {
        guard let count = self[key] else { return }
        self[key] = count > 1 ? count - 1 : nil
    }
}
