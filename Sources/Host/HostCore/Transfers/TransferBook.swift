import DequeModule
import TaskModel

/// The transfers of the host, and which of them begins next.
struct TransferBook: Sendable {
    /// The largest number of transfers at a time with one server: 6, as browsers and Apple's sessions have.
    static let atOncePerServer = 6
    /// The largest number of transfers at a time: 24.
    ///
    /// Our choice: four servers at their limit. A bundle that uses one server leaves room for others.
    static let atOnce = 24
    /// How many ended transfers the host remembers: 1,000.
    static let keptEnded = 1000

    /// What decides whether a transfer may begin, besides time.
    struct Lane: Hashable {
        let bundle: BundleIdentifier
        let server: String
        let isDiscretionary, allowsMetered, allowsConstrained: Bool

        init(_ request: TransferRequest) {
            bundle = request.bundle
            server = request.server
            isDiscretionary = request.isDiscretionary
            allowsMetered = request.allowsMetered
            allowsConstrained = request.allowsConstrained
        }
    }

    private var transfers: [TransferID: Transfer] = [:]
    /// The transfers that wait and whose time has come.
    ///
    /// New ones are at the end. One that waits again after an attempt comes first if it is older than the
    /// last of its lane; so the order is not always that of age.
    private var queues: [Lane: Deque<TransferID>] = [:]
    /// The transfers that wait for a time.
    private var delayed: [TransferID: WallTime] = [:]
    private var ended: Deque<TransferID> = []
    /// No deadline of an open transfer is earlier than this; `nil` if none is open.
    private var firstDeadline: WallTime?
    private(set) var running: Set<TransferID> = []
    private var runningWith: [String: Int] = [:]
    private var runningOf: [BundleIdentifier: Int] = [:]

    subscript(id: TransferID) -> Transfer? { transfers[id] }

    /// All transfers, oldest first.
    var all: [Transfer] { transfers.values.sorted { $0.id < $1.id } }

    /// Whether a transfer waits or is under way.
    var hasOpen: Bool { !running.isEmpty || !delayed.isEmpty || !queues.isEmpty }

    /// Adds a transfer, or replaces it after a change of its state.
    ///
    /// - Returns: The transfers that are forgotten, because too many have ended.
    mutating func put(_ transfer: Transfer, at now: WallTime) -> [TransferID] {
        let before = transfers.updateValue(transfer, forKey: transfer.id)
        if before?.state == .running, transfer.state != .running { leave(transfer) }
        if before?.state != .running, transfer.state == .running { enter(transfer) }
        guard before?.state != transfer.state || transfer.state == .waiting else { return [] }
        delayed[transfer.id] = nil
        if transfer.state != .ended {
            firstDeadline = min(firstDeadline ?? transfer.deadline, transfer.deadline)
        }
        switch transfer.state {
        case .waiting:
            let due = [transfer.notBefore, transfer.request.earliestBeginDate].compactMap(\.self).max()
            if let due, due > now { delayed[transfer.id] = due } else { queue(transfer) }
        case .running, .finishing: return []
        case .ended:
            ended.append(transfer.id)
            guard ended.count > Self.keptEnded, let oldest = ended.popFirst() else { return [] }
            transfers[oldest] = nil
            return [oldest]
        }
        return []
    }

    /// Finds the transfer that begins next.
    ///
    /// Bundles with fewer transfers under way come first, and then older transfers.
    ///
    /// - Parameters:
    ///   - now: The present time.
    ///   - mayBegin: Whether the conditions permit a transfer; called once for each lane with room.
    /// - Returns: The transfer; `nil` if none may begin.
    mutating func next(at now: WallTime, _ mayBegin: (Transfer) -> Bool) -> Transfer? {
        for (id, due) in delayed {
            guard let transfer = transfers[id] else { continue }
            // If the wall clock was set back, the end of a wait may be further ahead than any wait is long.
            let isLost = transfer.notBefore == due && due > now + TransferRequest.longestWait
            guard due <= now || isLost else { continue }
            delayed[id] = nil
            queue(transfer)
        }
        guard running.count < Self.atOnce else { return nil }
        let candidates = queues.keys.filter { runningWith[$0.server, default: 0] < Self.atOncePerServer }
            .compactMap { lane -> (lane: Lane, transfer: Transfer)? in
                first(of: lane).map { (lane, $0) }
            }
            .sorted { left, right in
                let (mine, other) = (
                    runningOf[left.lane.bundle, default: 0], runningOf[right.lane.bundle, default: 0]
                )
                return mine == other ? left.transfer.id < right.transfer.id : mine < other
            }
        return candidates.first { mayBegin($0.transfer) }?.transfer
    }

    /// The next time at which a transfer's wait or limit ends; `nil` if there is none.
    var nextTime: WallTime? {
        [delayed.values.min(), hasOpen ? firstDeadline : nil].compactMap(\.self).min()
    }

    /// The transfers whose time is over, except complete ones whose files are being put into their places.
    mutating func takeOverdue(at now: WallTime) -> [Transfer] {
        guard let first = firstDeadline, first <= now else { return [] }
        let open = transfers.values.filter { $0.state != .ended && $0.state != .finishing }
        firstDeadline = open.lazy.map(\.deadline).filter { $0 > now }.min()
        return open.filter { $0.deadline <= now }.sorted { $0.id < $1.id }
    }

    // MARK: Queues

    private mutating func queue(_ transfer: Transfer) {
        let lane = Lane(transfer.request)
        // A transfer that waits again after an attempt keeps its place by its age.
        if let last = queues[lane]?.last, last > transfer.id {
            queues[lane]?.prepend(transfer.id)
        } else {
            queues[lane, default: []].append(transfer.id)
        }
    }

    /// The first transfer of a lane that still waits; others are removed from its queue.
    private mutating func first(of lane: Lane) -> Transfer? {
        while let id = queues[lane]?.first {
            if let transfer = transfers[id], transfer.state == .waiting, delayed[id] == nil {
                return transfer
            }
            queues[lane]?.removeFirst()
        }
        queues[lane] = nil
        return nil
    }

    private mutating func enter(_ transfer: Transfer) {
        let lane = Lane(transfer.request)
        running.insert(transfer.id)
        runningWith[lane.server, default: 0] += 1
        runningOf[lane.bundle, default: 0] += 1
        if queues[lane]?.first == transfer.id { queues[lane]?.removeFirst() }
        if queues[lane]?.isEmpty == true { queues[lane] = nil }
    }

    private mutating func leave(_ transfer: Transfer) {
        running.remove(transfer.id)
        if let count = runningWith[transfer.request.server] {
            runningWith[transfer.request.server] = count > 1 ? count - 1 : nil
        }
        if let count = runningOf[transfer.request.bundle] {
            runningOf[transfer.request.bundle] = count > 1 ? count - 1 : nil
        }
    }
}
