import TaskModel

/// A request that could start if no conflicting launch were under way; younger ones let it go first.
struct ConflictClaim: Equatable, Sendable {
    let id: RequestID
    let identifier: TaskIdentifier
    let bundle: BundleIdentifier
    /// The lane in which the request waits for a slot.
    let lane: Lane
    /// Since when the request waits.
    let since: WallTime
    /// When only conflicts and slots began to hold it, on CLOCK_BOOTTIME; later by each time in which
    /// something else held it, too.
    let heldSince: Duration

    /// Whether the request of the claim has waited longer than another one.
    func isOlder(than request: TaskRequest) -> Bool { (since, id) < (request.waitingSince, request.id) }
}

/// The oldest requests that wait for a conflicting launch.
///
/// A request stays here while it is pending and its conflict lasts. It has a claim while nothing but
/// conflicts and slots holds it. A short veto in between suspends the claim; afterwards, the request has its
/// place again, and the time for which it was held before still counts. If the time began again with each
/// veto, a condition that changes every half hour would let a launch hold another bundle forever.
///
/// Few requests are kept, because each of them is judged after each event. The others are judged again when
/// the launch ends for which they wait, or when something else changes that holds them.
struct ConflictQueue: Sendable {
    /// The greatest number of requests with a claim, and of requests without one: 32, our choice: more than
    /// usually wait for conflicts at once.
    static let most = 32
    /// The greatest number of these of one bundle: 8, our choice, so that no bundle takes all places.
    static let mostOfBundle = 8

    /// A request that waits for a conflicting launch.
    struct Entry: Sendable {
        let id: RequestID
        let identifier: TaskIdentifier
        let bundle: BundleIdentifier
        fileprivate(set) var lane: Lane
        let since: WallTime
        /// Whether the request ever had a claim.
        fileprivate var hadClaim = false
        /// For how long the request had a claim before its present one.
        fileprivate var heldBefore = Duration.zero
        /// When the present claim began, on CLOCK_BOOTTIME; `nil` if there is none.
        fileprivate(set) var activeSince: Duration?

        fileprivate init(_ request: TaskRequest) {
            (id, identifier, bundle) = (request.id, request.identifier, request.bundle)
            (lane, since) = (request.lane, request.waitingSince)
        }

        /// The claim of the request; `nil` if something else than conflicts and slots holds it.
        var claim: ConflictClaim? {
            activeSince.map {
                ConflictClaim(
                    id: id, identifier: identifier, bundle: bundle, lane: lane, since: since,
                    heldSince: $0 - heldBefore)
            }
        }

        fileprivate mutating func setActive(_ isActive: Bool, at boot: Duration) {
            if isActive {
                activeSince = activeSince ?? boot
                hadClaim = true
            } else if let start = activeSince {
                heldBefore += boot - start
                activeSince = nil
            }
        }

        fileprivate func isOlder(than other: Entry) -> Bool { (since, id) < (other.since, other.id) }
    }

    /// The requests, oldest first.
    private(set) var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    /// The claims, oldest first.
    var claims: [ConflictClaim] { entries.compactMap(\.claim) }

    /// Adds a request that waits for a conflicting launch; it has no claim yet.
    mutating func enter(_ request: TaskRequest) {
        guard !entries.contains(where: { $0.id == request.id }) else { return }
        let entry = Entry(request)
        entries.insert(entry, at: entries.firstIndex { !$0.isOlder(than: entry) } ?? entries.count)
    }

    /// Removes entries whose requests do not wait for a conflict any more, and begins and ends claims.
    ///
    /// - Parameters:
    ///   - boot: The present time on CLOCK_BOOTTIME.
    ///   - state: Whether an entry has a claim now, and the lane of its request; `nil` if the request does
    ///     not wait for a conflict.
    mutating func update(at boot: Duration, _ state: (Entry) -> (isActive: Bool, lane: Lane)?) {
        entries = entries.compactMap { entry in
            guard let state = state(entry) else { return nil }
            var entry = entry
            entry.lane = state.lane
            entry.setActive(state.isActive, at: boot)
            return entry
        }
    }

    /// The places that are taken.
    private struct Count {
        private var all = 0
        private var byBundle: [BundleIdentifier: Int] = [:]

        /// Takes a place for a request of a bundle, if one is left.
        mutating func take(_ bundle: BundleIdentifier) -> Bool {
            guard all < most, byBundle[bundle, default: 0] < mostOfBundle else { return false }
            all += 1
            byBundle[bundle, default: 0] += 1
            return true
        }
    }

    /// Removes the youngest entries if there are too many, or too many of one bundle.
    ///
    /// - Returns: The requests of the removed ones that had a claim and lost it. They wait only for the
    ///   conflict, so they must be judged again.
    mutating func shorten() -> [RequestID] {
        var (active, idle) = (Count(), Count())
        var removed: [RequestID] = []
        entries = entries.filter { entry in
            let isActive = entry.activeSince != nil
            if isActive ? active.take(entry.bundle) : idle.take(entry.bundle) { return true }
            if !isActive, entry.hadClaim { removed.append(entry.id) }
            return false
        }
        return removed
    }
}
