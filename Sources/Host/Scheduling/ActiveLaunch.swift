import TaskModel

/// A launch that is under way: from the decision to the end of its last process.
struct ActiveLaunch: Sendable {
    let request: TaskRequest
    let needs: Needs
    let lease: Lease
    let isSimulated: Bool
    /// `nil` until the store gave the launch its number; until then nothing can be told to it.
    var id: LaunchID?
    /// Whether it was asked to stop.
    var isExpiring = false
    /// Whether its CPU limit is lifted.
    var isRelaxed = false
    /// Policies, by their place, against which a simulated launch began; they do not end it until they agreed
    /// once.
    var exempt: Set<Int> = []
    /// What it gets of the machine.
    var priority = LaunchPriority.requested
    /// Activities: what it was asked to stop for.
    var deferral: Deferral?
    /// Activities: whether the device was idle when it began, so that a user can return.
    var beganIdle = false
    /// How to take back that it was counted, if it was.
    var previousLaunch: PreviousLaunch?
    /// Whether it moves.
    var progress = ProgressWatch()

    private var readyAt: Moment?
    /// On CLOCK_MONOTONIC.
    private var expiringSince: Duration?
    /// On CLOCK_BOOTTIME.
    private var leaseEnd: Duration?
    private var wasActive = false
    /// The question for its CPU time, asked whenever its lease is due.
    private enum Measurement { case none, due, asked, known }
    private var measurement = Measurement.none
    private var cpuAtLastDue = Duration.zero
    private var tracedSince: Moment?

    /// What was known of the newest launches before this one, and where this one was counted.
    struct PreviousLaunch: Sendable {
        /// The newest launch of the identifier.
        var ofIdentifier: WallTime?
        /// The bundle's newest refresh or push launch.
        var ofKind: WallTime?
        /// When this launch was counted.
        var countedAt: WallTime
        /// The local day to whose budget this launch was charged.
        var day: Int64
    }

    /// A veto that an activity may heed by itself first.
    struct Deferral: Sendable {
        /// When it was asked, on CLOCK_BOOTTIME.
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
        progress.begin(at: now.monotonic)
        if tracedSince != nil { tracedSince = now }
    }

    mutating func progressed(_ report: TaskProgress, at now: Moment, _ settings: SchedulerSettings) {
        if progress.report(report, at: now.monotonic, settings) { wasActive = true }
    }

    mutating func becameActive() { wasActive = true }

    mutating func measured(_ cpuTime: Duration, least: Duration) {
        guard measurement == .asked else { return }
        measurement = .known
        if cpuTime - cpuAtLastDue >= least { wasActive = true }
        cpuAtLastDue = cpuTime
    }

    /// Whether its CPU time is to be asked for now; true once per lease that is due.
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
            progress.shift(by: now.monotonic - since.monotonic)
        }
    }

    /// What to ask the user about it now; only those that a user watches are asked about.
    mutating func question(at now: Moment, _ settings: SchedulerSettings) -> Rationale? {
        guard request.kind == .continuedProcessing, tracedSince == nil, readyAt != nil else { return nil }
        return progress.question(at: now.monotonic, settings)
    }

    /// Why time ends it, if it does; renews the lease where that is due.
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
                "a change of completed or total units within \(settings.stallLimit.text)",
                "none for \((now.monotonic - lastChange).text)")
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
                        ? "Plug in the charger: on external power the lease renews" : nil),
                since: readyAt.wall)
        )
    }

    /// What its end says of its bundle, in hundredths.
    func conductPoints(_ ending: LaunchEnding, _ settings: SchedulerSettings, at now: Moment) -> Int {
        var points = ending.leakedAssertions > 0 ? -settings.conductLeak : 0
        switch ending.outcome {
        case .killed, .crashed: points -= settings.conductFault
        case .succeeded, .failed, .expired, .cancelled:
            if let expiringSince {
                if now.monotonic - expiringSince <= lease.gracePeriod / 2 { points += settings.conductReward }
            } else if ending.outcome == .succeeded, let readyAt, let duration = lease.duration,
                now.boot - readyAt.boot <= duration / 2
            {
                points += settings.conductReward
            }
        case .lost, nil: break
        }
        return points
    }

    /// When to look again, on CLOCK_BOOTTIME.
    func nextInstant(at now: Moment, _ settings: SchedulerSettings) -> Duration? {
        guard tracedSince == nil, !isExpiring, id != nil, readyAt != nil, measurement != .asked else {
            return nil
        }
        guard request.kind == .continuedProcessing, let lastChange = progress.lastChange else {
            return [leaseEnd, deferral.map { $0.since + settings.deferralTime }].compactMap(\.self).min()
        }
        // In sleep the boot clock runs ahead of the monotonic one; the look is then early and asks again.
        let next = progress.stallQuestion(settings) ?? lastChange + settings.stallLimit
        let stall = now.boot + max(.zero, next - now.monotonic)
        return leaseEnd.map { min($0, stall) } ?? stall
    }

    /// Only the standard lease renews: a manifest's `runtime` is a limit, or an allowance made knowingly.
    private var isRenewable: Bool {
        switch request.kind {
        case .processing, .activity: lease.duration == Lease.standard(for: request.kind).duration
        case .appRefresh, .continuedProcessing, .push, .transferEvents, .appLaunch: false
        }
    }
}
