public import Scheduling
public import TaskModel

/// What a run of a scheduler came to: launches, waits and what keeps requests waiting.
///
/// Made of the events that a host records, by a replay and by a virtual host alike.
public struct Tally: Equatable, Sendable {
    /// How closely waits are looked at.
    public enum Detail: Sendable {
        /// After every event each pending request is asked what keeps it; costs microseconds per request and
        /// event.
        case waits
        /// Launches and sums alone, for fleets.
        case launches
    }

    /// One launch.
    public struct Launch: Equatable, Sendable {
        /// What was launched.
        public var identifier: TaskIdentifier
        /// The request's number.
        public var request: RequestID
        /// The launch's number.
        public var id: LaunchID
        /// The attempt, from 1.
        public var attempt: Int
        /// When it was recorded as begun.
        public var start: WallTime
        /// How long the request had waited since it could begin at the earliest, or was put back.
        public var waited: Duration
        /// When nothing was left of it; `nil` while it runs.
        public var end: WallTime?
        /// How it ended; `nil` while it runs.
        public var outcome: Outcome?
        /// Why it was asked to stop; `nil` if it was not.
        public var expiration: Reason?
        /// CPU time of the launch and all its descendants.
        public var cpu = Duration.zero
    }

    /// What one identifier's requests waited for.
    public typealias Waits = [String: Duration]

    /// In the order in which they began.
    public private(set) var launches: [Launch] = []
    /// How long each identifier's requests were kept waiting, by the policy that decided.
    public private(set) var waits: [TaskIdentifier: Waits] = [:]
    /// How often the scheduler got the event `timePassed`: its alarms, and the ends of sleeps.
    public private(set) var wakeUps = 0
    /// How many events the scheduler got.
    public private(set) var events = 0
    /// How many submissions were refused.
    public private(set) var refusals: [TaskIdentifier: Int] = [:]
    /// The conditions, change by change; for plots.
    public private(set) var conditions: [ConditionHistory.Entry] = []
    private let detail: Detail
    /// When requests were put back; their further attempts wait from there.
    private var waitsSince: [RequestID: WallTime] = [:]
    private var open: [LaunchID: Int] = [:]
    /// Whether an event has come since waits were noted.
    private var hasNews = false
    /// Since when each pending request waits for what.
    private var waiting: [RequestID: (identifier: TaskIdentifier, factor: String, since: WallTime)] = [:]
    private var requests: [RequestID: TaskRequest] = [:]

    init(detail: Detail) { self.detail = detail }

    /// When each identifier was launched last.
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

    /// Takes in one event.
    mutating func note(_ event: SchedulerEvent, at now: Moment) {
        events += 1
        hasNews = true
        switch event {
        case .timePassed: wakeUps += 1
        case .submitted(let request): requests[request.id] = request
        case .conditionsChanged(let conditions) where detail == .waits:
            self.conditions.append(.init(at: now.wall, conditions: conditions))
        case .launchStarted(let id, let request): begin(id, request, at: now.wall)
        case .launchExpiring(let id):
            // One that neither the scheduler nor anybody else stopped: its CPU monitor did.
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

    /// Takes in why a launch is asked to stop; the newest reason counts.
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
        launches.append(
            Launch(
                identifier: request.identifier, request: request.id, id: id, attempt: request.attempt,
                start: time, waited: max(.zero, time - earliest)))
    }

    private mutating func close(_ id: LaunchID, _ ending: LaunchEnding, at time: WallTime) {
        guard let index = open.removeValue(forKey: id) else { return }
        launches[index].end = time
        launches[index].outcome = ending.outcome
        launches[index].cpu = ending.cpuTime
    }

    /// Asks what keeps each pending request, if anything has happened since it was asked.
    ///
    /// Once for all events of a moment, before time goes on: what was true in between took no time.
    ///
    /// - Parameters:
    ///   - now: The moment of the newest event.
    ///   - scheduler: As it is after that.
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

    /// Adds up what still waits, at the end of a run or of a part of it.
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

    /// The host that ran is gone: what it had under way is lost, what was pending is sent again.
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

    /// Compares what came out, not how it was counted.
    public static func == (left: Self, right: Self) -> Bool {
        left.launches == right.launches && left.waits == right.waits && left.wakeUps == right.wakeUps
            && left.refusals == right.refusals
    }
}
