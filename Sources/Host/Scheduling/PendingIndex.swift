import HeapModule
import TaskModel

/// The pending requests, each in the one place where the next event that matters to it finds it.
///
/// A request is a *candidate* (nothing but a slot is known to keep it), or waits for a fact, or for a date. Heaps are
/// cleaned lazily: an entry whose stamp is not the request's newest is skipped.
struct PendingIndex: Sendable {
    private enum Place: Equatable {
        case candidate(Lane)
        case waiting(Fact)
        case dated
    }

    private struct Entry {
        var request: TaskRequest
        var isSimulated = false
        var place: Place?
        var stamp = 0
    }

    private struct Key: Comparable {
        let time: WallTime
        let id: RequestID
        let stamp: Int

        static func < (left: Self, right: Self) -> Bool { (left.time, left.id) < (right.time, right.id) }
    }

    private struct BundleKind: Hashable {
        let bundle: BundleIdentifier
        let kind: TaskKind
    }

    private var entries: [RequestID: Entry] = [:]
    private var byIdentifier: [TaskIdentifier: RequestID] = [:]
    private var counts: [BundleKind: Int] = [:]
    private var waiting: [Fact: Set<RequestID>] = [:]
    private var dates = Heap<Key>()
    private var datedCount = 0
    private var lanes: [Lane: Heap<Key>] = [:]
    private var stamps = 0

    // MARK: Looking

    subscript(id: RequestID) -> TaskRequest? { entries[id]?.request }

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

    /// Takes in a request and tells which one it replaces; it stands nowhere until it is placed.
    mutating func insert(_ request: TaskRequest, _ occupancy: inout Occupancy) {
        if let old = byIdentifier[request.identifier] { remove(old, &occupancy) }
        entries[request.id] = Entry(request: request)
        byIdentifier[request.identifier] = request.id
        if request.submission.origin != .schedule {
            counts[BundleKind(bundle: request.bundle, kind: request.kind), default: 0] += 1
        }
    }

    @discardableResult
    mutating func remove(_ id: RequestID, _ occupancy: inout Occupancy) -> TaskRequest? {
        guard let request = entries[id]?.request else { return nil }
        leavePlace(id, &occupancy)
        entries[id] = nil
        byIdentifier[request.identifier] = nil
        if request.submission.origin != .schedule {
            counts.decrement(BundleKind(bundle: request.bundle, kind: request.kind))
        }
        return request
    }

    mutating func markSimulated(_ id: RequestID) { entries[id]?.isSimulated = true }

    // MARK: Places

    /// Queues a request for a slot.
    mutating func makeCandidate(_ id: RequestID, _ occupancy: inout Occupancy) {
        leavePlace(id, &occupancy)
        guard var entry = entries[id] else { return }
        let lane: Lane =
            entry.isSimulated ? .simulated : entry.request.kind.isDiscretionary ? .discretionary : .continued
        if lane == .discretionary { occupancy.beginWaiting(entry.request.bundle) }
        stamps += 1
        entry.place = .candidate(lane)
        entry.stamp = stamps
        entries[id] = entry
        // A user's requests start first in, first out; those that may be put off by what is due first.
        let time = lane == .discretionary ? entry.request.deadline : WallTime(sinceEpoch: .zero)
        lanes[lane, default: []].insert(Key(time: time, id: id, stamp: stamps))
    }

    /// Sets a request aside until the fact changes.
    mutating func wait(_ id: RequestID, for fact: Fact, _ occupancy: inout Occupancy) {
        leavePlace(id, &occupancy)
        guard entries[id] != nil else { return }
        entries[id]?.place = .waiting(fact)
        waiting[fact, default: []].insert(id)
    }

    /// Sets a request aside until a date.
    mutating func wait(_ id: RequestID, until date: WallTime, _ occupancy: inout Occupancy) {
        leavePlace(id, &occupancy)
        guard entries[id] != nil else { return }
        stamps += 1
        entries[id]?.place = .dated
        entries[id]?.stamp = stamps
        dates.insert(Key(time: date, id: id, stamp: stamps))
        datedCount += 1
        // Requests replaced long before their dates would pile up; twice the living is the most we keep.
        if dates.count > 2 * datedCount + 64 {
            dates = Heap(dates.unordered.filter { key in isCurrent(key, .dated) })
        }
    }

    /// Everything that waited for the fact is looked at again.
    mutating func release(_ fact: Fact, _ occupancy: inout Occupancy) {
        guard let ids = waiting.removeValue(forKey: fact) else { return }
        for id in ids { makeCandidate(id, &occupancy) }
    }

    /// Everything whose date has come is looked at again.
    mutating func release(until now: WallTime, _ occupancy: inout Occupancy) {
        while let first = firstDate(), first <= now {
            let key = dates.removeMin()
            makeCandidate(key.id, &occupancy)
        }
    }

    /// Everything dated is looked at again, after the wall clock was set.
    mutating func releaseAllDates(_ occupancy: inout Occupancy) {
        let all = dates.unordered.filter { key in isCurrent(key, .dated) }
        dates = []
        for key in all { makeCandidate(key.id, &occupancy) }
    }

    /// The next date that a request waits for.
    mutating func firstDate() -> WallTime? {
        while let key = dates.min {
            if isCurrent(key, .dated) { return key.time }
            dates.removeMin()
        }
        return nil
    }

    /// The lane's next candidate; it stays one until it is placed elsewhere, but is not given again.
    mutating func popCandidate(_ lane: Lane) -> RequestID? {
        while let key = lanes[lane]?.popMin() {
            if isCurrent(key, .candidate(lane)) { return key.id }
        }
        return nil
    }

    private func isCurrent(_ key: Key, _ place: Place) -> Bool {
        guard let entry = entries[key.id] else { return false }
        return entry.stamp == key.stamp && entry.place == place
    }

    private mutating func leavePlace(_ id: RequestID, _ occupancy: inout Occupancy) {
        guard let entry = entries[id], let place = entry.place else { return }
        switch place {
        case .candidate(.discretionary): occupancy.endWaiting(entry.request.bundle)
        case .candidate: break
        case .waiting(let fact):
            waiting[fact]?.remove(id)
            if waiting[fact]?.isEmpty == true { waiting[fact] = nil }
        case .dated: datedCount -= 1
        }
        entries[id]?.place = nil
    }
}
