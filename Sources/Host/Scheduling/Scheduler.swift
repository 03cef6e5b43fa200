public import TaskModel

/// Decides what starts, what stops and when to check again: it takes events and returns actions.
///
/// The scheduler is a value without clock, lock or I/O. The same code runs in the host, for `explain`, in
/// tests and in replays. Events must be given in order. Their moments must not run backwards on the boot and
/// monotonic clocks; the wall clock may jump. The same state, events and moments give exactly the same
/// actions.
public struct Scheduler: Sendable {
    /// The policies, in the order in which `explain` prints them.
    ///
    /// A file in `Policies/` has no effect without a line here.
    static let policies: [any Policy] = [
        Permission(),
        SystemSleep(),
        Paused(),
        Deadline(),
        EarliestBeginDate(),
        Between(),
        ExternalPower(),
        Network(),
        Resources(),
        RequiredConditions(),
        When(),
        Storage(),
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
        Conflicts(),
        Concurrency(),
        Coalescing(),
    ]

    var situation: Situation
    var pending = PendingIndex()
    var launches: [RequestID: ActiveLaunch] = [:]
    var requestOfLaunch: [LaunchID: RequestID] = [:]
    var schedules = ScheduleBook()
    /// The requests that fail if they do not start in time.
    var startDeadlines = StartDeadlines()
    var isStarted = false
    var isShuttingDown = false
    var announcedWake = Wake()
    /// Lanes in which no request can start before the next event; their dates set no alarm.
    var heldLanes: Set<Lane> = []
    /// Whether the last pass reached its limit before it had judged all candidates.
    ///
    /// Each event makes one pass over the candidates. The next event continues a pass that reached its limit,
    /// and an alarm ensures that there is one immediately.
    var isPassCut = false
    /// How many candidates one pass judges: 512, which takes about 4 ms (8 µs each,
    /// Documentation/Benchmarks.md).
    ///
    /// Our choice. The limit keeps submissions and expirations from waiting for a long pass.
    static let looksPerPass = 512
    /// Requests that wait for the end of a conflicting launch, oldest first; see ``ConflictQueue``.
    var conflictQueue = ConflictQueue()
    /// When the clock alone gives one of them a claim; `nil` if it gives none.
    var nextClaim: WallTime?
    /// Which launches the next pass looks at.
    var agenda = LaunchAgenda()
    /// The requests whose launches have had their turn, and are stopped if another request waits for the
    /// slot.
    var endedTurns: Set<RequestID> = []
    /// When memory pressure may end the next launch, on CLOCK_BOOTTIME.
    var nextPressureEnd: Duration?
    /// The conditions that the history expects in the next hours; `nil` if none are known.
    var outlook: ConditionOutlook?
    /// What ``outlook`` says about requests of each kind and with each needs; filled when it is needed.
    var prospects: [MachineTraits: MachineProspects] = [:]
    /// The bundles whose state has changed since it was last saved.
    var unsaved: Set<BundleIdentifier> = []
    /// What the pending requests have waited for.
    var waits = WaitBook()
    /// When the host before this one was last known to run; `nil` if this is not known.
    var earlierHostEnd: WallTime?
    /// Wall time minus boot time; it changes when the wall clock is set.
    var wallOffset: Duration?

    /// Creates a scheduler with unknown conditions and without manifests.
    public init(settings: SchedulerSettings = SchedulerSettings()) {
        situation = Situation(settings: settings)
    }

    /// The settings of the scheduler.
    public var settings: SchedulerSettings { situation.settings }

    /// The permits of the manifests in the last ``SchedulerEvent/handlersChanged(_:)``.
    public var permits: Permits { situation.permits }

    /// The state of a bundle after the last event.
    public func bundleState(_ bundle: BundleIdentifier) -> BundleState {
        situation.bundles[bundle] ?? BundleState()
    }

    /// Handles one event; returns the actions for the host.
    public mutating func handle(_ event: SchedulerEvent, at now: Moment) -> [SchedulerAction] {
        var actions: [SchedulerAction] = []
        takeIn(event, at: now, &actions)
        guard isStarted else { return [] }
        startCandidates(at: now, &actions)
        endTurns(at: now, &actions)
        for bundle in unsaved.sorted() { actions.append(.saveBundleState(bundle, bundleState(bundle))) }
        unsaved = []
        announceWake(at: now, &actions)
        return actions
    }

    /// Handles one event, but starts no requests.
    mutating func takeIn(_ event: SchedulerEvent, at now: Moment, _ actions: inout [SchedulerAction]) {
        let isOtherOffset = situation.notice(now.wall)
        if isOtherOffset { localTimeChanged(at: now) }
        noticeClockChange(now)
        apply(event, at: now, &actions)
        guard isStarted else { return }
        failOverdue(at: now, &actions)
        settleLaunches(at: now, &actions)
        if situation.occupancy.isBusy { pending.releaseCompanions(until: now.wall) }
        askForScheduled(at: now, &actions)
    }

    private mutating func apply(_ event: SchedulerEvent, at now: Moment, _ actions: inout [SchedulerAction]) {
        switch event {
        case .started:
            isStarted = true
            forgetServiceInFuture(at: now)
            agenda.touchAll()
            cancelOrphans(&actions)
        case .settingsChanged(let settings): replaceSettings(settings, at: now)
        case .handlersChanged(let manifests): replaceHandlers(manifests, at: now, &actions)
        case .conditionsChanged(let conditions): replaceConditions(conditions, at: now)
        case .outlookChanged(let outlook): replaceOutlook(outlook, at: now)
        case .preparingForSleep(let isPreparing): prepareForSleep(isPreparing, at: now)
        case .pauseChanged(let pause): pauseHost(pause)
        case .pressureBegan(let time): situation.restorePressure(since: time)
        case .localTimeChanged(let offset):
            situation.takeLocalOffset(offset, at: now.wall)
            localTimeChanged(at: now)
        case .localTimeChanges(let changes):
            guard changes != situation.localTimeChanges else { break }
            situation.takeLocalTimeChanges(changes)
            situation.notice(now.wall)
            localTimeChanged(at: now)
        case .lastLaunched(let identifier, let time): schedules.learned(identifier, lastBegin: time)
        case .bundleRestored, .used, .dismissed, .refreshSwitched, .budgetChanged, .foregroundChanged,
            .bundlePaused, .crashPauseEnded:
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

    /// Adjusts dates that depend on local time.
    private mutating func localTimeChanged(at now: Moment) {
        // Without a date, `when` waits only for conditions, and it depends on local time, too.
        pending.forgetHolds()
        for fact in Fact.ofConditions(situation.conditions) { pending.release(fact) }
        prospects = [:]
        pending.releaseAllDates(at: now.wall)
        pending.release(.scores)
        checkTimedLaunches()
    }

    /// Judges the launches again that depend on local time.
    private mutating func checkTimedLaunches() {
        for (request, launch) in launches where launch.isTimed {
            agenda.check(request)
        }
    }

    /// Adjusts dates after the wall clock was set by more than 1 s; leases do not change.
    private mutating func noticeClockChange(_ now: Moment) {
        let offset = now.wall.sinceEpoch - now.boot
        defer { wallOffset = offset }
        guard let wallOffset, offset - wallOffset > .seconds(1) || wallOffset - offset > .seconds(1) else {
            return
        }
        situation.shiftPressure(by: offset - wallOffset)
        forgetServiceInFuture(at: now)
        schedules.touchAll()
        pending.releaseAllDates(at: now.wall)
        checkTimedLaunches()
    }

    private mutating func replaceSettings(_ settings: SchedulerSettings, at now: Moment) {
        guard settings != situation.settings else { return }
        situation.settings = settings
        prospects = [:]
        agenda.checkAll()
        pending.forgetHolds()
        for bundle in situation.bundles.keys { setRanks(of: bundle) }
        let situation = situation
        pending.releaseAll(at: now.wall) { situation.needs(of: $0) }
    }

    private mutating func replaceHandlers(
        _ manifests: [Manifest], at now: Moment, _ actions: inout [SchedulerAction]
    ) {
        let permits = Permits(manifests)
        let changed = permits.bundlesThatDiffer(from: situation.permits)
        let isOther = permits.conflictsDiffer(from: situation.permits)
        situation.permits = permits
        schedules.replacePlans(situation.permits.schedules)
        agenda.checkAll()
        if isStarted { cancelOrphans(&actions) }
        // The needs of requests of any bundle contain their conflicts, which another manifest can state.
        let situation = situation
        if isOther { return pending.releaseAll(at: now.wall) { situation.needs(of: $0) } }
        // The needs of requests may have changed with their manifests, so each request is judged again.
        pending.release(of: changed, at: now.wall) { situation.needs(of: $0) }
    }

    /// Cancels requests of schedules that no longer exist, and launches of apps that are not apps any more.
    ///
    /// If the whole manifest has been removed, its requests stay pending.
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
        // An outlook has only what scores depend on; expressions read more, which counts as it is now.
        if changed.contains(where: \.isUnscored) {
            prospects = prospects.filter { $0.key.needs.constraints?.when == nil }
        }
        for fact in changed { pending.release(fact) }
    }

    /// Takes the conditions that are expected now; requests may choose other moments.
    private mutating func replaceOutlook(_ outlook: ConditionOutlook?, at now: Moment) {
        guard outlook != self.outlook else { return }
        self.outlook = outlook
        prospects = [:]
        pending.releaseAlarms(at: now.wall)
        pending.release(.scores)
    }

    private mutating func prepareForSleep(_ isPreparing: Bool, at now: Moment) {
        situation.sleepSince = isPreparing ? situation.sleepSince ?? now.wall : nil
        pending.forgetHolds()
        if isPreparing { agenda.checkAll() } else { pending.release(.sleep) }
    }

    private mutating func pauseHost(_ pause: Pause?) {
        guard situation.hostPause != pause else { return }
        situation.hostPause = pause
        agenda.checkAll()
        pending.release(.pause)
    }

    /// Fails the pending requests whose client set a deadline that has passed.
    private mutating func failOverdue(at now: Moment, _ actions: inout [SchedulerAction]) {
        guard !isShuttingDown, startDeadlines.isDue(at: now.wall) else { return }
        for request in takeOverdue(at: now.wall) {
            pending.remove(request.id)
            schedules.touch(request.identifier)
            actions.append(.cancelRequest(request.id, .deadlinePassed))
        }
    }

    private mutating func takeOverdue(at now: WallTime) -> [TaskRequest] {
        let pending = pending
        return startDeadlines.take(until: now) { pending[$0] }
    }

    private mutating func submit(_ request: TaskRequest, at now: Moment) {
        guard launches[request.id] == nil else { return }
        noteStartDeadline(of: request)
        pending.insert(request, situation.needs(of: request), at: now.wall)
        enterIfConflicting(request)
        beginWait(of: request, at: now)
        // A request of `bgtask launch` is marked even if all policies would permit it, so that no budget
        // counts its launch.
        if isStarted, request.submission.origin == .simulated, request.attempt == 1 {
            pending.markSimulated(request.id)
        }
        schedules.answered(request.identifier)
        // If the schedule no longer exists, or the date is too far away, this corrects the request
        // immediately.
        schedules.touch(request.identifier)
    }

    private mutating func withdraw(_ id: RequestID, at now: Moment) {
        guard let request = pending.remove(id) else { return }
        situation.stoppedByCondition[request.identifier] = nil
        // A cancellation skips this period. Otherwise, the schedule would submit the same request again.
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

    /// Notes the date at which a request fails if it has not started.
    mutating func noteStartDeadline(of request: TaskRequest) {
        guard request.failsAt != nil else { return }
        let pending = pending
        startDeadlines.add(request, among: pending.count) { pending[$0] }
    }

    private mutating func firstStartDeadline() -> WallTime? {
        if startDeadlines.isEmpty { return nil }
        let pending = pending
        return startDeadlines.first { pending[$0] }
    }

    /// Whether a date can let a request of the lane start, now or after the end of a launch's turn.
    private func canUseAlarm(_ lane: Lane) -> Bool {
        situation.hasSlot(in: lane) ? !heldLanes.contains(lane) : lane.hasTurns && !endedTurns.isEmpty
    }

    /// Sets the alarms; dates are left out if their lane is full or held until another event.
    private mutating func announceWake(at now: Moment, _ actions: inout [SchedulerAction]) {
        var boot = [agenda.nextInstant()].compactMap(\.self)
        if isPassCut { boot.append(now.boot) }
        if let next = nextPressureEnd, isUnderMemoryPressure, pressureVictim != nil { boot.append(next) }
        var dates: [WallTime] = []
        if !isShuttingDown {
            for lane in Lane.allCases where canUseAlarm(lane) {
                if let date = pending.firstAlarm(in: lane) { dates.append(date) }
            }
            // `pressureEnd` releases the lanes that pressure holds, without an event.
            if heldLanes.contains(where: \.isFair), let end = situation.pressureEnd, end > now.wall {
                dates.append(end)
            }
            if let retry = schedules.nextRetry { dates.append(retry) }
            if let end = firstStartDeadline() { dates.append(end) }
            if let nextClaim { dates.append(nextClaim) }
        }
        let machine =
            isShuttingDown
            ? nil : schedules.nextMachineWake(at: now.wall) { pending.request(of: $0) }
        let wake = Wake(boot: boot.min(), wall: dates.min(), machine: machine)
        // A pass that was cut needs an alarm for the present time. That alarm is set again even if it equals
        // the last one, because an alarm that has come no longer exists.
        if wake == announcedWake, !isPassCut { return }
        announcedWake = wake
        actions.append(.wake(wake))
    }
}
