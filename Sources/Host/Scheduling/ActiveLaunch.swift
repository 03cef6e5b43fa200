import TaskModel

/// A launch that is under way: from the decision to the end of its last process.
struct ActiveLaunch: Sendable {
    let request: TaskRequest
    let needs: Needs
    let lease: Lease
    let isSimulated: Bool
    /// `nil` until the store gave the launch its number; until then nothing can be told to it.
    var id: LaunchID?
    /// Whether it was told to stop.
    var isExpiring = false
    /// Whether its CPU limit is lifted.
    var isRelaxed = false
    /// A simulated launch may start without the power or network that it needs, but it does not outlive their loss.
    private(set) var hadPower: Bool
    private(set) var hadNetwork: Bool

    private var readyAt: Moment?
    /// On CLOCK_BOOTTIME.
    private var leaseEnd: Duration?
    private var wasActive = false
    /// The question for its CPU time, asked whenever its lease is due.
    private enum Measurement { case none, due, asked, known }
    private var measurement = Measurement.none
    private var cpuAtLastDue = Duration.zero
    private var progress: TaskProgress?
    /// On CLOCK_MONOTONIC: a machine that sleeps makes no progress and is not to blame.
    private var lastChange: Duration?
    private var tracedSince: Moment?

    init(_ request: TaskRequest, _ declaration: TaskDeclaration?, _ needs: Needs, isSimulated: Bool) {
        self.request = request
        self.needs = needs
        self.isSimulated = isSimulated
        lease = declaration?.limits.lease ?? .standard(for: request.kind)
        hadPower = !isSimulated
        hadNetwork = !isSimulated
    }

    mutating func becameReady(at now: Moment) {
        guard readyAt == nil else { return }
        readyAt = now
        leaseEnd = lease.duration.map { now.boot + $0 }
        lastChange = now.monotonic
        if tracedSince != nil { tracedSince = now }
    }

    mutating func progressed(_ report: TaskProgress, at now: Moment) {
        guard report.completed != progress?.completed || report.total != progress?.total else { return }
        progress = report
        lastChange = now.monotonic
        wasActive = true
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

    mutating func setTraced(_ isTraced: Bool, at now: Moment) {
        if isTraced {
            if tracedSince == nil { tracedSince = now }
        } else if let since = tracedSince {
            tracedSince = nil
            leaseEnd = leaseEnd.map { $0 + (now.boot - since.boot) }
            lastChange = lastChange.map { $0 + (now.monotonic - since.monotonic) }
        }
    }

    mutating func observe(_ conditions: Conditions) {
        if conditions.isExternalPowerConnected { hadPower = true }
        if conditions.isNetworkThere { hadNetwork = true }
    }

    /// Why the conditions end it, if they do.
    ///
    /// Unknown is lost: it never satisfies a constraint.
    func reasonOfConditions(_ conditions: Conditions) -> Reason? {
        if needs.externalPower && hadPower && !conditions.isExternalPowerConnected {
            return .externalPowerLost
        }
        if needs.network && hadNetwork && !conditions.isNetworkThere { return .networkLost }
        return nil
    }

    /// Why time ends it, if it does; renews the lease where that is due.
    mutating func reasonOfTime(at now: Moment, _ conditions: Conditions, _ settings: SchedulerSettings)
        -> Reason?
    {
        guard tracedSince == nil, let readyAt else { return nil }
        if request.kind == .continuedProcessing, let lastChange,
            now.monotonic >= lastChange + settings.stallLimit
        {
            return .noProgress
        }
        while let end = leaseEnd, now.boot >= end {
            guard isRenewable, conditions.isExternalPowerConnected else { return .leaseEnded }
            let limit = readyAt.boot + settings.renewalLimit
            guard end < limit, let period = lease.duration else { return .leaseEnded }
            guard measurement == .known else {
                if measurement == .none { measurement = .due }
                return nil
            }
            measurement = .none
            guard wasActive else { return .noProgress }
            wasActive = false
            leaseEnd = min(end + period, limit)
        }
        return nil
    }

    /// When to look again, on CLOCK_BOOTTIME.
    func nextInstant(at now: Moment, _ settings: SchedulerSettings) -> Duration? {
        guard tracedSince == nil, !isExpiring, id != nil, readyAt != nil, measurement != .asked else {
            return nil
        }
        guard request.kind == .continuedProcessing, let lastChange else { return leaseEnd }
        // In sleep the boot clock runs ahead of the monotonic one; the look is then early and asks again.
        let stall = now.boot + max(.zero, lastChange + settings.stallLimit - now.monotonic)
        return leaseEnd.map { min($0, stall) } ?? stall
    }

    /// Only the standard lease renews: a manifest's `runtime` is a limit, or an allowance made knowingly.
    private var isRenewable: Bool {
        switch request.kind {
        case .processing, .activity: lease.duration == Lease.standard(for: request.kind).duration
        case .appRefresh, .continuedProcessing, .push, .transferEvents: false
        }
    }
}
