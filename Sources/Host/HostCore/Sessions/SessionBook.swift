import DequeModule
import TaskModel

/// The background sessions of all bundles: their transfers, and the launches that learn of them.
///
/// A session is *done* when none of its transfers is open; its events wait while the delegate has not handled
/// the end of each.
struct SessionBook: Sendable {
    /// A session of a bundle.
    struct Key: Hashable, Comparable, Sendable {
        let bundle: BundleIdentifier
        let session: String

        static func < (left: Self, right: Self) -> Bool {
            (left.bundle, left.session) < (right.bundle, right.session)
        }
    }

    /// A launch that has taken over sessions.
    struct Watcher: Sendable {
        let bundle: BundleIdentifier
        var sessions: Set<String> = []
        /// The transfers with news, in the order in which they came.
        private var order: Deque<TransferID> = []
        private var changed: Set<TransferID> = []
        /// The launch's call that waits for news.
        var waiting: UInt64?

        init(bundle: BundleIdentifier) { self.bundle = bundle }

        mutating func note(_ id: TransferID) {
            if changed.insert(id).inserted { order.append(id) }
        }

        mutating func next() -> TransferID? {
            guard let id = order.popFirst() else { return nil }
            changed.remove(id)
            return id
        }
    }

    /// The launches for the events of one session.
    struct Deliveries: Sendable {
        /// The launches in a row after which no end was handled.
        var fruitless = 0
        /// How many ends waited when the present launch was submitted; `nil` if there is none.
        var waitingAtLaunch: Int?
        /// The next launch does not begin before this time.
        var notBefore: WallTime?
    }

    /// The longest time in which an app should handle its events: 10 s.
    ///
    /// Our choice; Apple names no number.
    static let promptTime = Duration.seconds(10)
    /// The wait after the first slow launch; it doubles with each further one in a row.
    static let firstDelay = Duration.seconds(30)
    /// The longest wait between two launches for events.
    static let longestDelay = Duration.seconds(3600)
    /// After how many launches in a row in which no end was handled the host gives up until it starts again.
    static let mostFruitless = 5
    /// How many transfers of its sessions a bundle can have that are open or whose ends are not handled.
    static let mostTransfers = 1000

    private var open: [Key: Set<TransferID>] = [:]
    private var untold: [Key: Set<TransferID>] = [:]
    /// The transfers that end when their attempts do, with their bytes kept, and the calls that wait.
    private(set) var cancelling: [TransferID: (launch: LaunchID, call: UInt64)] = [:]
    /// The launches that began transfers, and those that have taken their ends.
    private var beginners: [TransferID: LaunchID] = [:]
    private var takers: [TransferID: LaunchID] = [:]
    /// The transfers about whose beginning a delegate was asked or has decided.
    private var asked: Set<TransferID> = []
    var watchers: [LaunchID: Watcher] = [:]
    /// How many calls of each open launch were refused.
    var refusals: [LaunchID: Int] = [:]
    /// How many of them are logged: a task could otherwise fill the log.
    static let loggedRefusals = 20
    var deliveries: [Key: Deliveries] = [:]
    /// The slow launches in a row, by bundle.
    var slowness: [BundleIdentifier: Int] = [:]

    static func key(of transfer: Transfer) -> Key? {
        guard let session = transfer.request.session, transfer.request.handover != nil else { return nil }
        return Key(bundle: transfer.request.bundle, session: session)
    }

    /// Files a transfer by its state.
    mutating func note(_ transfer: Transfer) {
        guard let key = Self.key(of: transfer) else { return }
        if transfer.state == .ended {
            open[key]?.remove(transfer.id)
            asked.remove(transfer.id)
            if transfer.isUntold {
                untold[key, default: []].insert(transfer.id)
            } else {
                untold[key]?.remove(transfer.id)
                (beginners[transfer.id], takers[transfer.id]) = (nil, nil)
            }
        } else {
            open[key, default: []].insert(transfer.id)
        }
        if open[key]?.isEmpty == true { open[key] = nil }
        if untold[key]?.isEmpty == true { untold[key] = nil }
    }

    mutating func forget(_ id: TransferID) {
        asked.remove(id)
        (beginners[id], takers[id]) = (nil, nil)
    }

    /// The transfers of a session that its delegate must know, oldest first.
    func transfers(of key: Key) -> [TransferID] {
        (open[key] ?? []).union(untold[key] ?? []).sorted()
    }

    /// How many transfers of a bundle's sessions count for ``mostTransfers``.
    func count(of bundle: BundleIdentifier) -> Int {
        let counts = [open, untold].map { part in
            part.lazy.filter { $0.key.bundle == bundle }.reduce(0) { $0 + $1.value.count }
        }
        return counts.reduce(0, +)
    }

    /// The open transfers of a bundle's sessions.
    func openTransfers(of bundle: BundleIdentifier) -> [TransferID] {
        open.filter { $0.key.bundle == bundle }.values.flatMap(\.self).sorted()
    }

    /// The sessions whose transfers have all ended, and whose delegates must learn of it; of one bundle or,
    /// with `nil`, of all.
    func done(of bundle: BundleIdentifier? = nil) -> [Key] {
        untold.keys.filter { (bundle == nil || $0.bundle == bundle) && open[$0] == nil }.sorted()
    }

    /// The ended transfers of a session that its delegate has not handled.
    func untold(of key: Key) -> Set<TransferID> { untold[key] ?? [] }

    /// Whether a launch learns of a session.
    func isHeld(_ key: Key) -> Bool {
        watchers.values.contains { $0.bundle == key.bundle && $0.sessions.contains(key.session) }
    }

    /// The launches that learn of a session.
    func holders(of key: Key) -> [LaunchID] {
        watchers.filter { $0.value.bundle == key.bundle && $0.value.sessions.contains(key.session) }
            .keys.sorted()
    }

    // MARK: Which launch handles an end

    /// Notes the launch that has begun a transfer.
    mutating func began(_ id: TransferID, _ launch: LaunchID) { beginners[id] = launch }

    /// Gives the end of a transfer to a launch that asks for news, unless it is that of another launch.
    ///
    /// Launches of one bundle can have the same session, and two delegates would get the same file. The
    /// launch that began the transfer comes first, and then the one that asks first.
    ///
    /// - Returns: Whether the launch handles the end.
    mutating func takeEnd(of transfer: Transfer, _ launch: LaunchID) -> Bool {
        guard let key = Self.key(of: transfer) else { return true }
        let first = takers[transfer.id] ?? beginners[transfer.id] ?? launch
        guard first == launch || !holders(of: key).contains(first) else { return false }
        takers[transfer.id] = launch
        return true
    }

    /// Takes the ends from a launch that leaves sessions: one of them or, with `nil`, all.
    ///
    /// - Returns: The transfers whose ends another launch may handle now.
    mutating func releaseEnds(of launch: LaunchID, session: String? = nil) -> [TransferID] {
        let ids = untold.filter { session == nil || $0.key.session == session }.values.flatMap(\.self)
            .filter { takers[$0] == launch || beginners[$0] == launch && takers[$0] == nil }
        for id in ids { (beginners[id], takers[id]) = (nil, nil) }
        return ids.sorted()
    }

    // MARK: Questions about one transfer

    mutating func wait(for id: TransferID, _ launch: LaunchID, _ call: UInt64) {
        cancelling[id] = (launch, call)
    }

    mutating func takeCancelling(_ id: TransferID) -> (launch: LaunchID, call: UInt64)? {
        cancelling.removeValue(forKey: id)
    }

    /// Notes that a delegate is asked about a transfer; false if that was done before.
    mutating func ask(about id: TransferID) -> Bool { asked.insert(id).inserted }

    /// Whether a delegate was asked about a transfer, or has decided.
    func wasAsked(about id: TransferID) -> Bool { asked.contains(id) }

    /// Whether the bytes of an ended transfer can be of use to another one.
    func keepsPart(of transfer: Transfer) -> Bool? {
        guard Self.key(of: transfer) != nil, transfer.request.direction == .download, transfer.completed > 0
        else { return nil }
        switch transfer.outcome {
        case .cancelled: return transfer.keepsPart
        case .failed: return true
        case .succeeded, .refused, nil: return nil
        }
    }

    // MARK: Launches for events

    mutating func beginLaunch(of key: Key) {
        deliveries[key, default: Deliveries()].waitingAtLaunch = untold(of: key).count
    }

    mutating func endLaunch(of key: Key) { deliveries[key]?.waitingAtLaunch = nil }
}
