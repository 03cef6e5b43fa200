import HeapModule
import TaskModel

/// The properties of a request that determine how the machine's conditions affect it.
///
/// A policy whose reach is ``Reach/machine`` gives the same answer for all requests with the same traits.
struct MachineTraits: Hashable, Sendable {
    let lane: Lane
    let kind: TaskKind
    let needs: Needs
}

/// The pending requests with the same traits.
///
/// If the machine's conditions prevent one of them from starting, they prevent all, so the whole group is
/// held. This takes no time per request. A request waits in a queue as a key. When the request moves to
/// another queue, its old key stays behind; it is not current any more, and is skipped or removed later.
struct PendingGroup: Sendable {
    /// The effect of the machine's conditions on the group.
    enum Hold: Equatable, Sendable {
        /// Not known, because conditions or settings have changed since the last answer.
        case unknown
        /// The group is not held; each request is judged alone.
        case none
        /// No request of the group can start until conditions change.
        case held
    }

    let traits: MachineTraits
    /// One request with these traits; the policies judge it for the whole group.
    let sample: TaskRequest
    var hold = Hold.unknown
    /// The number of requests in the group.
    var members = 0
    /// The candidates: requests that may get a slot.
    private(set) var open = RequestQueue()
    /// Requests that wait for a change of their bundle's state.
    private var waitingForBundle = RequestQueue()
    /// Requests that wait because their score is too low.
    private var waitingForScore = RequestQueue()
    private var waiting: [Fact: RequestQueue] = [:]
    /// The dates of requests that were judged: of those that wait only for a date, and of those that wait for
    /// a date or a fact, whichever comes first.
    private var dates = Heap<RequestKey>()
    /// When the host wakes for requests of ``dates``, which is at their date or later.
    private var alarms = Heap<RequestKey>()
    /// Requests whose own date is in the future; they were not judged yet, so they may have to wait longer.
    private var unjudged = Heap<RequestKey>()

    init(_ traits: MachineTraits, sample: TaskRequest) {
        self.traits = traits
        self.sample = sample
    }

    var keyCount: Int {
        open.count + waitingForBundle.count + waitingForScore.count + dates.count + alarms.count
            + unjudged.count
            + waiting.values.reduce(0) { $0 + $1.count }
    }

    mutating func open(_ key: RequestKey, bundle: Int) { open.insert(key, of: bundle) }

    /// Moves a request aside until its own date, without asking the policies.
    mutating func putOff(_ key: RequestKey) { unjudged.insert(key) }

    /// Moves a request aside until a date; `alarm` is when the host wakes for it.
    mutating func wait(until key: RequestKey, alarm: RequestKey) {
        dates.insert(key)
        alarms.insert(alarm)
    }

    /// Moves a request aside until a fact changes.
    mutating func wait(for fact: Fact, _ key: RequestKey, bundle: Int) {
        switch fact {
        case .scores: waitingForScore.insert(key, of: bundle)
        case .bundle: waitingForBundle.insert(key, of: bundle)
        default: waiting[fact, default: RequestQueue()].insert(key, of: bundle)
        }
    }

    /// Moves all candidates of a bundle aside until the bundle's state changes.
    mutating func holdBundle(_ bundle: Int) {
        guard let keys = open.take(bundle) else { return }
        waitingForBundle.give(keys, to: bundle)
    }

    /// Moves all candidates of a bundle aside until a fact changes.
    mutating func hold(_ bundle: Int, for fact: Fact) {
        guard let keys = open.take(bundle) else { return }
        waiting[fact, default: RequestQueue()].give(keys, to: bundle)
    }

    /// Makes all requests that wait for a fact candidates.
    mutating func release(_ fact: Fact) {
        switch fact {
        case .scores:
            open.absorb(waitingForScore)
            waitingForScore = RequestQueue()
        default:
            if let queue = waiting.removeValue(forKey: fact) { open.absorb(queue) }
        }
    }

    /// Makes all requests of a bundle that wait for its state or for a better score candidates.
    mutating func releaseBundle(_ bundle: Int) {
        if let keys = waitingForBundle.take(bundle) { open.give(keys, to: bundle) }
        if let keys = waitingForScore.take(bundle) { open.give(keys, to: bundle) }
    }

    /// Removes and returns a key whose date has come; `nil` if there is none.
    mutating func popDue(_ now: WallTime) -> RequestKey? {
        if let first = dates.min, first.time <= now { return dates.removeMin() }
        if let first = unjudged.min, first.time <= now { return unjudged.removeMin() }
        return nil
    }

    /// Removes and returns all keys with a date.
    mutating func takeDates() -> [RequestKey] {
        defer { (dates, alarms, unjudged) = ([], [], []) }
        return dates.unordered + unjudged.unordered
    }

    /// Removes and returns the keys with a date of requests that were judged.
    mutating func takeJudgedDates() -> [RequestKey] {
        defer { (dates, alarms) = ([], []) }
        return dates.unordered
    }

    /// The earliest alarm of the requests that were judged; `isCurrent` is whether a key is current.
    mutating func firstAlarm(isCurrent: (RequestKey) -> Bool) -> WallTime? {
        while let key = alarms.min {
            if isCurrent(key) { return key.time }
            alarms.removeMin()
        }
        return nil
    }

    /// The key with the earliest date of the requests that were not judged; `isCurrent` is whether a key is
    /// current.
    mutating func firstUnjudged(isCurrent: (RequestKey) -> Bool) -> RequestKey? {
        while let key = unjudged.min {
            if isCurrent(key) { return key }
            unjudged.removeMin()
        }
        return nil
    }

    mutating func removeFirstUnjudged() { unjudged.removeMin() }

    /// The first candidate, without those of some bundles; see
    /// ``RequestQueue/first(isCurrent:avoiding:rank:)``.
    mutating func first(
        avoiding bundles: [Int], isCurrent: (RequestKey) -> Bool, rank: (Int) -> Double
    ) -> RequestQueue.Top? {
        open.first(isCurrent: isCurrent, avoiding: bundles, rank: rank)
    }

    /// Corrects the order of candidates after the rank of a bundle became smaller.
    mutating func reconsider(_ bundle: Int) { open.reconsider(bundle) }

    mutating func remove(_ top: RequestQueue.Top) { open.remove(top) }

    /// Removes all keys, because no request of the group is left.
    mutating func empty() {
        (open, waitingForBundle, waitingForScore, waiting) = (
            RequestQueue(), RequestQueue(), RequestQueue(), [:]
        )
        (dates, alarms, unjudged) = ([], [], [])
    }

    /// Removes all keys that are not current.
    mutating func compact(isCurrent: (RequestKey) -> Bool) {
        open.compact(isCurrent: isCurrent)
        waitingForBundle.compact(isCurrent: isCurrent)
        waitingForScore.compact(isCurrent: isCurrent)
        for fact in Array(waiting.keys) {
            waiting[fact]?.compact(isCurrent: isCurrent)
            if waiting[fact]?.count == 0 { waiting[fact] = nil }
        }
        dates = Heap(dates.unordered.filter(isCurrent))
        alarms = Heap(alarms.unordered.filter(isCurrent))
        unjudged = Heap(unjudged.unordered.filter(isCurrent))
    }
}
