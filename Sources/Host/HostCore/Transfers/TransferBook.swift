import DequeModule
import HeapModule
import TaskModel

/// The transfers of the host, and which of them begins next.
struct TransferBook: Sendable {
    /// The largest number of transfers at a time with one server: 6, as browsers have, and Apple's sessions
    /// on macOS.
    static let atOncePerServer = 6
    /// The largest number of transfers at a time: 24.
    ///
    /// Our choice: four servers at their limit.
    static let atOnce = 24
    /// How many transfers at a time may wait for the disk without holding a place: 64.
    ///
    /// Our choice: each has two open files in the program, and more make a sync no cheaper for each.
    static let wholeAtOnce = 64
    /// How many transfers of one queue the program holds in reserve: 128.
    ///
    /// Our choice: half of them last for 20 ms at 3,000 small files a second, which is longer than a host
    /// takes to send others.
    static let reservedPerQueue = 128
    /// How many transfers of one bundle the program holds in reserve: 256, four servers at their limit.
    static let reservedPerBundle = 256
    /// How many ended transfers the host remembers: 1,000.
    static let keptEnded = 1000

    /// What the policies ask about a transfer, besides time, and its rank among those of its bundle.
    struct Terms: Hashable {
        let bundle: BundleIdentifier
        let isDiscretionary, allowsMetered, allowsConstrained: Bool
        /// 0 for below the middle, 1 for the middle, 2 for above.
        let rank: Int

        init(_ request: TransferRequest) {
            bundle = request.bundle
            isDiscretionary = request.isDiscretionary
            allowsMetered = request.allowsMetered
            allowsConstrained = request.allowsConstrained
            let priority = request.priority ?? 0.5
            rank = priority < 0.5 ? 0 : priority > 0.5 ? 2 : 1
        }

        /// A request with these terms, for the policies.
        var request: TransferRequest {
            var request = TransferRequest(bundle: bundle, direction: .download, url: "")
            request.isDiscretionary = isDiscretionary
            request.allowsMetered = allowsMetered
            request.allowsConstrained = allowsConstrained
            return request
        }
    }

    private var transfers: [TransferID: Transfer] = [:]
    /// The transfers that wait and whose time has come, by their terms and servers, oldest first.
    private var queues: [Terms: [String: TransferQueue]] = [:]
    /// When each transfer that waits for a time may begin.
    private var delayed: [TransferID: WallTime] = [:]
    /// The same times; those that are no longer in `delayed` are skipped.
    private var alarms = Heap<TransferAlarm>()
    private var ended: Deque<TransferID> = []
    /// When each open transfer fails for its age, on CLOCK_BOOTTIME, so that setting the wall clock ends
    /// none.
    private var deadlines: [TransferID: Duration] = [:]
    /// No deadline is earlier than this; `nil` if no transfer is open.
    private var firstDeadline: Duration?
    private var lastLook: WallTime?
    private(set) var running: Set<TransferID> = []
    /// Those of `running` whose bytes are all here, so that they use no server any more.
    private var whole: Set<TransferID> = []
    /// The files of the downloads that are open or being accepted.
    var places = TransferPlaces()
    /// The transfers that wait, and that the program begins itself when a place is free.
    var reserve = TransferReserve()
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
    mutating func put(_ transfer: Transfer, at now: Moment) -> [Transfer] {
        let before = transfers.updateValue(transfer, forKey: transfer.id)
        if transfer.state == .ended { places.release(transfer) } else { _ = places.claim(transfer) }
        if before?.state == .running, transfer.state != .running { leave(transfer) }
        if before?.state != .running, transfer.state == .running { enter(transfer) }
        guard before?.state != transfer.state || transfer.state == .waiting else { return [] }
        // A session's delegate can replace the request, and with it the server.
        if let before, before.state == .waiting { unqueue(before) }
        if transfer.state == .ended {
            deadlines[transfer.id] = nil
        } else {
            let deadline = deadlines[transfer.id] ?? now.boot + transfer.timeLeft(at: now.wall)
            deadlines[transfer.id] = deadline
            // That of a file that could not be put into its place can be over, and was then passed by.
            firstDeadline = min(firstDeadline ?? deadline, deadline)
        }
        switch transfer.state {
        case .waiting:
            let due = [transfer.notBefore, transfer.request.earliestBeginDate].compactMap(\.self).max()
            if let due, due > now.wall { delay(transfer.id, until: due) } else { queue(transfer) }
        case .running, .finishing: return []
        case .ended:
            // A session that has not heard of the end yet must find the transfer.
            guard !transfer.isUntold else { return [] }
            ended.append(transfer.id)
            return dropOldest()
        }
        return []
    }

    /// Files an ended transfer whose session knows its end now.
    ///
    /// - Returns: The transfers that are forgotten, because too many have ended.
    mutating func retire(_ transfer: Transfer) -> [Transfer] {
        transfers[transfer.id] = transfer
        ended.append(transfer.id)
        return dropOldest()
    }

    /// Forgets the transfer that ended first, if there are too many.
    private mutating func dropOldest() -> [Transfer] {
        guard ended.count > Self.keptEnded, let oldest = ended.popFirst() else { return [] }
        return [transfers.removeValue(forKey: oldest)].compactMap(\.self)
    }

    /// Finds the transfer that begins next.
    ///
    /// Bundles with fewer transfers under way come first, and then the bundle whose transfer is the oldest.
    /// Of one bundle, transfers of a higher rank come first, and then older ones.
    ///
    /// - Parameters:
    ///   - now: The present time.
    ///   - mayBegin: Whether the policies permit transfers of these terms.
    /// - Returns: The transfer; `nil` if none may begin.
    mutating func next(at now: WallTime, _ mayBegin: (Terms) -> Bool) -> Transfer? {
        queueDue(at: now)
        guard running.count - whole.count < Self.atOnce else { return nil }
        let candidates = queues.compactMap { terms, servers in
            first(of: servers).flatMap { mayBegin(terms) ? (terms: terms, id: $0) : nil }
        }
        let oldest = Dictionary(
            candidates.map { ($0.terms.bundle, $0.id) }, uniquingKeysWith: { min($0, $1) })
        func key(_ terms: Terms, _ id: TransferID) -> (Int, TransferID, Int, TransferID) {
            let bundle = terms.bundle
            return (runningOf[bundle, default: 0], oldest[bundle, default: id], -terms.rank, id)
        }
        let next = candidates.min { key($0.terms, $0.id) < key($1.terms, $1.id) }
        return next.flatMap { transfers[$0.id] }
    }

    /// Finds the transfers that the program holds in reserve from now on, because no place is free for them.
    ///
    /// Only downloads: the file of an upload would have to be open meanwhile, and a delegate that decides
    /// about the beginning is asked only when there is a place. Queues are filled again when half of their
    /// reserve, or of their bundle's, is gone, so that orders come together.
    mutating func takeReserves(_ mayBegin: (Terms) -> Bool) -> [(Transfer, rank: Int)] {
        guard !running.isEmpty else { return [] }
        var found: [(Transfer, rank: Int)] = []
        var short: [(queue: TransferReserve.Queue, waiting: TransferQueue)] = []
        for (terms, servers) in queues
        where reserve.count(of: terms.bundle) <= Self.reservedPerBundle / 2 && mayBegin(terms) {
            for (server, waiting) in servers {
                let queue = TransferReserve.Queue(terms: terms, server: server)
                if reserve.count(of: queue) <= Self.reservedPerQueue / 2 { short.append((queue, waiting)) }
            }
        }
        short.sort { ($0.waiting.first?.rawValue ?? 0) < ($1.waiting.first?.rawValue ?? 0) }
        for (queue, waiting) in short {
            for id in waiting.prefix(Self.reservedPerQueue) where !reserve.contains(id) {
                guard reserve.count(of: queue.terms.bundle) < Self.reservedPerBundle else { break }
                guard let transfer = transfers[id], transfer.request.direction == .download,
                    transfer.request.asksBeforeBegin != true
                else { continue }
                reserve.insert(id, queue)
                found.append((transfer, queue.terms.rank))
            }
        }
        return found
    }

    /// Finds a transfer under way that must give its place to one of another bundle.
    ///
    /// A bundle that has at least two more transfers under way than one that waits for a place, at the same
    /// server or in all, gives one back. So many slow transfers of one bundle hold up no other bundle. A
    /// download is chosen before an upload, which would begin again, and then the youngest.
    ///
    /// - Parameter mayBegin: Whether the policies permit transfers of these terms.
    /// - Returns: The transfer to stop; `nil` if the places are shared fairly. The transfer that waits is the
    ///   one that ``next(at:_:)`` then returns.
    func yielding(_ mayBegin: (Terms) -> Bool) -> TransferID? {
        let isFull = running.count - whole.count >= Self.atOnce
        let fullServers = Set(runningWith.filter { $0.value >= Self.atOncePerServer }.keys)
        guard isFull || !fullServers.isEmpty else { return nil }
        let waiting = queues.sorted {
            runningOf[$0.key.bundle, default: 0] < runningOf[$1.key.bundle, default: 0]
        }
        for (terms, servers) in waiting where mayBegin(terms) {
            let count = runningOf[terms.bundle, default: 0]
            if isFull, first(of: servers) != nil, let found = victim(count, at: nil) { return found }
            for server in fullServers.sorted() where servers[server] != nil {
                if let found = victim(count, at: server) { return found }
            }
        }
        return nil
    }

    /// The transfer of a bundle with at least two more transfers under way than `count` that is stopped
    /// first; `nil` if there is none.
    private func victim(_ count: Int, at server: String?) -> TransferID? {
        // Most often, no bundle has so many; this is asked after each report.
        guard runningOf.values.contains(where: { $0 >= count + 2 }) else { return nil }
        let richest = running.subtracting(whole).compactMap { transfers[$0] }.filter {
            runningOf[$0.request.bundle, default: 0] >= count + 2
                && (server == nil || $0.request.server == server)
        }
        return richest.max { left, right in
            let key = { (transfer: Transfer) in
                (
                    runningOf[transfer.request.bundle, default: 0],
                    transfer.request.direction == .download ? 1 : 0, transfer.id.rawValue
                )
            }
            return key(left) < key(right)
        }?.id
    }

    /// The next date at which a transfer's wait ends; `nil` if there is none.
    mutating func nextDate() -> WallTime? {
        dropOldAlarms()
        return alarms.min?.due
    }

    /// When the first open transfer may fail for its age, on CLOCK_BOOTTIME; `nil` if none is open.
    var nextDeadline: Duration? { hasOpen ? firstDeadline : nil }

    /// The transfers whose time is over, except complete ones whose files are being put into their places.
    ///
    /// If such a file can't be put there, ``put(_:at:)`` makes its transfer overdue again.
    mutating func takeOverdue(at boot: Duration) -> [Transfer] {
        guard let first = firstDeadline, first <= boot else { return [] }
        firstDeadline = deadlines.values.filter { $0 > boot }.min()
        return deadlines.filter { $0.value <= boot }.compactMap { transfers[$0.key] }
            .filter { $0.state != .finishing }.sorted { $0.id < $1.id }
    }

    // MARK: Times

    private mutating func delay(_ id: TransferID, until due: WallTime) {
        delayed[id] = due
        alarms.insert(TransferAlarm(due: due, id: id))
        // Most of them would be of transfers that were cancelled, with dates far ahead.
        if alarms.count > 2 * delayed.count + 1000 {
            alarms = Heap(delayed.map { TransferAlarm(due: $0.value, id: $0.key) })
        }
    }

    private mutating func dropOldAlarms() {
        while let alarm = alarms.min, delayed[alarm.id] != alarm.due { alarms.removeMin() }
    }

    /// Queues the transfers whose time has come.
    private mutating func queueDue(at now: WallTime) {
        defer { lastLook = now }
        if let last = lastLook, now < last { queueLost(at: now) }
        while let alarm = alarms.min, alarm.due <= now {
            alarms.removeMin()
            guard delayed[alarm.id] == alarm.due, let transfer = transfers[alarm.id] else { continue }
            delayed[alarm.id] = nil
            queue(transfer)
        }
    }

    /// Queues the transfers whose wait between two attempts ends further ahead than any wait is long, because
    /// the wall clock was set back.
    private mutating func queueLost(at now: WallTime) {
        for (id, due) in delayed where due > now + TransferRequest.longestWait {
            guard let transfer = transfers[id], transfer.notBefore == due else { continue }
            delayed[id] = nil
            queue(transfer)
        }
    }

    // MARK: Queues

    private mutating func queue(_ transfer: Transfer) {
        queues[Terms(transfer.request), default: [:]][transfer.request.server, default: TransferQueue()]
            .insert(transfer.id)
    }

    private mutating func unqueue(_ transfer: Transfer) {
        if delayed.removeValue(forKey: transfer.id) != nil { return }
        let (terms, server) = (Terms(transfer.request), transfer.request.server)
        queues[terms]?[server]?.remove(transfer.id)
        if queues[terms]?[server]?.isEmpty == true { queues[terms]?[server] = nil }
        if queues[terms]?.isEmpty == true { queues[terms] = nil }
    }

    /// The oldest transfer that waits for a server with a free place.
    private func first(of servers: [String: TransferQueue]) -> TransferID? {
        var oldest: TransferID?
        for (server, queue) in servers where runningWith[server, default: 0] < Self.atOncePerServer {
            if let id = queue.first, oldest.map({ id < $0 }) ?? true { oldest = id }
        }
        return oldest
    }

    private mutating func enter(_ transfer: Transfer) {
        running.insert(transfer.id)
        runningWith[transfer.request.server, default: 0] += 1
        runningOf[transfer.request.bundle, default: 0] += 1
    }

    /// Gives the place of a transfer under way to another one, because all its bytes are here and only the
    /// disk is waited for.
    mutating func releasePlace(of id: TransferID) {
        guard running.contains(id), !whole.contains(id), whole.count < Self.wholeAtOnce,
            let transfer = transfers[id]
        else { return }
        whole.insert(id)
        leavePlace(transfer)
    }

    private mutating func leave(_ transfer: Transfer) {
        running.remove(transfer.id)
        if whole.remove(transfer.id) == nil { leavePlace(transfer) }
    }

    private mutating func leavePlace(_ transfer: Transfer) {
        if let count = runningWith[transfer.request.server] {
            runningWith[transfer.request.server] = count > 1 ? count - 1 : nil
        }
        if let count = runningOf[transfer.request.bundle] {
            runningOf[transfer.request.bundle] = count > 1 ? count - 1 : nil
        }
    }
}
