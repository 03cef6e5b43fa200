import TaskModel

/// A launch under way: from the scheduler's decision to the end of the launch's last process.
struct ActiveLaunch: Sendable {
    let request: TaskRequest
    let needs: Needs
    let lease: Lease
    let isSimulated: Bool
    /// The number of the launch; `nil` until the store has assigned it, and no action can name the launch.
    var id: LaunchID?
    /// Whether the launch was asked to stop.
    var isExpiring = false
    /// Whether the launch's CPU limit is removed at present.
    var isRelaxed = false
    /// Policies, by their index, that objected when this simulated launch began.
    ///
    /// A policy in this set can't stop the launch. It leaves the set when it no longer objects.
    var exempt: Set<Int> = []
    /// Whether the launch began because pressure had lasted too long; it runs at idle priority under
    /// pressure.
    var isTrickle = false
    /// The priority of the launch's processes.
    var priority = LaunchPriority.requested
    /// For an activity: the veto for which it was asked to stop; `nil` if it was not.
    var deferral: Deferral?
    /// For an activity: whether the device was idle when the launch began, so that a returning user can stop
    /// it.
    var beganIdle = false
    /// The values to restore if the launch does not start; `nil` if it was not counted.
    var previousLaunch: PreviousLaunch?
    /// Whether the launch was asked to stop only because its turn was over and another request waited.
    var isEndedForOthers = false
    /// Observes whether the launch makes progress.
    var progress = ProgressWatch()

    /// Whether the clock alone can make the launch stop, withdraw the request that it stop by itself, or
    /// change its priority.
    var isTimed: Bool {
        needs.constraints?.isTimed == true || isTrickle || deferral?.reason == .paused
            || deferral?.reason == .pressure
    }

    private var readyAt: Moment?
    /// When the launch was asked to stop, on CLOCK_MONOTONIC.
    private var expiringSince: Duration?
    /// When the lease ends, on CLOCK_BOOTTIME.
    private var leaseEnd: Duration?
    /// When the launch's turn is over, on CLOCK_BOOTTIME; `nil` if it has its slot to itself until it ends.
    private(set) var turnEnd: Duration?
    private var wasActive = false
    /// The state of the measurement of CPU time, which is needed whenever the lease ends and may be renewed.
    private enum Measurement { case none, due, asked, known }
    private var measurement = Measurement.none
    private var cpuAtLastDue = Duration.zero
    private var tracedSince: Moment?

    /// The values that were replaced when this launch was counted.
    struct PreviousLaunch: Sendable {
        /// The start of the identifier's newest launch before this one.
        var ofIdentifier: WallTime?
        /// The start of the bundle's newest launch of the same kind, refresh or push, before this one.
        var ofKind: WallTime?
        /// When this launch was counted.
        var countedAt: WallTime
        /// The local day to whose budget this launch was charged.
        var day: Int64
    }

    /// A veto against a running activity, which the activity may obey before it expires.
    struct Deferral: Sendable {
        /// When the activity was asked to stop, on CLOCK_BOOTTIME.
        let since: Duration
        let reason: Reason
        let verdict: Verdict
    }

    init(_ request: TaskRequest, _ declaration: TaskDeclaration?, _ needs: Needs, isSimulated: Bool) {
        self.request = request
        self.needs = needs
        self.isSimulated = isSimulated
        lease = declaration?.limits.lease ?? .standard(for: request.kind)
    }

    mutating func becameReady(at now: Moment) {
        guard readyAt == nil else { return }
        readyAt = now
        leaseEnd = lease.duration.map { now.boot + $0 }
        turnEnd = turn.map { now.boot + $0 }
        progress.begin(at: now.monotonic)
        if tracedSince != nil { tracedSince = now }
    }

    /// Adds a report of progress that changed at a time on CLOCK_MONOTONIC.
    mutating func progressed(_ report: TaskProgress, at time: Duration, _ settings: SchedulerSettings) {
        if progress.report(report, at: time, settings) { wasActive = true }
    }

    mutating func becameActive() { wasActive = true }

    mutating func measured(_ cpuTime: Duration, least: Duration) {
        guard measurement == .asked else { return }
        measurement = .known
        if cpuTime - cpuAtLastDue >= least { wasActive = true }
        cpuAtLastDue = cpuTime
    }

    /// Whether the CPU time must be measured now; true once each time that the lease ends.
    mutating func takeMeasurement() -> Bool {
        guard measurement == .due else { return false }
        measurement = .asked
        return true
    }

    mutating func beginExpiring(at now: Moment) {
        guard !isExpiring else { return }
        isExpiring = true
        expiringSince = now.monotonic
    }

    mutating func setTraced(_ isTraced: Bool, at now: Moment) {
        if isTraced {
            if tracedSince == nil { tracedSince = now }
        } else if let since = tracedSince {
            tracedSince = nil
            leaseEnd = leaseEnd.map { $0 + (now.boot - since.boot) }
            turnEnd = turnEnd.map { $0 + (now.boot - since.boot) }
            progress.shift(by: now.monotonic - since.monotonic)
        }
    }

    /// The question for the user about this continued task; `nil` if there is none, and for other kinds.
    mutating func question(at now: Moment, _ settings: SchedulerSettings) -> Rationale? {
        guard request.kind == .continuedProcessing, tracedSince == nil, readyAt != nil else { return nil }
        return progress.question(at: now.monotonic, settings)
    }

    /// The reason why the launch must stop now, because of its lease or its progress; `nil` if it may
    /// continue.
    ///
    /// Renews the lease if it has ended and may be renewed.
    mutating func endOfTime(at now: Moment, _ conditions: Conditions, _ settings: SchedulerSettings)
        -> (Reason, Verdict)?
    {
        guard tracedSince == nil, let readyAt else { return nil }
        if let deferral, now.boot >= deferral.since + settings.deferralTime {
            return (deferral.reason, deferral.verdict)
        }
        if request.kind == .continuedProcessing, let lastChange = progress.lastChange,
            now.monotonic >= lastChange + settings.stallLimit
        {
            return Self.noProgress(
                "less than \(settings.stallLimit.text); a change of completed or total units is progress",
                "\((now.monotonic - lastChange).text)")
        }
        while let end = leaseEnd, now.boot >= end {
            let limit = readyAt.boot + settings.renewalLimit
            guard isRenewable, conditions.isExternalPowerConnected, end < limit, let period = lease.duration
            else { return leaseEnded(readyAt, at: now) }
            guard measurement == .known else {
                if measurement == .none { measurement = .due }
                return nil
            }
            measurement = .none
            guard wasActive else {
                return Self.noProgress(
                    "\(period.text) or less; checkpoints and CPU time count as progress",
                    "more than \(period.text)")
            }
            wasActive = false
            leaseEnd = min(end + period, limit)
        }
        return nil
    }

    private static func noProgress(_ required: String, _ observed: String) -> (Reason, Verdict) {
        (
            .noProgress,
            .stop(
                "Progress",
                Rationale(
                    quantity: "timeSinceProgress", required: required, observed: observed,
                    remedy: "Report progress in smaller steps"))
        )
    }

    private func leaseEnded(_ readyAt: Moment, at now: Moment) -> (Reason, Verdict) {
        let granted = leaseEnd.map { $0 - readyAt.boot } ?? .zero
        return (
            .leaseEnded,
            .stop(
                "Lease",
                Rationale(
                    quantity: "runTime", required: "at most \(granted.text)",
                    observed: (now.boot - readyAt.boot).text,
                    remedy: isRenewable
                        ? "Plug in the charger: on external power, the host renews the lease" : nil),
                since: readyAt.wall)
        )
    }

    /// How long the launch has its slot to itself; `nil` if it does until it ends.
    ///
    /// A person started a launch by `bgtask launch`, so it is not stopped for others.
    private var turn: Duration? {
        guard request.lane.hasTurns, !isSimulated, let duration = lease.duration,
            let standard = Lease.standard(for: request.kind).duration
        else { return nil }
        // An urgent push is short work: others of its lane wait for no longer turns than that.
        let doublings = request.lane == .urgent ? 0 : min(max(0, request.attempts.withoutProgress), 16)
        let turn = standard * (1 << doublings)
        // A lease that is renewed has no end that could limit the turn.
        return isRenewable ? turn : min(turn, duration)
    }

    /// Whether the launch must end as soon as another request waits only for its slot or its end.
    func hasHadTurn(at now: Moment) -> Bool {
        guard id != nil, !isStopping, tracedSince == nil, let turnEnd else { return false }
        return turnEnd <= now.boot
    }

    /// Whether the launch has had a turn at some time, if it does not end before.
    var willHaveHadTurn: Bool { id != nil && !isStopping && tracedSince == nil && turnEnd != nil }

    /// Whether the launch ends soon, because it was asked to.
    var isStopping: Bool { isExpiring || deferral != nil }

    /// The verdict that stops the launch after its turn.
    ///
    /// - Parameters:
    ///   - other: The task that waits for it.
    ///   - object: What that one waits for: `the slot`.
    ///   - now: The present time.
    /// - Returns: The verdict.
    func endOfTurn(for other: TaskIdentifier, waitingFor object: String, at now: Moment) -> Verdict {
        let ran = readyAt.map { now.boot - $0.boot } ?? .zero
        return .stop(
            "Turn",
            Rationale(
                quantity: "runTime",
                required: "at most \((turn ?? .zero).text), because \(other) waits for \(object)",
                observed: ran.elapsedText,
                remedy: "Save a checkpoint more often, so that the next attempt continues from there"),
            since: readyAt?.wall)
    }

    /// The change of the bundle's conduct score because of this launch, in hundredths.
    func conductPoints(_ ending: LaunchEnding, _ settings: SchedulerSettings, at now: Moment) -> Int {
        var points = ending.leakedAssertions > 0 ? -settings.conductLeak : 0
        switch ending.outcome {
        case .killed, .crashed: points -= settings.conductFault
        case .succeeded, .failed, .expired, .cancelled:
            if let expiringSince {
                // A launch that used up what it was granted gets no reward for stopping. Otherwise, a launch
                // that never completes would be rewarded for each attempt.
                let isQuick = now.monotonic - expiringSince <= lease.gracePeriod / 2
                if isQuick, ending.expiration?.isCausedByLaunch != true { points += settings.conductReward }
            } else if ending.outcome == .succeeded, let readyAt, let duration = lease.duration,
                now.boot - readyAt.boot <= duration / 2
            {
                points += settings.conductReward
            }
        case .lost, nil: break
        }
        return points
    }

    /// When the launch must be examined next, on CLOCK_BOOTTIME; `nil` if only an event can change it.
    func nextInstant(at now: Moment, _ settings: SchedulerSettings) -> Duration? {
        guard tracedSince == nil, !isExpiring, id != nil, readyAt != nil else { return nil }
        let turnEnd = turnEnd.flatMap { $0 > now.boot ? $0 : nil }
        // The answer to a measurement is an event, which decides about the end of the lease.
        let leaseEnd = measurement == .asked ? nil : leaseEnd
        guard request.kind == .continuedProcessing, let lastChange = progress.lastChange else {
            return [leaseEnd, turnEnd, deferral.map { $0.since + settings.deferralTime }]
                .compactMap(\.self).min()
        }
        // During a sleep, only CLOCK_BOOTTIME advances. Then this time is too early, and the next call gives
        // a later one.
        let next = progress.stallQuestion(settings) ?? lastChange + settings.stallLimit
        let stall = now.boot + max(.zero, next - now.monotonic)
        return leaseEnd.map { min($0, stall) } ?? stall
    }

    /// When the launch has ended at the latest, if the wall clock is not set; `nil` if nothing limits it, or
    /// if its handler was not called yet.
    ///
    /// The time includes the grace period and, unless the launch's end is awaited, all renewals of the lease.
    ///
    /// - Parameters:
    ///   - awaitedFrom: From when on another request waits only for the end of the launch, on CLOCK_BOOTTIME;
    ///     `nil` if none does.
    ///   - now: The present time.
    ///   - settings: The settings.
    /// - Returns: The time.
    func latestEnd(awaitedFrom: Duration?, at now: Moment, _ settings: SchedulerSettings) -> WallTime? {
        if let expiringSince {
            return now.wall + max(.zero, expiringSince + lease.gracePeriod - now.monotonic)
        }
        guard let readyAt, let leaseEnd, tracedSince == nil else { return nil }
        var last = isRenewable ? max(leaseEnd, readyAt.boot + settings.renewalLimit) : leaseEnd
        if let awaitedFrom, let turnEnd { last = min(last, max(turnEnd, awaitedFrom)) }
        return now.wall + max(.zero, last + lease.gracePeriod - now.boot)
    }

    /// Whether the lease can be renewed.
    ///
    /// Only the standard lease can: a `runtime` in a manifest is a deliberate limit.
    private var isRenewable: Bool {
        switch request.kind {
        case .processing, .activity: lease.duration == Lease.standard(for: request.kind).duration
        case .appRefresh, .continuedProcessing, .push, .transferEvents, .appLaunch: false
        }
    }
}
