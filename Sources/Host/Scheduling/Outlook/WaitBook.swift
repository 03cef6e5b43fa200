public import TaskModel

/// How long each pending request has waited for what.
///
/// It takes no time per request and event: a request gets a new span when the scheduler judges it, and the
/// times at which its whole group was held are added only when its spans are read. Times are on
/// CLOCK_BOOTTIME, in milliseconds, because the wall clock may be set.
struct WaitBook: Sendable {
    /// What a request waits for, as a number: the index of a policy, or one of the following.
    typealias Cause = UInt8

    static let score = Cause(Scheduler.policies.count)
    static let window = score + 1
    /// The time in which no host ran, before the present host started.
    static let host = score + 2
    /// The time in which an earlier host ran, whose book is lost.
    static let earlierHost = score + 3
    private static let numbers = Dictionary(
        uniqueKeysWithValues: Scheduler.policies.enumerated().map { ($1.name, Cause($0)) })
    /// The cause while no policy is known to hold a request: it waits for a slot.
    private static let turn = numbers["Concurrency"] ?? score
    private static let beginDate = numbers["EarliestBeginDate"] ?? score
    /// How many holds of a group are kept.
    ///
    /// Our choice: enough for what a person reads. The time of older ones counts for the request's own cause.
    private static let mostHolds = 64
    /// The shortest wait that is kept: 1 s.
    ///
    /// Our choice: the records of launches that start at once stay short.
    static let shortest = Duration.seconds(1)

    private struct Entry {
        var cause: Cause
        var since: Int64
        /// Earlier spans; without a wait, they take no memory.
        var totals: [Cause: Int64] = [:]
    }

    private struct Hold {
        let cause: Cause
        let start: Int64
        var end: Int64?
    }

    private var entries: [RequestID: Entry] = [:]
    private var holds: [MachineTraits: [Hold]] = [:]

    /// The name of a cause.
    static func name(_ cause: Cause) -> String {
        switch cause {
        case score: "Score"
        case window: "Window"
        case host: "Host"
        case earlierHost: "EarlierHost"
        default: Scheduler.policies[Int(cause)].name
        }
    }

    /// The number of a policy's name.
    static func cause(_ name: String) -> Cause { numbers[name] ?? score }

    /// Begins the wait of a request that became pending.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - isRestored: Whether an earlier run of the host stored it.
    ///   - hostEnd: When that host was last known to run; `nil` if this is not known.
    ///   - now: The time.
    mutating func enter(_ request: TaskRequest, isRestored: Bool, hostEnd: WallTime?, at now: Moment) {
        var entry = Entry(cause: Self.beginDate, since: now.boot.wholeMilliseconds)
        if isRestored, now.wall > request.waitingSince {
            // Before its date, the request waited for nothing else.
            let begin = min(
                now.wall, max(request.waitingSince, EarliestBeginDate.lastDate(of: request) ?? .distantPast))
            let end = min(now.wall, max(begin, hostEnd ?? .distantPast))
            entry.totals = [
                Self.beginDate: (begin - request.waitingSince).wholeMilliseconds,
                Self.earlierHost: (end - begin).wholeMilliseconds,
                Self.host: (now.wall - end).wholeMilliseconds,
            ].filter { $0.value > 0 }
        }
        entries[request.id] = entry
    }

    /// How many requests the book has, of which some may not be pending any more.
    var count: Int { entries.count }

    /// Removes the requests that are not pending any more.
    mutating func sweep(isPending: (RequestID) -> Bool) { entries = entries.filter { isPending($0.key) } }

    /// What determines how the wait of a request is counted.
    struct Terms {
        /// The request's group, whose holds count.
        let traits: MachineTraits
        /// When the host wakes for the request.
        let wake: WallTime
    }

    /// Notes what a request waits for from now on.
    ///
    /// The terms are calculated only if the cause has changed.
    mutating func note(
        _ request: TaskRequest, _ cause: Cause, _ terms: @autoclosure () -> Terms, at now: Moment
    ) {
        guard var entry = entries[request.id], entry.cause != cause || entry.cause == Self.beginDate else {
            return
        }
        close(&entry, request, terms(), at: now)
        entry.cause = cause
        entries[request.id] = entry
    }

    /// Notes that a policy holds a whole group, or that none does.
    mutating func hold(_ traits: MachineTraits, by cause: Cause?, at now: Moment) {
        let time = now.boot.wholeMilliseconds
        var list = holds[traits] ?? []
        if let last = list.last, last.end == nil {
            if last.cause == cause { return }
            list[list.count - 1].end = time
        }
        if let cause { list.append(Hold(cause: cause, start: time)) }
        if list.count > Self.mostHolds { list.removeFirst() }
        holds[traits] = list
    }

    /// Ends the wait of a request that starts.
    mutating func leave(_ request: RequestID) { entries[request] = nil }

    /// The causes for which a request has waited until now with their total times, the longest first; waits
    /// of less than a second are left out.
    func spans(_ request: TaskRequest, _ terms: Terms, at now: Moment) -> [(Cause, Duration)] {
        guard var entry = entries[request.id] else { return [] }
        close(&entry, request, terms, at: now)
        return entry.totals.map { ($0.key, Duration.milliseconds($0.value)) }
            .filter { $0.1 >= Self.shortest }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }

    /// Adds the present span of a request to its totals.
    private func close(_ entry: inout Entry, _ request: TaskRequest, _ terms: Terms, at now: Moment) {
        let time = now.boot.wholeMilliseconds
        var (start, cause) = (entry.since, entry.cause)
        var inWindow: Int64 = 0
        entry.since = time
        if cause == Self.beginDate {
            // The scheduler does not judge a request at its date, so the end of this wait is calculated.
            let over = EarliestBeginDate.lastDate(of: request).map { (now.wall - $0).wholeMilliseconds }
            let end = min(time, max(start, time - max(0, over ?? .max / 2)))
            entry.totals[cause, default: 0] += end - start
            (start, cause) = (end, Self.turn)
            inWindow = max(0, time - end - max(0, (now.wall - terms.wake).wholeMilliseconds))
        }
        var rest = time - start
        for hold in holds[terms.traits] ?? [] where (hold.end ?? time) > start {
            let held = min(hold.end ?? time, time) - max(hold.start, start)
            if held <= 0 { continue }
            entry.totals[hold.cause, default: 0] += held
            rest -= held
        }
        // Within its window, the scheduler judges a request only after an event, so this is calculated, too.
        inWindow = min(inWindow, max(0, rest))
        if inWindow > 0 { entry.totals[Self.window, default: 0] += inWindow }
        if rest > inWindow { entry.totals[cause, default: 0] += rest - inWindow }
    }
}

extension EarliestBeginDate {
    /// The later one of a request's begin date and its back-off; `nil` if it has neither.
    static func lastDate(of request: TaskRequest) -> WallTime? {
        [request.effectiveBeginDate, request.notBefore].compactMap(\.self).max()
    }
}

extension Scheduler {
    /// What a request has waited for until now, the longest wait first; without waits of less than 1 s.
    public func waited(_ request: TaskRequest, at now: Moment) -> [WaitSpan] {
        let terms = Self.terms(
            of: request, pending.look(request.id)?.needs ?? situation.needs(of: request),
            isSimulated: pending.isSimulated(request.id), settings)
        return waits.spans(request, terms, at: now).map { cause, duration in
            let policy = WaitBook.name(cause)
            return WaitSpan(
                policy: policy, object: Self.awaited(policy, of: request), duration: duration)
        }
    }

    /// Notes when an earlier run of the host was last known to run, before its requests are submitted again.
    ///
    /// Only the past of requests depends on it, so it is not an event.
    public mutating func noteEarlierHost(until time: WallTime) { earlierHostEnd = time }

    /// Begins the wait of a request that became pending.
    mutating func beginWait(of request: TaskRequest, at now: Moment) {
        // A request that was cancelled stays in the book until there are too many of them.
        if waits.count > 2 * pending.count + 64 {
            let pending = pending
            waits.sweep { pending[$0] != nil }
        }
        waits.enter(request, isRestored: !isStarted, hostEnd: earlierHostEnd, at: now)
    }

    /// Notes what a request waits for after it was judged.
    mutating func noteWait(
        _ request: TaskRequest, _ needs: Needs, _ judgement: Judgement, at now: Moment
    ) {
        let cause = judgement.waitPolicy.map(WaitBook.cause) ?? WaitBook.score
        let isSimulated = pending.isSimulated(request.id)
        let settings = settings
        waits.note(
            request, cause, Self.terms(of: request, needs, isSimulated: isSimulated, settings), at: now)
    }

    private static func terms(
        of request: TaskRequest, _ needs: Needs, isSimulated: Bool, _ settings: SchedulerSettings
    ) -> WaitBook.Terms {
        WaitBook.Terms(
            traits: MachineTraits(
                lane: isSimulated ? .simulated : request.lane, kind: request.kind, needs: needs),
            wake: LaunchWindow(request, settings).wake)
    }
}
