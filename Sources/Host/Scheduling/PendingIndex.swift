import HeapModule
import TaskModel

/// The pending requests, each where the next event that matters to it finds it.
///
/// A request is a *candidate* in its lane's open queue, or waits for a fact, for a date, or for whichever comes first. Changing a
/// fact opens its whole queue at once, so that an event costs nothing per request; each is looked at when its turn
/// for a slot comes. Keys are left behind where a request moved on, and are skipped or swept later.
struct PendingIndex: Sendable {
    private struct Entry {
        var request: TaskRequest
        var isSimulated = false
        /// 0 while it stands nowhere.
        var stamp = 0

        var lane: Lane { isSimulated ? .simulated : request.lane }
    }

    private struct Wait: Hashable {
        let fact: Fact
        let lane: Lane
    }

    private struct BundleKind: Hashable {
        let bundle: BundleIdentifier
        let kind: TaskKind
    }

    private var entries: [RequestID: Entry] = [:]
    private var byIdentifier: [TaskIdentifier: RequestID] = [:]
    private var counts: [BundleKind: Int] = [:]
    private var waiting: [Wait: RequestQueue] = [:]
    private var open: [Lane: RequestQueue] = [:]
    private var dates: [Lane: Heap<RequestKey>] = [:]
    /// Requests whose score suffices from this date on if the machine is busy.
    private var companions = Heap<RequestKey>()
    private var stamps = 0
    /// Keys made since the last sweep.
    private var keys = 0

    // MARK: Looking

    subscript(id: RequestID) -> TaskRequest? { entries[id]?.request }

    var count: Int { entries.count }

    var requests: some Sequence<TaskRequest> { entries.values.lazy.map(\.request) }

    func request(of identifier: TaskIdentifier) -> TaskRequest? {
        byIdentifier[identifier].flatMap { entries[$0]?.request }
    }

    func isSimulated(_ id: RequestID) -> Bool { entries[id]?.isSimulated == true }

    /// How many requests of a kind the bundle has that no schedule made.
    func count(of kind: TaskKind, bundle: BundleIdentifier) -> Int {
        counts[BundleKind(bundle: bundle, kind: kind)] ?? 0
    }

    // MARK: Coming and going

    /// Takes in a request as a candidate; one of the same identifier is replaced.
    mutating func insert(_ request: TaskRequest) {
        if let old = byIdentifier[request.identifier] { remove(old) }
        entries[request.id] = Entry(request: request)
        byIdentifier[request.identifier] = request.id
        if request.submission.origin != .schedule {
            counts[BundleKind(bundle: request.bundle, kind: request.kind), default: 0] += 1
        }
        makeCandidate(request.id)
    }

    @discardableResult
    mutating func remove(_ id: RequestID) -> TaskRequest? {
        guard let request = entries.removeValue(forKey: id)?.request else { return nil }
        byIdentifier[request.identifier] = nil
        if request.submission.origin != .schedule {
            counts.decrement(BundleKind(bundle: request.bundle, kind: request.kind))
        }
        return request
    }

    mutating func markSimulated(_ id: RequestID) {
        entries[id]?.isSimulated = true
        makeCandidate(id)
    }

    // MARK: Places

    /// Queues a request for a slot.
    mutating func makeCandidate(_ id: RequestID) {
        guard let stamp = newStamp(id), let entry = entries[id] else { return }
        openKey(entry, stamp)
    }

    /// Sets a request aside until one of the facts changes or the date comes; from `companion` on also until the machine is busy.
    mutating func wait(_ id: RequestID, for facts: [Fact], until date: WallTime?, companion: WallTime? = nil)
    {
        guard let stamp = newStamp(id), let entry = entries[id] else { return }
        for fact in facts {
            waiting[Wait(fact: fact, lane: entry.lane), default: RequestQueue()]
                .insert(key(entry, stamp), of: entry.request.bundle)
        }
        if let date {
            dates[entry.lane, default: []].insert(RequestKey(time: date, id: id, stamp: stamp))
        }
        if let companion { companions.insert(RequestKey(time: companion, id: id, stamp: stamp)) }
        keys += facts.count + 2
        sweepIfNeeded()
    }

    /// Everything that waited for the fact may have its turn.
    mutating func release(_ fact: Fact) {
        for lane in Lane.allCases {
            guard let queue = waiting.removeValue(forKey: Wait(fact: fact, lane: lane)) else { continue }
            open[lane, default: RequestQueue()].absorb(queue)
        }
    }

    /// Everything of these bundles may have its turn; costs a look at each request.
    mutating func release(of bundles: Set<BundleIdentifier>) {
        for id in entries.filter({ bundles.contains($0.value.request.bundle) }).keys { makeCandidate(id) }
    }

    /// Everything may have its turn.
    mutating func releaseAll() { for id in Array(entries.keys) { makeCandidate(id) } }

    /// Everything whose date has come may have its turn.
    mutating func release(until now: WallTime) {
        for lane in Lane.allCases {
            while let first = dates[lane]?.min, first.time <= now {
                dates[lane]?.removeMin()
                if isStanding(first), let entry = entries[first.id] { openKey(entry, first.stamp) }
            }
        }
    }

    /// The machine is busy: everything for which that is enough may have its turn.
    mutating func releaseCompanions(until now: WallTime) {
        while let first = companions.min, first.time <= now {
            companions.removeMin()
            if isStanding(first), let entry = entries[first.id] { openKey(entry, first.stamp) }
        }
    }

    /// Everything dated may have its turn, after the wall clock was set.
    mutating func releaseAllDates() {
        for lane in Lane.allCases {
            for key in dates.removeValue(forKey: lane)?.unordered ?? [] {
                if isStanding(key), let entry = entries[key.id] { openKey(entry, key.stamp) }
            }
        }
    }

    /// The next date that a request of the lane waits for.
    mutating func firstDate(in lane: Lane) -> WallTime? {
        while let key = dates[lane]?.min {
            if isStanding(key) { return key.time }
            dates[lane]?.removeMin()
        }
        return nil
    }

    /// The lane's next candidate, of a bundle that is not to be avoided; place it before asking for another.
    mutating func popCandidate(
        _ lane: Lane, avoiding isAvoided: (BundleIdentifier) -> Bool = { _ in false }
    ) -> RequestID? {
        guard open[lane] != nil else { return nil }
        let entries = entries
        let key = open[lane]?.pop(standing: { entries[$0.id]?.stamp == $0.stamp }, avoiding: isAvoided)
        return key?.id
    }

    private func isStanding(_ key: RequestKey) -> Bool { entries[key.id]?.stamp == key.stamp }

    private mutating func newStamp(_ id: RequestID) -> Int? {
        guard entries[id] != nil else { return nil }
        stamps += 1
        entries[id]?.stamp = stamps
        return stamps
    }

    private mutating func openKey(_ entry: Entry, _ stamp: Int) {
        open[entry.lane, default: RequestQueue()].insert(key(entry, stamp), of: entry.request.bundle)
        keys += 1
        sweepIfNeeded()
    }

    /// A user's requests start first in, first out; those that may be put off by what is due first.
    private func key(_ entry: Entry, _ stamp: Int) -> RequestKey {
        let time = entry.lane == .discretionary ? entry.request.deadline : WallTime(sinceEpoch: .zero)
        return RequestKey(time: time, id: entry.request.id, stamp: stamp)
    }

    /// Requests that move often leave keys behind; a few for each living one are the most that is kept.
    private mutating func sweepIfNeeded() {
        guard keys > 8 * entries.count + 4096 else { return }
        let entries = entries
        func stands(_ key: RequestKey) -> Bool { entries[key.id]?.stamp == key.stamp }
        for wait in Array(waiting.keys) {
            waiting[wait]?.compact(standing: stands)
            if waiting[wait]?.count == 0 { waiting[wait] = nil }
        }
        for lane in Lane.allCases {
            open[lane]?.compact(standing: stands)
            if let heap = dates[lane] { dates[lane] = Heap(heap.unordered.filter(stands)) }
        }
        companions = Heap(companions.unordered.filter(stands))
        keys =
            waiting.values.reduce(0) { $0 + $1.count } + open.values.reduce(0) { $0 + $1.count }
            + dates.values.reduce(0) { $0 + $1.count } + companions.count
    }
}
