public import TaskModel

/// Decides what starts, what stops and when to look again: state, event and time in, actions out.
///
/// A value without clock, lock or I/O. The same code runs in the host, behind `explain`, in tests and in replays. Events
/// must be given in order, with moments whose boot and monotonic clocks never run back; the wall clock may be set.
public struct Scheduler: Sendable {
    /// The policies, in the order in which `explain` prints them.
    ///
    /// One line here makes a file in `Policies/` count.
    static let policies: [any Policy] = [
        Permission(),
        EarliestBeginDate(),
        ExternalPower(),
        Network(),
        Resources(),
        OneLaunchPerIdentifier(),
        Concurrency(),
    ]

    var situation: Situation
    var pending = PendingIndex()
    var launches: [RequestID: ActiveLaunch] = [:]
    var requestOfLaunch: [LaunchID: RequestID] = [:]
    var schedules = ScheduleBook()
    var isStarted = false
    var isShuttingDown = false
    var announcedWake = Wake()
    /// Wall time less boot time: changes where the wall clock is set.
    var wallOffset: Duration?

    /// Makes a scheduler that knows nothing: every condition is unknown.
    public init(settings: SchedulerSettings = SchedulerSettings()) {
        situation = Situation(settings: settings)
    }

    /// The numbers it works with.
    public var settings: SchedulerSettings { situation.settings }

    /// Takes in one event and says what is to be done now.
    public mutating func handle(_ event: SchedulerEvent, at now: Moment) -> [SchedulerAction] {
        var actions: [SchedulerAction] = []
        noticeClockChange(now)
        apply(event, at: now, &actions)
        guard isStarted else { return [] }
        settleLaunches(at: now, &actions)
        pending.release(until: now.wall, &situation.occupancy)
        askForScheduled(at: now, &actions)
        startCandidates(at: now, &actions)
        announceWake(at: now, &actions)
        return actions
    }

    private mutating func apply(_ event: SchedulerEvent, at now: Moment, _ actions: inout [SchedulerAction]) {
        switch event {
        case .started:
            isStarted = true
            cancelOrphans(&actions)
        case .handlersChanged(let manifests): replaceHandlers(manifests, &actions)
        case .conditionsChanged(let conditions): replaceConditions(conditions)
        case .lastLaunched(let identifier, let time): schedules.learned(identifier, lastBegin: time)
        case .submitted(let request): submit(request)
        case .withdrawn(let id): withdraw(id, at: now)
        case .scheduleNotStored(let identifier):
            schedules.refused(identifier, retryAt: now.wall + settings.scheduleRetryDelay)
        case .simulate(let id): simulate(id)
        case .launchStarted(let id, let request): started(id, request)
        case .launchNotStarted(let request, let retry): notStarted(request, retry: retry)
        case .launchReady(let id): withLaunch(id) { $0.becameReady(at: now) }
        case .progressed(let id, let progress): withLaunch(id) { $0.progressed(progress, at: now) }
        case .launchActive(let id): withLaunch(id) { $0.becameActive() }
        case .cpuMeasured(let id, let time):
            let least = settings.leastCPU
            withLaunch(id) { $0.measured(time, least: least) }
        case .tracingChanged(let id, let isTraced): withLaunch(id) { $0.setTraced(isTraced, at: now) }
        case .expireRequested(let id, let reason): expire(id, reason, &actions)
        case .launchExpiring(let id): withLaunch(id) { $0.isExpiring = true }
        case .launchEnded(let id, let putBack): ended(id, putBack: putBack)
        case .timePassed: break
        case .shutdown: isShuttingDown = true
        }
    }

    /// After the wall clock was set, dates lie elsewhere on it; leases do not.
    private mutating func noticeClockChange(_ now: Moment) {
        let offset = now.wall.sinceEpoch - now.boot
        defer { wallOffset = offset }
        guard let wallOffset, offset - wallOffset > .seconds(1) || wallOffset - offset > .seconds(1) else {
            return
        }
        schedules.touchAll()
        pending.releaseAllDates(&situation.occupancy)
    }

    private mutating func replaceHandlers(_ manifests: [Manifest], _ actions: inout [SchedulerAction]) {
        situation.permits = Permits(manifests)
        schedules.replacePlans(situation.permits.schedules)
        if isStarted { cancelOrphans(&actions) }
        // Constraints may have changed with the manifests, so every request is looked at once.
        for request in Array(pending.requests) { pending.makeCandidate(request.id, &situation.occupancy) }
    }

    /// A schedule that is gone takes its request with it; one whose whole manifest is gone is held.
    private mutating func cancelOrphans(_ actions: inout [SchedulerAction]) {
        let orphans = pending.requests.filter { request in
            request.submission.origin == .schedule && !schedules.hasPlan(request.identifier)
                && situation.permits.declaration(for: request.identifier, of: request.bundle) != nil
        }
        for orphan in orphans.sorted(by: { $0.id < $1.id }) {
            pending.remove(orphan.id, &situation.occupancy)
            actions.append(.cancelRequest(orphan.id, .manifestRemoved))
        }
    }

    private mutating func replaceConditions(_ conditions: Conditions) {
        let changed = Fact.changed(from: situation.conditions, to: conditions)
        situation.conditions = conditions
        for fact in changed { pending.release(fact, &situation.occupancy) }
    }

    private mutating func submit(_ request: TaskRequest) {
        guard launches[request.id] == nil else { return }
        pending.insert(request, &situation.occupancy)
        pending.makeCandidate(request.id, &situation.occupancy)
        schedules.answered(request.identifier)
        // One of a schedule that is gone by now, or that lies too far off, is put right at once.
        schedules.touch(request.identifier)
    }

    private mutating func withdraw(_ id: RequestID, at now: Moment) {
        guard let request = pending.remove(id, &situation.occupancy) else { return }
        // Cancelling the schedule's request skips that period; otherwise it would be back at once.
        if request.submission.origin == .schedule { schedules.began(request.identifier, at: now.wall) }
        schedules.touch(request.identifier)
    }

    private mutating func simulate(_ id: RequestID) {
        pending.markSimulated(id)
        pending.makeCandidate(id, &situation.occupancy)
    }

    private mutating func askForScheduled(at now: Moment, _ actions: inout [SchedulerAction]) {
        guard !isShuttingDown else { return }
        for identifier in schedules.takeTouched(at: now.wall) {
            let action = schedules.ask(
                identifier, pending: pending.request(of: identifier),
                isUnderWay: situation.occupancy.requests[identifier] != nil, at: now.wall)
            if let action { actions.append(action) }
        }
    }

    private mutating func announceWake(at now: Moment, _ actions: inout [SchedulerAction]) {
        let boot = launches.values.compactMap { $0.nextInstant(at: now, settings) }.min()
        let dates = isShuttingDown ? [] : [pending.firstDate(), schedules.nextRetry].compactMap { $0 }
        let wake = Wake(boot: boot, wall: dates.min())
        if wake == announcedWake { return }
        announcedWake = wake
        actions.append(.wake(wake))
    }
}
