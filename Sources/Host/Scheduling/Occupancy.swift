import TaskModel

/// Which queue a request waits in.
enum Lane: CaseIterable, Sendable {
    /// Launches that someone asked for by name; they take no slot of others.
    case simulated
    /// A user asked for it.
    case continued
    /// May be put off.
    case discretionary
}

/// Who holds which slot, and which bundles wait for one; kept up to date so that a decision counts nothing.
struct Occupancy: Sendable {
    /// The requests whose launches are under way, by identifier.
    private(set) var requests: [TaskIdentifier: RequestID] = [:]
    private(set) var discretionary = 0
    private(set) var continued = 0
    private(set) var discretionaryByBundle: [BundleIdentifier: Int] = [:]
    /// Requests that wait for a discretionary slot and nothing else, as far as is known.
    private var candidatesByBundle: [BundleIdentifier: Int] = [:]
    /// Bundles with such a request and without a discretionary launch.
    private(set) var bundlesWithoutLaunch: Set<BundleIdentifier> = []

    mutating func begin(_ request: TaskRequest) {
        requests[request.identifier] = request.id
        guard request.kind.isDiscretionary else { return continued += 1 }
        discretionary += 1
        discretionaryByBundle[request.bundle, default: 0] += 1
        refresh(request.bundle)
    }

    mutating func end(_ request: TaskRequest) {
        requests[request.identifier] = nil
        guard request.kind.isDiscretionary else { return continued -= 1 }
        discretionary -= 1
        discretionaryByBundle.decrement(request.bundle)
        refresh(request.bundle)
    }

    mutating func beginWaiting(_ bundle: BundleIdentifier) {
        candidatesByBundle[bundle, default: 0] += 1
        refresh(bundle)
    }

    mutating func endWaiting(_ bundle: BundleIdentifier) {
        candidatesByBundle.decrement(bundle)
        refresh(bundle)
    }

    /// Whether any slot of the lane is free.
    func hasSlot(in lane: Lane, _ settings: SchedulerSettings) -> Bool {
        switch lane {
        case .simulated: true
        case .continued: continued < settings.continuedSlots
        case .discretionary: discretionary < settings.discretionarySlots
        }
    }

    private mutating func refresh(_ bundle: BundleIdentifier) {
        if candidatesByBundle[bundle] != nil && discretionaryByBundle[bundle] == nil {
            bundlesWithoutLaunch.insert(bundle)
        } else {
            bundlesWithoutLaunch.remove(bundle)
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
