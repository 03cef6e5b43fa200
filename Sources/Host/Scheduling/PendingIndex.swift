import HeapModule
import TaskModel

/// The pending requests, in queues by what each of them waits for.
///
/// An event therefore costs time only for the requests that it can let start, not for all pending ones.
///
/// ```
/// entries     every request once: R4, R5, ... R12, each with its bundle, its group and its stamp
///
/// lane: long
/// ┌─ group 0: processing that needs power ── hold: none ─┐ ┌─ group 1: appRefresh ── hold: held ──┐
/// │                                                      │ │                                      │
/// │  open              candidates for the next slot      │ │  the same places; while the group    │
/// │   ▲                  bundle 0:  R7  R9               │ │  is held, no request in them is      │
/// │   │                  bundle 3:  R8                   │ │  judged; a fact still moves requests │
/// │   │                                                  │ │  to `open`                           │
/// │   ├─ release(fact) ── waiting[fact]                  │ │                                      │
/// │   │                     .user     bundle 0:  R4      │ └──────────────────────────────────────┘
/// │   │                  waitingForScore                 │
/// │   │                               bundle 3:  R5      │ ┌─ group 2: ...
/// │   │                  waitingForBundle                │
/// │   │                               bundle 1:  R6 R10  │
/// │   │                                                  │
/// │   └─ release(until:)  dates       R5  R11   judged   │
/// │                       unjudged    R12   not judged   │
/// └──────────────────────────────────────────────────────┘
/// companions  R5      of all groups: from this date on, the request may start while another launch runs
/// ```
///
/// - A *lane* is a class of requests with its own slots, see ``Lane``. A *group* is all requests of a lane
///   with the same kind and the same needs (``MachineTraits``): the machine's conditions keep either all or
///   none of them from starting. If they do, the group is *held*, which takes no time per request.
/// - A *candidate* is judged when it is the next one for a slot. Then it starts, or it waits for a ``Fact``
///   or a date, whichever comes first. R5 waits for a better score, for a date, or for another launch.
/// - In each queue, a request has a *key*: its time and number, and the *stamp* that the request had when it
///   was added. When a request is added again, it gets a new stamp, so its earlier keys are not current any
///   more. They are skipped when they come first, and removed when there are too many.
/// - Each queue, except `dates`, `unjudged` and `companions`, is a ``RequestQueue``, which orders the keys of
///   each bundle separately. So all keys of one bundle can be skipped or moved at once.
/// - The policies have judged the requests in `dates`, so their alarms are correct. Those in `unjudged` have
///   an earliest begin date in the future, and no policy was asked yet; another reason may keep them waiting
///   longer. They are judged if their date comes before the next alarm.
/// - From its date on, the next event makes a request a candidate. If no event comes, an *alarm* wakes the
///   host for it, at the end of its ``LaunchWindow``. Each request in `dates` has an alarm, too.
///
/// The file is long because every function must keep the entries, their stamps and their keys consistent, so
/// all of them are private here.
struct PendingIndex: Sendable {
    /// A request in a class, so that copies of an entry share it.
    private final class Held: Sendable {
        let request: TaskRequest
        /// What the request needs of the machine, if its group does not say all of it.
        let needs: Needs?

        init(_ request: TaskRequest, _ needs: Needs?) {
            self.request = request
            self.needs = needs
        }
    }

    private struct Entry {
        var held: Held
        let bundle: Int
        var group: Int
        var isSimulated = false
        /// The stamp of the request's current keys; 0 before it is in a queue.
        var stamp = 0
        /// When the host wakes for the request; `nil` unless it waits for a date.
        var alarm: WallTime?
        /// For a request of a queue, since when it is the first of its queue; `nil` for other requests.
        var turn: WallTime?

        /// Returns the key of the request among the candidates of a lane.
        ///
        /// In a fair lane, the request with the earliest deadline comes first; in other lanes, the oldest
        /// request. Requests that were put back come last, in the order of their put-backs: in a fair lane
        /// after all first attempts of their bundle, in other lanes after those of all bundles.
        ///
        /// The first request of a queue counts as if it were submitted when it became the first. So a queue
        /// gets as many turns as a task that is submitted again after each launch, however many requests wait
        /// in it.
        func key(_ lane: Lane) -> RequestKey {
            let request = held.request
            if let turn {
                let time = lane.isFair ? turn + (request.deadline - request.submittedAt) : turn
                return RequestKey(time: time, id: request.id, stamp: stamp)
            }
            let time =
                request.attempt > 1
                ? WallTime.afterFirstAttempts + request.waitingSince.sinceEpoch
                : lane.isFair ? request.deadline : WallTime(sinceEpoch: .zero)
            return RequestKey(time: time, id: request.id, stamp: stamp)
        }
    }

    private struct BundleKind: Hashable {
        let bundle: Int
        let kind: TaskKind
    }

    private var entries: [RequestID: Entry] = [:]
    private var byIdentifier: [TaskIdentifier: RequestID] = [:]
    /// The requests of queues, by identifier: the first ones of each queue, because the others wait in the
    /// host's core.
    private var heads: [TaskIdentifier: Set<RequestID>] = [:]
    private var counts: [BundleKind: Int] = [:]
    /// The requests that schedules made.
    private var scheduled: Set<RequestID> = []
    /// The requests for launches of apps.
    private var appLaunches: Set<RequestID> = []
    private var numbers: [BundleIdentifier: Int] = [:]
    /// How much service each bundle had in each fair lane; see ``ServiceAccount``.
    private var ranks: [BundleIdentifier: LaneRanks] = [:]
    /// The same ranks, by the bundles' numbers.
    private var rankOfNumber: [LaneRanks] = []
    /// The requests of each bundle, by its number.
    private var members: [Set<RequestID>] = []
    private var groups: [PendingGroup] = []
    private var groupOfTraits: [MachineTraits: Int] = [:]
    /// The positions in ``groups`` that no requests use any more.
    private var unusedGroups: [Int] = []
    /// The number of groups from which on an empty one is given up, and from which on requests that differ
    /// only in their `when` share one.
    ///
    /// The values of payloads are part of `when`, so clients could make any number of groups; each event
    /// looks at all of them. Our choice: more than the tasks of most hosts need.
    var mostGroups = 256
    /// The dates from which the scores of requests suffice while another launch runs, the earliest date
    /// first.
    private var companions = Heap<RequestKey>()
    private var stamps = 0
    /// How many keys there are, including those that are not current any more.
    private var keys = 0

    // MARK: Reading

    subscript(id: RequestID) -> TaskRequest? { entries[id]?.held.request }

    var count: Int { entries.count }

    /// The number of groups that have requests, or had some.
    var groupCount: Int { groupOfTraits.count }

    /// All pending requests, in no order.
    var all: some Sequence<TaskRequest> { entries.values.lazy.map(\.held.request) }

    func request(of identifier: TaskIdentifier) -> TaskRequest? {
        byIdentifier[identifier].flatMap { self[$0] }
    }

    /// A request with its own needs or those of its group, and whether `bgtask launch` started it.
    func look(_ id: RequestID) -> (request: TaskRequest, needs: Needs, isSimulated: Bool)? {
        entries[id].map {
            ($0.held.request, $0.held.needs ?? groups[$0.group].traits.needs, $0.isSimulated)
        }
    }

    /// When the host wakes for a request that was judged, if no event comes before.
    ///
    /// The result is `nil` for candidates, for requests that were not judged, and if no date is known.
    func alarm(of id: RequestID) -> WallTime? { entries[id]?.alarm }

    func isSimulated(_ id: RequestID) -> Bool { entries[id]?.isSimulated == true }

    /// The requests that schedules made, in order.
    var scheduledRequests: [TaskRequest] { scheduled.sorted().compactMap { self[$0] } }

    /// The launches of apps, in order.
    var appLaunchRequests: [TaskRequest] { appLaunches.sorted().compactMap { self[$0] } }

    /// A bundle's requests, in order.
    func requests(of bundle: BundleIdentifier) -> [TaskRequest] {
        numbers[bundle].map { members[$0].sorted().compactMap { self[$0] } } ?? []
    }

    /// Requests whose identifiers a pattern matches, in order of their numbers; of a wildcard, at most so
    /// many.
    ///
    /// For a wildcard, this takes time for each pending request.
    func requests(matching pattern: IdentifierPattern, atMost limit: Int) -> [TaskRequest] {
        guard pattern.isWildcard else {
            let ids = [byIdentifier[pattern.base]].compactMap(\.self) + (heads[pattern.base] ?? [])
            return ids.sorted().prefix(limit).compactMap { self[$0] }
        }
        var found = Heap(byIdentifier.lazy.filter { pattern.matches($0.key) }.map(\.value))
        for (identifier, ids) in heads where pattern.matches(identifier) {
            for id in ids { found.insert(id) }
        }
        var first: [TaskRequest] = []
        while first.count < limit, let id = found.popMin() {
            if let request = self[id] { first.append(request) }
        }
        return first
    }

    /// How many requests of a kind the bundle has that no schedule made.
    func count(of kind: TaskKind, bundle: BundleIdentifier) -> Int {
        numbers[bundle].flatMap { counts[BundleKind(bundle: $0, kind: kind)] } ?? 0
    }

    // MARK: Adding and removing

    /// Adds a request; it replaces a request of the same identifier, unless it is of a queue.
    mutating func insert(_ request: TaskRequest, _ needs: Needs, at now: WallTime) {
        if request.isQueued {
            remove(request.id)
        } else if let old = byIdentifier[request.identifier] {
            remove(old)
        }
        let bundle = number(of: request.bundle)
        let (group, own) = join(MachineTraits(lane: request.lane, kind: request.kind, needs: needs), request)
        entries[request.id] = Entry(held: Held(request, own), bundle: bundle, group: group)
        if request.isQueued {
            entries[request.id]?.turn = now
            heads[request.identifier, default: []].insert(request.id)
        } else {
            byIdentifier[request.identifier] = request.id
        }
        members[bundle].insert(request.id)
        if request.kind == .appLaunch { appLaunches.insert(request.id) }
        if request.submission.origin == .schedule {
            scheduled.insert(request.id)
        } else if !request.isQueued {
            counts[BundleKind(bundle: bundle, kind: request.kind), default: 0] += 1
        }
        enqueue(request.id, at: now)
    }

    @discardableResult
    mutating func remove(_ id: RequestID) -> TaskRequest? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        let request = entry.held.request
        leave(entry.group)
        if request.isQueued {
            heads[request.identifier]?.remove(id)
            if heads[request.identifier]?.isEmpty == true { heads[request.identifier] = nil }
        } else {
            byIdentifier[request.identifier] = nil
        }
        members[entry.bundle].remove(id)
        appLaunches.remove(id)
        if scheduled.remove(id) == nil, !request.isQueued {
            counts.decrement(BundleKind(bundle: entry.bundle, kind: request.kind))
        }
        return request
    }

    mutating func markSimulated(_ id: RequestID) {
        guard let entry = entries[id] else { return }
        let old = groups[entry.group].traits
        entries[id]?.isSimulated = true
        let needs = entry.held.needs ?? old.needs
        move(id, to: MachineTraits(lane: .simulated, kind: old.kind, needs: needs))
        makeCandidate(id)
    }

    private mutating func number(of bundle: BundleIdentifier) -> Int {
        if let number = numbers[bundle] { return number }
        numbers[bundle] = members.count
        rankOfNumber.append(ranks[bundle] ?? LaneRanks())
        members.append([])
        return members.count - 1
    }

    /// Sets the ranks of a bundle: of the requests of a lane that may start, those of the least rank start
    /// first.
    mutating func setRanks(_ new: LaneRanks, of bundle: BundleIdentifier) {
        ranks[bundle] = new
        guard let number = numbers[bundle] else { return }
        let old = rankOfNumber[number]
        rankOfNumber[number] = new
        guard new.short < old.short || new.long < old.long else { return }
        for index in groups.indices { groups[index].reconsider(number) }
    }

    /// Adds a request to the group of its traits; place it again afterwards.
    ///
    /// - Parameters:
    ///   - traits: The traits.
    ///   - request: The request.
    /// - Returns: The group, and what the request needs if the group does not say all of it.
    private mutating func join(_ traits: MachineTraits, _ request: TaskRequest) -> (Int, own: Needs?) {
        if let group = groupOfTraits[traits] {
            groups[group].members += 1
            return (group, nil)
        }
        if traits.needs.constraints?.when != nil, groupOfTraits.count >= mostGroups {
            // Then the machine's conditions hold the group only for all else, and each request is judged
            // alone.
            var needs = traits.needs
            needs.constraints?.when = nil
            let shared = MachineTraits(lane: traits.lane, kind: traits.kind, needs: needs)
            return (join(shared, request).0, traits.needs)
        }
        var group = PendingGroup(traits, sample: request)
        group.members = 1
        let index = unusedGroups.popLast() ?? groups.count
        if index == groups.count { groups.append(group) } else { groups[index] = group }
        groupOfTraits[traits] = index
        return (index, nil)
    }

    /// Takes a request out of its group; all its keys there are void, or become so.
    private mutating func leave(_ group: Int) {
        groups[group].members -= 1
        guard groups[group].members == 0, groupOfTraits.count >= mostGroups else { return }
        groupOfTraits[groups[group].traits] = nil
        groups[group].empty()
        unusedGroups.append(group)
    }

    /// Moves a request to the group of its new traits; place it again afterwards.
    private mutating func move(_ id: RequestID, to traits: MachineTraits) {
        guard let entry = entries[id] else { return }
        let (group, own) = join(traits, entry.held.request)
        leave(entry.group)
        entries[id]?.group = group
        entries[id]?.held = Held(entry.held.request, own)
    }

    // MARK: Queues

    /// Makes a request a candidate for a slot.
    mutating func makeCandidate(_ id: RequestID) {
        guard let entry = restamped(id) else { return }
        open(entry)
    }

    /// Makes a request a candidate or, if its own date is in the future, lets it wait for that date.
    private mutating func enqueue(_ id: RequestID, at now: WallTime) {
        guard let entry = restamped(id) else { return }
        let traits = groups[entry.group].traits
        let date =
            entry.isSimulated
            ? nil : EarliestBeginDate.date(of: entry.held.request, traits.needs, at: now)
        guard let date else { return open(entry) }
        groups[entry.group].putOff(RequestKey(time: date, id: id, stamp: entry.stamp))
        countKeys(1)
    }

    /// Lets a request wait until one of the facts changes or the date comes, whichever is first.
    ///
    /// From the date `companion` on, it also becomes a candidate when another launch begins. The host does
    /// not wake for it before `alarm`, even if the date is earlier.
    mutating func wait(
        _ id: RequestID, for facts: [Fact], until date: WallTime?, alarm: WallTime,
        companion: WallTime? = nil
    ) {
        guard let entry = restamped(id) else { return }
        let key = entry.key(groups[entry.group].traits.lane)
        for fact in facts { groups[entry.group].wait(for: fact, key, bundle: entry.bundle) }
        if let date {
            entries[id]?.alarm = max(date, alarm)
            groups[entry.group].wait(
                until: RequestKey(time: date, id: id, stamp: entry.stamp),
                alarm: RequestKey(time: max(date, alarm), id: id, stamp: entry.stamp))
        }
        if let companion { companions.insert(RequestKey(time: companion, id: id, stamp: entry.stamp)) }
        countKeys(facts.count + (date == nil ? 0 : 2) + (companion == nil ? 0 : 1))
    }

    /// Lets a request wait until the state of its bundle changes.
    ///
    /// All candidates of the same group and bundle wait, too, because the policies would answer the same.
    mutating func waitForBundle(_ id: RequestID) {
        guard let entry = restamped(id) else { return }
        groups[entry.group].holdBundle(entry.bundle)
        let key = entry.key(groups[entry.group].traits.lane)
        groups[entry.group].wait(
            for: .bundle(entry.held.request.bundle), key, bundle: entry.bundle)
        countKeys(1)
    }

    /// Lets a request wait until a fact changes, and all candidates of the same group and bundle with it.
    ///
    /// Without this, each of thousands of requests that conflict with each other would be judged whenever one
    /// of their launches ends.
    mutating func waitTogether(_ id: RequestID, for fact: Fact) {
        wait(id, for: [fact], until: nil, alarm: WallTime(sinceEpoch: .zero))
        guard let entry = entries[id] else { return }
        groups[entry.group].hold(entry.bundle, for: fact)
    }

    /// Makes all requests that wait for a fact candidates.
    mutating func release(_ fact: Fact) {
        if case .bundle(let bundle) = fact {
            guard let number = numbers[bundle] else { return }
            for index in groups.indices { groups[index].releaseBundle(number) }
        } else {
            for index in groups.indices { groups[index].release(fact) }
        }
    }

    /// Adds all requests of these bundles to the queues again, with new needs; takes time for each request.
    mutating func release(
        of bundles: Set<BundleIdentifier>, at now: WallTime, needs: (TaskRequest) -> Needs
    ) {
        for bundle in bundles {
            guard let number = numbers[bundle] else { continue }
            for id in members[number] { regroup(id, at: now, needs) }
        }
    }

    /// Adds all requests to the queues again, with new needs; takes time for each request.
    mutating func releaseAll(at now: WallTime, needs: (TaskRequest) -> Needs) {
        for id in Array(entries.keys) { regroup(id, at: now, needs) }
    }

    private mutating func regroup(_ id: RequestID, at now: WallTime, _ needs: (TaskRequest) -> Needs) {
        guard let entry = entries[id] else { return }
        let request = entry.held.request
        let traits = MachineTraits(
            lane: entry.isSimulated ? .simulated : request.lane, kind: request.kind, needs: needs(request))
        move(id, to: traits)
        enqueue(id, at: now)
    }

    /// Makes the requests whose date has come candidates, except those of held groups.
    mutating func release(until now: WallTime) {
        for index in groups.indices where groups[index].hold != .held {
            while let key = groups[index].popDue(now) { reopen(key) }
        }
    }

    /// Makes the requests candidates for which it is enough now that another launch runs.
    mutating func releaseCompanions(until now: WallTime) {
        while let first = companions.min, first.time <= now {
            companions.removeMin()
            reopen(first)
        }
    }

    /// Adds all requests that wait for a date to the queues again, because the wall clock was set.
    mutating func releaseAllDates(at now: WallTime) {
        for index in groups.indices {
            for key in groups[index].takeDates() where isCurrent(key) { enqueue(key.id, at: now) }
        }
    }

    /// Adds all deferrable requests that were judged and wait for a date to the queues again, because their
    /// alarms may have changed.
    mutating func releaseAlarms(at now: WallTime) {
        for index in groups.indices where groups[index].traits.kind.isDiscretionary {
            for key in groups[index].takeJudgedDates() where isCurrent(key) { enqueue(key.id, at: now) }
        }
    }

    /// When the host wakes next for a request of the lane that was judged.
    ///
    /// Held groups need no alarm, because only a change of conditions can let their requests start.
    mutating func firstAlarm(in lane: Lane) -> WallTime? {
        let entries = entries
        var first: WallTime?
        for index in groups.indices where groups[index].traits.lane == lane && groups[index].hold != .held {
            // The date of a candidate has come, so its alarm is not needed any more.
            let date = groups[index].firstAlarm { key in
                entries[key.id].map { $0.stamp == key.stamp && $0.alarm != nil } ?? false
            }
            if let date, first.map({ date < $0 }) ?? true { first = date }
        }
        return first
    }

    /// Removes and returns the request of the lane that was not judged yet and whose own date comes before
    /// the lane's next alarm; `nil` if there is none.
    ///
    /// The caller must add the request to a queue again before the next call.
    mutating func popUnjudged(_ lane: Lane) -> RequestID? {
        let entries = entries
        var first: (key: RequestKey, group: Int)?
        for index in groups.indices where groups[index].traits.lane == lane && groups[index].hold != .held {
            let key = groups[index].firstUnjudged { entries[$0.id]?.stamp == $0.stamp }
            if let key, first.map({ key < $0.key }) ?? true { first = (key, index) }
        }
        guard let first else { return nil }
        if let date = firstAlarm(in: lane), date <= first.key.time { return nil }
        groups[first.group].removeFirstUnjudged()
        return first.key.id
    }

    /// Removes and returns the lane's next candidate, except those of some bundles; `nil` if there is none.
    ///
    /// In a fair lane, it is a candidate of the bundle that had the least service. The caller must add the
    /// request to a queue again, or start it, before the next call.
    mutating func popCandidate(_ lane: Lane, avoiding avoided: [BundleIdentifier] = []) -> RequestID? {
        let (entries, ranks, avoided) = (entries, rankOfNumber, avoided.compactMap { numbers[$0] })
        var first: (top: RequestQueue.Top, group: Int)?
        for index in groups.indices where groups[index].traits.lane == lane && groups[index].hold != .held {
            let top = groups[index].first(
                avoiding: avoided, isCurrent: { entries[$0.id]?.stamp == $0.stamp },
                rank: { ranks[$0][lane] })
            if let top, first.map({ top < $0.top }) ?? true { first = (top, index) }
        }
        guard let first else { return nil }
        groups[first.group].remove(first.top)
        return first.top.key.id
    }

    // MARK: Holding groups

    /// Discards what is known about all groups, because conditions or settings have changed.
    mutating func forgetHolds() {
        for index in groups.indices { groups[index].hold = .unknown }
    }

    /// Determines which groups are held, for those about which nothing is known.
    mutating func refreshHolds(_ isHeld: (PendingGroup) -> Bool) {
        for index in groups.indices where groups[index].hold == .unknown && groups[index].members > 0 {
            groups[index].hold = isHeld(groups[index]) ? .held : .none
        }
    }

    // MARK: Keys

    private func isCurrent(_ key: RequestKey) -> Bool { entries[key.id]?.stamp == key.stamp }

    private mutating func restamped(_ id: RequestID) -> Entry? {
        guard var entry = entries[id] else { return nil }
        stamps += 1
        entry.stamp = stamps
        entry.alarm = nil
        entries[id] = entry
        return entry
    }

    private mutating func reopen(_ key: RequestKey) {
        guard let entry = entries[key.id], entry.stamp == key.stamp else { return }
        entries[key.id]?.alarm = nil
        open(entry)
    }

    private mutating func open(_ entry: Entry) {
        groups[entry.group].open(entry.key(groups[entry.group].traits.lane), bundle: entry.bundle)
        countKeys(1)
    }

    /// Counts new keys, and removes those that are not current when there are more than eight for each
    /// request.
    private mutating func countKeys(_ new: Int) {
        keys += new
        guard keys > 8 * entries.count + 4096 else { return }
        let entries = entries
        func isLive(_ key: RequestKey) -> Bool { entries[key.id]?.stamp == key.stamp }
        for index in groups.indices { groups[index].compact(isCurrent: isLive) }
        companions = Heap(companions.unordered.filter(isLive))
        keys = groups.reduce(companions.count) { $0 + $1.keyCount }
    }
}

extension WallTime {
    /// The origin of the times in the keys of requests that were put back: later than every date that a
    /// request can have.
    fileprivate static let afterFirstAttempts = WallTime(sinceEpoch: .seconds(Int64.max / 4))
}
