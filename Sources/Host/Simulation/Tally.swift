public import Scheduling
public import TaskModel

/// The result of a run: its launches, its waits and the reasons for the waits.
///
/// It is computed from the events that a host records, in a replay as well as for a virtual host.
public struct Tally: Equatable, Sendable {
    /// How closely waits are examined.
    public enum Detail: Sendable {
        /// After each moment with events, the reason why each pending request waits is determined; this costs
        /// microseconds per request.
        case waits
        /// Only launches and sums are recorded, for simulations of many devices.
        case launches
    }

    /// One launch.
    public struct Launch: Equatable, Sendable {
        /// The identifier of the task.
        public var identifier: TaskIdentifier
        /// The number of the request.
        public var request: RequestID
        /// The number of the launch.
        public var id: LaunchID
        /// The number of the attempt, from 1.
        public var attempt: Int
        /// When the launch was recorded as started.
        public var start: WallTime
        /// How long the request had waited since the latest of its submission, its earliest begin date, the
        /// end of its back-off, and the time when it became pending again.
        public var waited: Duration
        /// The window of the request; `nil` for further attempts, for simulated requests, and for those that
        /// are not deferrable.
        public var window: LaunchWindow?
        /// When the last process of the launch ended; `nil` while it runs.
        public var end: WallTime?
        /// The outcome of the launch; `nil` while it runs.
        public var outcome: Outcome?
        /// Why the launch was asked to stop; `nil` if it was not.
        public var expiration: Reason?
        /// The CPU time of all processes of the launch.
        public var cpu = Duration.zero
        /// The bundle, if the launch is a refresh; `nil` for other kinds.
        public var refreshes: BundleIdentifier?
        /// The latest of the dates from which ``waited`` counts.
        var earliest = WallTime(sinceEpoch: .zero)
        /// Whether the scheduler chose the moment of the launch: its request was deferrable, and no user
        /// started it.
        var isDeferrable = false

        /// The time in which a wake-up could begin the launch; `nil` if it needed none of its own, because
        /// its request was not deferrable.
        ///
        /// A launch that began after its window was held by something, and the host gives such a request as
        /// much time again from when it is not held any more. A further attempt has no window of its own: it
        /// begins as soon as it may.
        var span: ClosedRange<WallTime>? {
            if attempt > 1 || window == nil { return isDeferrable ? earliest...max(earliest, start) : nil }
            return window.map {
                let time = $0.wake - $0.ripe
                if start <= $0.due { return min($0.ripe, start)...$0.due }
                return max($0.ripe, start + (.zero - time))...start
            }
        }
        /// Whether the launch began after the window of its request.
        public var isLate: Bool { window.map { start > $0.due } ?? false }
    }

    /// How long requests waited, by the policy that kept them waiting.
    public typealias Waits = [String: Duration]

    /// The launches, in the order of their start.
    public private(set) var launches: [Launch] = []
    /// How long the requests of each identifier waited, by the policy that kept them waiting.
    public private(set) var waits: [TaskIdentifier: Waits] = [:]
    /// The number of `timePassed` events that the scheduler got: from its alarms, and after sleeps.
    public private(set) var alarms = 0
    /// The number of these events while no launch was under way, so that the machine was awake for them
    /// alone.
    public private(set) var wakeUps = 0
    /// The number of ``wakeUps`` that came for a better moment: before the host would have had to wake for
    /// any request that began then.
    public private(set) var chosenWakeUps = 0
    /// The number of events that the scheduler got.
    public private(set) var events = 0
    /// The number of refused submissions, by identifier.
    public private(set) var refusals: [TaskIdentifier: Int] = [:]
    /// When each bundle was used.
    public private(set) var uses: [BundleIdentifier: [WallTime]] = [:]
    /// The history of the conditions, for plots; empty unless waits are examined.
    public private(set) var conditions: [ConditionHistory.Entry] = []
    private let detail: Detail
    /// When requests became pending again after a launch; the wait for their next attempt counts from then.
    private var waitsSince: [RequestID: WallTime] = [:]
    private var open: [LaunchID: Int] = [:]
    /// Whether an event was added since ``noteWaits(at:_:)`` last examined the waits.
    private var hasNews = false
    /// Why each pending request waits at present, and since when.
    private var waiting: [RequestID: (identifier: TaskIdentifier, factor: String, since: WallTime)] = [:]
    private var requests: [RequestID: TaskRequest] = [:]
    /// The newest wake-up of an idle host, and whether all launches that began then were early.
    private var wakeUp: (at: WallTime, isChosen: Bool?)?
    private var settings = SchedulerSettings()
    /// All events but wake-ups of an idle host, records of starts, and requests that the host or a handler
    /// made.
    private var otherEvents: [FreeEvent] = []

    /// An event that can start requests, and for which the host need not wake.
    private struct FreeEvent: Equatable {
        let time: WallTime
        /// The launch without which the event would not have been, as its index; -1 if it comes from outside.
        ///
        /// Of several events at one time, the least index counts.
        var source: Int
    }

    init(detail: Detail) { self.detail = detail }

    /// The newest launch of each identifier.
    var newestStarts: [TaskIdentifier: WallTime] {
        launches.reduce(into: [:]) { $0[$1.identifier] = max($0[$1.identifier] ?? $1.start, $1.start) }
    }

    mutating func noteRefusal(of identifier: TaskIdentifier) { refusals[identifier, default: 0] += 1 }

    mutating func noteSleep(from start: WallTime, until end: WallTime) {
        guard detail == .waits else { return }
        let last = conditions.last?.conditions
        conditions.append(.init(at: start, conditions: nil))
        if let last { conditions.append(.init(at: end, conditions: last)) }
    }

    /// Adds an event.
    mutating func note(_ event: SchedulerEvent, at now: Moment) {
        events += 1
        hasNews = true
        noteFreeTime(event, at: now.wall)
        switch event {
        case .timePassed:
            alarms += 1
            if open.isEmpty {
                wakeUps += 1
                wakeUp = (now.wall, nil)
            }
        case .settingsChanged(let settings): self.settings = settings
        case .used(let bundle), .foregroundChanged(let bundle, true):
            uses[bundle, default: []].append(now.wall)
        case .submitted(let request): requests[request.id] = request
        case .conditionsChanged(let conditions) where detail == .waits:
            self.conditions.append(.init(at: now.wall, conditions: conditions))
        case .launchStarted(let id, let request): begin(id, request, at: now.wall)
        case .launchExpiring(let id):
            // If neither the scheduler nor a user stopped the launch, its CPU monitor did.
            if let index = open[id] { launches[index].expiration = launches[index].expiration ?? .cpuLimit }
        case .launchEnded(let id, let putBack, let ending):
            close(id, ending, at: now.wall)
            if let putBack {
                requests[putBack.id] = putBack
                waitsSince[putBack.id] = now.wall
            }
        default: break
        }
    }

    /// Adds the reason why a launch is asked to stop; the newest reason counts.
    mutating func noteExpiration(of id: LaunchID, _ reason: Reason) {
        if let index = open[id] { launches[index].expiration = reason }
    }

    private mutating func begin(_ id: LaunchID, _ request: RequestID, at time: WallTime) {
        guard let request = requests[request] else { return }
        let dates = [
            request.effectiveBeginDate, request.submittedAt, request.notBefore, waitsSince[request.id],
        ]
        let earliest = dates.compactMap(\.self).max() ?? time
        open[id] = launches.count
        var launch = Launch(
            identifier: request.identifier, request: request.id, id: id, attempt: request.attempt,
            start: time, waited: max(.zero, time - earliest))
        if request.kind == .appRefresh { launch.refreshes = request.bundle }
        launch.earliest = min(earliest, time)
        launch.isDeferrable = request.isDiscretionary && request.submission.origin != .simulated
        if launch.isDeferrable, request.attempt == 1 {
            launch.window = LaunchWindow(request, settings)
        }
        noteWakeUp(of: launch)
        launches.append(launch)
    }

    /// Counts a wake-up of an idle host as chosen if all launches that it began are early.
    private mutating func noteWakeUp(of launch: Launch) {
        guard launch.isDeferrable, let wakeUp, wakeUp.at == launch.start else { return }
        let isEarly = launch.window.map { launch.start < $0.wake } ?? false
        switch wakeUp.isChosen {
        case nil where isEarly: chosenWakeUps += 1
        case true? where !isEarly: chosenWakeUps -= 1
        default: break
        }
        self.wakeUp?.isChosen = (wakeUp.isChosen ?? true) && isEarly
    }

    private mutating func close(_ id: LaunchID, _ ending: LaunchEnding, at time: WallTime) {
        guard let index = open.removeValue(forKey: id) else { return }
        launches[index].end = time
        launches[index].outcome = ending.outcome
        launches[index].cpu = ending.cpuTime
    }

    /// How many uses found a bundle that had refreshed within this time before, and how many there were of
    /// bundles that refresh.
    ///
    /// The uses of the first seven days do not count, because the habits are learnt in them.
    public func freshUses(within limit: Duration) -> (fresh: Int, of: Int) {
        guard let first = launches.first?.start else { return (0, 0) }
        let learnt = first + .seconds(7 * 86_400)
        var (fresh, all) = (0, 0)
        let ends = Dictionary(grouping: launches.filter { $0.refreshes != nil && $0.end != nil }) {
            $0.refreshes
        }
        for (bundle, times) in uses {
            guard let ends = ends[bundle]?.compactMap(\.end).sorted() else { continue }
            for time in times where time >= learnt {
                all += 1
                // The newest end that is not later than the use.
                let next = ends.partition { $0 > time }
                if next > 0, time - ends[next - 1] <= limit { fresh += 1 }
            }
        }
        return (fresh, all)
    }

    /// How many refreshes ended within this time before a use of their bundle, and how many could have.
    ///
    /// The latter are the refreshes whose windows are at least as long, so that they can choose, and that had
    /// a use within reach: after the beginning of the window, and at most this time after its end. The first
    /// seven days do not count, because the habits are learnt in them.
    public func refreshesBeforeUse(within limit: Duration) -> (landed: Int, of: Int) {
        guard let first = launches.first?.start else { return (0, 0) }
        let learnt = first + .seconds(7 * 86_400)
        var (landed, all) = (0, 0)
        for launch in launches where launch.start >= learnt {
            guard let bundle = launch.refreshes, let window = launch.window, let end = launch.end,
                window.due - window.ripe >= limit, let times = uses[bundle],
                times.contains(where: { $0 >= window.ripe && $0 <= window.due + limit })
            else { continue }
            all += 1
            if times.contains(where: { $0 >= end && $0 - end <= limit }) { landed += 1 }
        }
        return (landed, all)
    }

    /// Notes the time of an event that can start requests, and for which the host need not wake.
    private mutating func noteFreeTime(_ event: SchedulerEvent, at time: WallTime) {
        guard let source = source(of: event) else { return }
        if otherEvents.last?.time == time {
            let index = otherEvents.count - 1
            otherEvents[index].source = min(otherEvents[index].source, source)
        } else {
            otherEvents.append(FreeEvent(time: time, source: source))
        }
    }

    /// The launch that caused an event, as its index; -1 for an event from outside; `nil` if the event says
    /// nothing about what woke the host.
    private func source(of event: SchedulerEvent) -> Int? {
        switch event {
        case .timePassed: open.values.min()
        // They follow from the start itself, or from the event that the host got at the same time.
        case .launchStarted, .launchNotStarted, .outlookChanged, .localTimeChanged, .localTimeChanges,
            .scheduleDated, .scheduleNotStored, .pressureBegan:
            nil
        case .launchReady(let id), .progressed(let id, _, _), .launchActive(let id), .cpuMeasured(let id, _),
            .launchExpiring(let id), .launchEnded(let id, _, _):
            open[id] ?? -1
        // The host and the handlers make these requests together with an event of a launch.
        case .submitted(let request)
        where request.submission.origin == .schedule || request.submission.origin == .handler:
            launches.isEmpty ? -1 : nil
        default: -1
        }
    }

    /// The fewest wake-ups of an idle host with which all launches of this run could have begun in their
    /// windows; never more than ``wakeUps``.
    ///
    /// A window with another event of the run in it needs none, because that event starts the request. But an
    /// event of a launch, such as its end, counts only for windows that began after the launch did.
    /// Otherwise, each launch would make its own wake-up unnecessary, and those of the launches that began
    /// with it and had to wait for a slot. For the others, the classic rule is used: always wake at the end
    /// of the window that ends first, and skip all windows that contain this time. A launch that began after
    /// its window counts until it began.
    var leastWakeUps: Int {
        let free = otherEvents.sorted { $0.time < $1.time }
        var last: WallTime?
        var count = 0
        let windows = launches.enumerated().compactMap { index, launch in
            launch.span.map { (index: index, ripe: $0.lowerBound, end: $0.upperBound) }
        }
        for window in windows.sorted(by: { $0.end < $1.end }) where last.map({ $0 < window.ripe }) ?? true {
            let inWindow = free[free.partition { $0.time >= window.ripe }...].prefix { $0.time <= window.end }
            if inWindow.contains(where: { isFree($0, window.index, window.ripe) }) { continue }
            last = window.end
            count += 1
        }
        /// Whether the window needs no wake-up because of an event in it.
        func isFree(_ event: FreeEvent, _ index: Int, _ ripe: WallTime) -> Bool {
            event.source < 0 || (event.source < index && launches[event.source].start < ripe)
        }
        // In a recording, a start is recorded some milliseconds after the event that caused it, so a window
        // can seem to need a wake-up that never was.
        return min(count, wakeUps)
    }

    /// Determines why each pending request waits, if events were added since the last call.
    ///
    /// Call it once for all events of a moment, before the clock moves on: states in between lasted no time.
    ///
    /// - Parameters:
    ///   - now: The moment of the newest event.
    ///   - scheduler: The scheduler after that event.
    mutating func noteWaits(at now: Moment, _ scheduler: Scheduler) {
        guard detail == .waits, hasNews else { return }
        hasNews = false
        var still: Set<RequestID> = []
        for request in scheduler.pendingRequests {
            still.insert(request.id)
            let factor = scheduler.waitingFor(request.id, at: now) ?? "Slot"
            if let known = waiting[request.id] {
                if known.factor == factor { continue }
                add(known, until: now.wall)
            }
            waiting[request.id] = (request.identifier, factor, now.wall)
        }
        for (id, known) in waiting where !still.contains(id) {
            add(known, until: now.wall)
            waiting[id] = nil
        }
    }

    /// Adds the waits that have not ended, at the end of a run or of a part of it.
    mutating func settle(at now: Moment, _ scheduler: Scheduler) {
        noteWaits(at: now, scheduler)
        for (id, known) in waiting {
            add(known, until: now.wall)
            waiting[id]?.since = now.wall
        }
    }

    private mutating func add(
        _ wait: (identifier: TaskIdentifier, factor: String, since: WallTime), until time: WallTime
    ) {
        guard time > wait.since else { return }
        waits[wait.identifier, default: [:]][wait.factor, default: .zero] += time - wait.since
    }

    /// Ends all open launches as lost, and all waits, because the host ended.
    mutating func noteRestart(at time: WallTime) {
        for index in launches.indices where launches[index].end == nil {
            launches[index].end = time
            launches[index].outcome = .lost
        }
        for (_, known) in waiting { add(known, until: time) }
        waiting = [:]
        open = [:]
        if detail == .waits { conditions.append(.init(at: time, conditions: nil)) }
    }

    /// Compares launches, waits, alarms and refusals, but not the number of events.
    public static func == (left: Self, right: Self) -> Bool {
        left.launches == right.launches && left.waits == right.waits && left.alarms == right.alarms
            && left.refusals == right.refusals
    }
}

extension Array {
    /// In a sorted array, the index of the first element for which the condition is true.
    fileprivate func partition(_ condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
