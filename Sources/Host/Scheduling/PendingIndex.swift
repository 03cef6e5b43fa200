import HeapModule
import TaskModel

/// The pending requests, each where the next event that matters to it finds it.
///
/// ```
/// entries     every request once: R4, R5, ... R12, each with its bundle, its group and its stamp
///
/// lane: long                                               (Lane; slots are given out lane by lane)
/// ┌─ group 0: processing that needs power ── hold: none ─┐ ┌─ group 1: appRefresh ── hold: held ──┐
/// │                                                      │ │                                      │
/// │  open              candidates for the next slot      │ │  the same places; while the group    │
/// │   ▲                  bundle 0:  R7  R9               │ │  is held, none of them is looked at, │
/// │   │                  bundle 3:  R8                   │ │  except to release what waits for a  │
/// │   │                                                  │ │  fact                                │
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
/// companions  R5      of all groups: from this date on, a busy machine is enough
/// ```
///
/// - A *lane* has slots of its own. A *group* is all requests of a lane with the same kind and the same
///   needs (``MachineTraits``): the machine's conditions keep all of them from starting, or none. So an event
///   *holds* or opens whole groups and bundles, and costs nothing per request.
/// - A *candidate* is looked at when its turn for a slot comes. Then it starts, or it waits for a ``Fact``,
///   for a date, or for whichever comes first: R5 waits for a better score, for a date, and for company.
/// - In each of its places, a request has a *key*: its time and number in that order, and the *stamp* that it
///   had when it was placed. Placing a request gives it a new stamp, so its earlier keys are void wherever
///   they are. They are skipped when they come up, and swept when there are too many.
/// - Each place but `dates`, `unjudged` and `companions` is a ``RequestQueue``, which orders the keys of
///   every bundle apart: those of one bundle can be passed over or moved without a look at each.
/// - `dates` has requests that the policies have judged, so their alarms are true. `unjudged` has
///   requests whose earliest begin date lies ahead: nothing else was asked, and another reason may keep them
///   longer. They are judged when their date comes before the next alarm.
/// - A date releases a request; an *alarm* wakes the host for it, at the end of its ``LaunchWindow``. Each
///   request in `dates` has an alarm too. So an event that comes between the two saves the alarm.
///
/// The file is long because every function must keep the entries, their stamps and their keys consistent, so
/// all of them are private here.
struct PendingIndex: Sendable {
    /// A request, in one piece that is not copied.
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
        /// 0 while it has no place.
        var stamp = 0
        /// When the host wakes for the request; `nil` unless it waits for a date.
        var alarm: WallTime?

        /// A user's requests start first in, first out; those of a fair lane by what is due first.
        ///
        /// Requests that were put back come last, in the order of their put-backs: after all first attempts
        /// of their bundle in a fair lane, and of all bundles in another lane.
        func key(_ lane: Lane) -> RequestKey {
            let request = held.request
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
    /// Keys made since the last sweep.
    private var keys = 0

    // MARK: Looking

    subscript(id: RequestID) -> TaskRequest? { entries[id]?.held.request }

    var count: Int { entries.count }

    /// The number of groups that have requests, or had some.
    var groupCount: Int { groupOfTraits.count }

    /// All pending requests, in no order.
    var all: some Sequence<TaskRequest> { entries.values.lazy.map(\.held.request) }

    func request(of identifier: TaskIdentifier) -> TaskRequest? {
        byIdentifier[identifier].flatMap { self[$0] }
    }

    /// A request with what its group needs of the machine.
    func look(_ id: RequestID) -> (request: TaskRequest, needs: Needs, isSimulated: Bool)? {
        entries[id].map {
            ($0.held.request, $0.held.needs ?? groups[$0.group].traits.needs, $0.isSimulated)
        }
    }

    /// When the host wakes for a request that was judged, or looks at one that was not, if no event comes
    /// before; `nil` if no date is known, and for candidates.
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

    /// How many requests of a kind the bundle has that no schedule made.
    func count(of kind: TaskKind, bundle: BundleIdentifier) -> Int {
        numbers[bundle].flatMap { counts[BundleKind(bundle: $0, kind: kind)] } ?? 0
    }

    // MARK: Coming and going

    /// Takes in a request; one of the same identifier is replaced.
    mutating func insert(_ request: TaskRequest, _ needs: Needs, at now: WallTime) {
        if let old = byIdentifier[request.identifier] { remove(old) }
        let bundle = number(of: request.bundle)
        let (group, own) = join(MachineTraits(lane: request.lane, kind: request.kind, needs: needs), request)
        entries[request.id] = Entry(held: Held(request, own), bundle: bundle, group: group)
        byIdentifier[request.identifier] = request.id
        members[bundle].insert(request.id)
        if request.kind == .appLaunch { appLaunches.insert(request.id) }
        if request.submission.origin == .schedule {
            scheduled.insert(request.id)
        } else {
            counts[BundleKind(bundle: bundle, kind: request.kind), default: 0] += 1
        }
        enqueue(request.id, at: now)
    }

    @discardableResult
    mutating func remove(_ id: RequestID) -> TaskRequest? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        let request = entry.held.request
        leave(entry.group)
        byIdentifier[request.identifier] = nil
        members[entry.bundle].remove(id)
        appLaunches.remove(id)
        if scheduled.remove(id) == nil {
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

    // MARK: Places

    /// Queues a request for a slot.
    mutating func makeCandidate(_ id: RequestID) {
        guard let entry = restamped(id) else { return }
        open(entry)
    }

    /// Queues a request for a slot, from its own date on.
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

    /// Sets a request aside until one of the facts changes or the date comes; from `companion` on also until
    /// the machine is busy.
    ///
    /// The host does not wake before `alarm`, even if the date is earlier.
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

    /// Sets a request aside until what is remembered of its bundle changes, and with it all of the group and
    /// bundle that were about to have their turn: the answer would be the same.
    mutating func waitForBundle(_ id: RequestID) {
        guard let entry = restamped(id) else { return }
        groups[entry.group].holdBundle(entry.bundle)
        let key = entry.key(groups[entry.group].traits.lane)
        groups[entry.group].wait(
            for: .bundle(entry.held.request.bundle), key, bundle: entry.bundle)
        countKeys(1)
    }

    /// Everything that waited for the fact may have its turn.
    mutating func release(_ fact: Fact) {
        if case .bundle(let bundle) = fact {
            guard let number = numbers[bundle] else { return }
            for index in groups.indices { groups[index].releaseBundle(number) }
        } else {
            for index in groups.indices { groups[index].release(fact) }
        }
    }

    /// Everything of these bundles may have its turn, with new needs; costs a look at each request.
    mutating func release(
        of bundles: Set<BundleIdentifier>, at now: WallTime, needs: (TaskRequest) -> Needs
    ) {
        for bundle in bundles {
            guard let number = numbers[bundle] else { continue }
            for id in members[number] { regroup(id, at: now, needs) }
        }
    }

    /// Everything may have its turn, with new needs.
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

    /// Everything whose date has come may have its turn, but for groups that are held.
    mutating func release(until now: WallTime) {
        for index in groups.indices where groups[index].hold != .held {
            while let key = groups[index].popDue(now) { reopen(key) }
        }
    }

    /// The machine is busy: everything for which that is enough may have its turn.
    mutating func releaseCompanions(until now: WallTime) {
        while let first = companions.min, first.time <= now {
            companions.removeMin()
            reopen(first)
        }
    }

    /// Everything dated may have its turn, after the wall clock was set.
    mutating func releaseAllDates(at now: WallTime) {
        for index in groups.indices {
            for key in groups[index].takeDates() where isCurrent(key) { enqueue(key.id, at: now) }
        }
    }

    /// Every deferrable request that was judged and waits for a date may have its turn, because its alarm may
    /// be another.
    mutating func releaseAlarms(at now: WallTime) {
        for index in groups.indices where groups[index].traits.kind.isDiscretionary {
            for key in groups[index].takeJudgedDates() where isCurrent(key) { enqueue(key.id, at: now) }
        }
    }

    /// When the host wakes next for a request of the lane that was judged; held groups need no alarm.
    mutating func firstAlarm(in lane: Lane) -> WallTime? {
        let entries = entries
        var first: WallTime?
        for index in groups.indices where groups[index].traits.lane == lane && groups[index].hold != .held {
            let date = groups[index].firstAlarm { entries[$0.id]?.stamp == $0.stamp }
            if let date, first.map({ date < $0 }) ?? true { first = date }
        }
        return first
    }

    /// The request of the lane whose own date would be the next alarm, if it was not judged yet; place it
    /// before asking for another.
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

    /// The lane's next candidate, of a bundle that is not to be avoided; place it before asking for another.
    ///
    /// In a fair lane, it is one of the bundle that had least service.
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

    /// What the machine says of each group is to be asked again.
    mutating func forgetHolds() {
        for index in groups.indices { groups[index].hold = .unknown }
    }

    /// Asks about the groups of which nothing is known.
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

    /// Requests that move often leave keys behind; a few for each living one are the most that is kept.
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

/// The ranks of a bundle in the two fair lanes, which count their service apart: short work of seconds must
/// not lose its turn to what long work used, and the reverse.
struct LaneRanks: Equatable, Sendable {
    var short = -Double.infinity
    var long = -Double.infinity

    /// The rank in a lane; the same for all bundles in a lane that is not fair.
    subscript(lane: Lane) -> Double {
        switch lane {
        case .short: short
        case .long: long
        case .simulated, .continued, .urgent, .app: -.infinity
        }
    }
}
