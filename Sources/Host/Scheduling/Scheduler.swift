public import TaskModel

/// Decides what starts, what stops and when to look again: state, event and time in, actions out.
///
/// A value without clock, lock or I/O. The same code runs in the host, behind `explain`, in tests and in
/// replays. Events must be given in order, with moments whose boot and monotonic clocks never run back; the
/// wall clock may be set. The same state, events and moments give the same actions, byte for byte.
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
        RequiredConditions(),
        BatteryLevel(),
        LowPowerMode(),
        Pressure(),
        Thermal(),
        DeviceActivity(),
        RefreshAllowed(),
        Dismissed(),
        Usage(),
        Conduct(),
        Budget(),
        RateLimit(),
        OneLaunchPerIdentifier(),
        Concurrency(),
        Coalescing(),
    ]

    var situation: Situation
    var pending = PendingIndex()
    var launches: [RequestID: ActiveLaunch] = [:]
    var requestOfLaunch: [LaunchID: RequestID] = [:]
    var schedules = ScheduleBook()
    var isStarted = false
    var isShuttingDown = false
    var announcedWake = Wake()
    /// Lanes that something holds as a whole; no date of theirs wakes the host.
    var heldLanes: Set<Lane> = []
    /// Whether candidates are left that the last pass did not look at; it goes on with the next event, and
    /// asks for one.
    var isPassCut = false
    /// How many candidates one pass looks at: 512, which takes about 4 ms at 8 us each
    /// (Documentation/Benchmarks.md).
    ///
    /// Ours: a submission or an expiration never waits longer for a pass over requests that each wait for
    /// themselves.
    static let looksPerPass = 512
    /// Which launches the next pass looks at.
    var agenda = LaunchAgenda()
    /// When memory pressure may end the next launch, on CLOCK_BOOTTIME.
    var nextPressureEnd: Duration?
    /// Bundles whose state changed since it was saved.
    var unsaved: Set<BundleIdentifier> = []
    /// Wall time less boot time: changes where the wall clock is set.
    var wallOffset: Duration?

    /// Makes a scheduler that knows nothing: every condition is unknown.
    public init(settings: SchedulerSettings = SchedulerSettings()) {
        situation = Situation(settings: settings)
    }

    /// The numbers it works with.
    public var settings: SchedulerSettings { situation.settings }

    /// What the manifests of its last ``SchedulerEvent/handlersChanged(_:)`` permit.
    public var permits: Permits { situation.permits }

    /// What it remembers of a bundle, as of its last event.
    public func bundleState(_ bundle: BundleIdentifier) -> BundleState {
        situation.bundles[bundle] ?? BundleState()
    }

    /// Takes in one event and says what is to be done now.
    public mutating func handle(_ event: SchedulerEvent, at now: Moment) -> [SchedulerAction] {
        var actions: [SchedulerAction] = []
        takeIn(event, at: now, &actions)
        guard isStarted else { return [] }
        startCandidates(at: now, &actions)
        for bundle in unsaved.sorted() { actions.append(.saveBundleState(bundle, bundleState(bundle))) }
        unsaved = []
        announceWake(at: now, &actions)
        return actions
    }

    /// Everything but the starting.
    mutating func takeIn(_ event: SchedulerEvent, at now: Moment, _ actions: inout [SchedulerAction]) {
        situation.notice(now.wall)
        noticeClockChange(now)
        apply(event, at: now, &actions)
        guard isStarted else { return }
        settleLaunches(at: now, &actions)
        if situation.occupancy.isBusy { pending.releaseCompanions(until: now.wall) }
        askForScheduled(at: now, &actions)
    }

    private mutating func apply(_ event: SchedulerEvent, at now: Moment, _ actions: inout [SchedulerAction]) {
        switch event {
        case .started:
            isStarted = true
            agenda.touchAll()
            cancelOrphans(&actions)
        case .settingsChanged(let settings): replaceSettings(settings, at: now)
        case .handlersChanged(let manifests): replaceHandlers(manifests, at: now, &actions)
        case .conditionsChanged(let conditions): replaceConditions(conditions, at: now)
        case .localTimeChanged(let offset):
            situation.localOffset = offset
            pending.releaseAllDates(at: now.wall)
        case .lastLaunched(let identifier, let time): schedules.learned(identifier, lastBegin: time)
        case .bundleRestored, .used, .dismissed, .refreshSwitched, .budgetChanged, .foregroundChanged:
            applyToBundle(event, at: now, &actions)
            // A bundle in the foreground gives its launches another priority.
            agenda.touchAll()
        case .submitted(let request): submit(request, at: now)
        case .withdrawn(let id): withdraw(id, at: now)
        case .scheduleNotStored(let identifier):
            schedules.refused(identifier, retryAt: now.wall + settings.scheduleRetryDelay)
        case .scheduleDated(let identifier, let after, let next):
            schedules.dated(identifier, after: after, next: next)
        case .scheduleTriggered(let identifier): schedules.trigger(identifier)
        case .simulate(let id): pending.markSimulated(id)
        case .launchStarted, .launchNotStarted, .launchReady, .progressed, .launchActive, .cpuMeasured,
            .answered,
            .tracingChanged, .expireRequested, .launchExpiring, .launchEnded:
            applyToLaunch(event, at: now, &actions)
        case .timePassed: break
        case .shutdown:
            isShuttingDown = true
            agenda.touchAll()
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
        pending.releaseAllDates(at: now.wall)
    }

    private mutating func replaceSettings(_ settings: SchedulerSettings, at now: Moment) {
        guard settings != situation.settings else { return }
        situation.settings = settings
        agenda.checkAll()
        pending.forgetHolds()
        let situation = situation
        pending.releaseAll(at: now.wall) { situation.needs(of: $0) }
    }

    private mutating func replaceHandlers(
        _ manifests: [Manifest], at now: Moment, _ actions: inout [SchedulerAction]
    ) {
        let permits = Permits(manifests)
        let changed = permits.bundlesThatDiffer(from: situation.permits)
        situation.permits = permits
        schedules.replacePlans(situation.permits.schedules)
        agenda.checkAll()
        if isStarted { cancelOrphans(&actions) }
        // Constraints may have changed with the manifests, so every request of theirs is looked at once.
        let situation = situation
        pending.release(of: changed, at: now.wall) { situation.needs(of: $0) }
    }

    /// A schedule that is gone takes its request with it, and a library that is no app any more its launch;
    /// one whose whole manifest is gone is held.
    private mutating func cancelOrphans(_ actions: inout [SchedulerAction]) {
        var orphans = pending.scheduledRequests.filter { request in
            !schedules.hasPlan(request.identifier)
                && situation.permits.declaration(for: request.identifier, of: request.bundle) != nil
        }
        orphans += pending.appLaunchRequests.filter { request in
            situation.permits.manifest(of: request.bundle).map { $0.appLaunch != request.identifier } ?? false
        }
        for orphan in orphans {
            pending.remove(orphan.id)
            actions.append(.cancelRequest(orphan.id, .manifestRemoved))
        }
    }

    private mutating func replaceConditions(_ conditions: Conditions, at now: Moment) {
        agenda.checkAll()
        schedules.observe(conditions)
        let changed = situation.replaceConditions(conditions, at: now)
        pending.forgetHolds()
        for fact in changed { pending.release(fact) }
    }

    private mutating func submit(_ request: TaskRequest, at now: Moment) {
        guard launches[request.id] == nil else { return }
        pending.insert(request, situation.needs(of: request), at: now.wall)
        // A user launches it: no policy has a say even if all would let it start, so that it does not count.
        if isStarted, request.submission.origin == .simulated, request.attempt == 1 {
            pending.markSimulated(request.id)
        }
        schedules.answered(request.identifier)
        // One of a schedule that is gone by now, or that lies too far off, is put right at once.
        schedules.touch(request.identifier)
    }

    private mutating func withdraw(_ id: RequestID, at now: Moment) {
        guard let request = pending.remove(id) else { return }
        // Cancelling the schedule's request skips that period; otherwise it would be back at once.
        if request.submission.origin == .schedule {
            schedules.skipped(
                request.identifier, date: request.submission.earliestBeginDate, at: now.wall)
        }
        schedules.touch(request.identifier)
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

    /// No date wakes the host for what could not start then: its lane is full or held until another event.
    private mutating func announceWake(at now: Moment, _ actions: inout [SchedulerAction]) {
        var boot = [agenda.nextInstant()].compactMap(\.self)
        if isPassCut { boot.append(now.boot) }
        if let next = nextPressureEnd, isUnderMemoryPressure, pressureVictim != nil { boot.append(next) }
        var dates: [WallTime] = []
        if !isShuttingDown {
            for lane in Lane.allCases where situation.hasSlot(in: lane) && !heldLanes.contains(lane) {
                if let date = pending.firstDate(in: lane) { dates.append(date) }
            }
            if let retry = schedules.nextRetry { dates.append(retry) }
        }
        let machine =
            isShuttingDown
            ? nil : schedules.nextMachineWake(at: now.wall) { pending.request(of: $0) }
        let wake = Wake(boot: boot.min(), wall: dates.min(), machine: machine)
        // An alarm for now is used up by each event, so it is asked for again, be it the same one.
        if wake == announcedWake, !isPassCut { return }
        announcedWake = wake
        actions.append(.wake(wake))
    }
}
