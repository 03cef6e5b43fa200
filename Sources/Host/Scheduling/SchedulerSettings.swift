public import TaskModel

/// The numbers of the scheduler: every threshold, weight, limit and period, in this one table.
///
/// Apple publishes few of them. Those that it does are marked with their source; the rest are ours, with the
/// reason. `Documentation/Scheduling.md` describes the same for people.
public struct SchedulerSettings: Equatable, Sendable, Codable {
    // MARK: The score

    /// How much each policy's score counts.
    public var weights = PolicyWeights()
    /// What policies give where a condition is not the best one.
    public var scores = PolicyScores()
    /// What the weighted mean must reach while the deadline is far: 0.6.
    ///
    /// Ours: idle on mains (0.91) and idle on a battery of 40 % (0.71) start at once; a refresh on a battery
    /// of 30 % with the user there (0.56), or on a metered network with the user there and 80 % (0.58), waits
    /// for better times or the deadline.
    public var scoreThreshold = 0.6

    // MARK: Slots

    /// Discretionary launches at once: 2.
    ///
    /// Ours: one slow job does not hold up the rest of a small machine.
    public var discretionarySlots = 2
    /// Discretionary launches at once while it is warm, or the temperature is unknown: 1.
    public var discretionarySlotsWhenFair = 1
    /// Discretionary launches of one bundle while a bundle without a launch waits: 1.
    ///
    /// Ours: fairness between vendors.
    public var discretionarySlotsPerBundle = 1
    /// Continued launches at once: 3.
    ///
    /// Ours: Apple says that there is a limit and not which.
    public var continuedSlots = 3
    /// Launches for urgent pushes at once, besides the others: 2.
    ///
    /// Ours: one launch of 30 s must not hold up the next.
    public var urgentSlots = 2
    /// Launches of apps at once, besides the others: 2.
    ///
    /// Ours: a folder full of new plugins does not fill a small machine.
    public var appSlots = 2

    // MARK: Power, heat, pressure

    /// On battery below this many percent nothing discretionary starts: 20.
    ///
    /// Apple names a critically low battery, about 20 %, among its factors.
    public var batteryStartPercent = 20
    /// On battery below this many percent discretionary launches expire: 10.
    ///
    /// Ours: half of the above.
    public var batteryEndPercent = 10
    /// Between two launches that memory pressure ends: 10 s.
    ///
    /// Ours: grace and the kernel's averages need about as long.
    public var pressurePeriod = Duration.seconds(10)

    // MARK: Rates and budgets

    /// Between refresh launches of one bundle: 15 min.
    ///
    /// Apple asks for no more than 3 pushes an hour and names no figure here.
    public var refreshSpacing = Duration.seconds(900)
    /// Between push launches of one bundle: 15 min.
    ///
    /// Apple: 14 pushes may give 7 launches, about 15 min apart.
    public var pushSpacing = Duration.seconds(900)
    /// Between two launches of one identifier, whatever deferrable kind it is of: 10 s, from begin to begin.
    ///
    /// Ours (Documentation/Decisions/0007): a chain that submits its next request without a begin date goes
    /// on as soon as it may where a piece takes longer, and costs the host next to nothing where it takes
    /// none.
    public var launchSpacing = Duration.seconds(10)
    /// Launches of one deferrable kind per bundle within an hour: 720.
    ///
    /// Ours: ten tasks that each run once a minute, or two chains at their spacing.
    public var launchesPerHour = 720
    /// Refresh launches per bundle and day: 48.
    ///
    /// Ours: one in half an hour.
    public var refreshLaunchesPerDay = 48
    /// CPU time of discretionary launches per bundle and day: 30 min.
    ///
    /// Ours: about 1 % of a day of two cores.
    public var cpuPerDay = Duration.seconds(1800)

    // MARK: Leases, stalls, renewals

    /// How long a continued launch may go without a change of progress, on CLOCK_MONOTONIC: 60 s.
    ///
    /// Ours: Apple names none.
    public var stallLimit = Duration.seconds(60)
    /// After how long without a change the user is asked whether to keep going: 30 s.
    ///
    /// Half of the limit.
    public var stallQuestion = Duration.seconds(30)
    /// Below this share of its own median rate a launch counts as slow: a quarter.
    public var slowShare = 0.25
    /// Over what periods the rate of progress is taken: 10 s.
    ///
    /// Three of them are "of late", and six at least "usually". Ours: a single report in 10 s gives no rate,
    /// and 30 s are three periods.
    public var ratePeriod = Duration.seconds(10)
    /// How long renewals may keep a processing launch going: 8 h from its *ready*.
    ///
    /// Ours: a night on the charger.
    public var renewalLimit = Duration.seconds(8 * 3600)
    /// CPU time within one period of a lease that counts as a sign of work: 0.1 s, more than waking to look
    /// around costs.
    public var leastCPU = Duration.milliseconds(100)

    /// How long an activity has to stop by itself once it is asked to defer: 10 s.
    ///
    /// Ours: as long as its grace; Apple's tells and waits.
    public var deferralTime = Duration.seconds(10)

    // MARK: Requests

    /// Pending refresh requests of one bundle, its schedules' not counted: 1, as Apple.
    public var pendingRefreshLimit = 1
    /// Pending processing requests of one bundle, its schedules' not counted: 10, as Apple.
    public var pendingProcessingLimit = 10
    /// From the earliest begin date to the deadline, where no schedule sets one: 7 days.
    ///
    /// Apple's log shows deadlines of days.
    public var deadlineDelay = Duration.seconds(7 * 86_400)
    /// The same for a bundle in use: 2 days.
    public var deadlineDelayInUse = Duration.seconds(2 * 86_400)
    /// A bundle is in use for this long after its newest use: 7 days.
    public var usePeriod = Duration.seconds(7 * 86_400)
    /// The first back-off of a request that is put back: 5 s, doubled with every attempt.
    public var backOffBase = Duration.seconds(5)
    /// The longest back-off: 10 min.
    ///
    /// Ours: at most one standard lease.
    public var backOffLimit = Duration.seconds(600)
    /// How long to wait before asking again for a scheduled request that could not be stored: 60 s.
    public var scheduleRetryDelay = Duration.seconds(60)

    // MARK: Usage and conduct

    /// Days of history before the hours of use count: 3.
    ///
    /// Ours: fewer are chance.
    public var usageDays: Int64 = 3
    /// Days of history before the weekday counts as well as the hour: 14, at least 1.
    ///
    /// Ours: each weekday has come twice.
    public var usageWeekdayDays: Int64 = 14
    /// Half of the weeks after which the sums of use are halved, as if half of the time had passed: 8.
    ///
    /// Ours: habits change with seasons.
    public var usageWeeks: Int64 = 8
    /// Days after which conduct is forgotten: 7.
    public var conductDays: Int64 = 7
    /// Conduct of a bundle that nothing is known of: 0.75.
    ///
    /// Ours: room below, and some above.
    public var conductStart = 0.75
    /// What a kill or crash costs, in hundredths: 20.
    ///
    /// Ours: four in a week bring it to 0.
    public var conductFault = 20
    /// What an assertion leaked costs, in hundredths: 10.
    public var conductLeak = 10
    /// What an end before half of the lease brings, or one within half of the grace, in hundredths: 2.
    public var conductReward = 2
    /// The most that good conduct adds, in hundredths: 25.
    ///
    /// Ours: the score starts at 0.75 and is 1 at this limit. A higher one would only let a bundle save up
    /// for later crashes.
    public var conductCeiling = 25
    /// The most that bad conduct takes away, in hundredths: 75.
    ///
    /// Ours: the score is 0 at this limit. A higher one would only delay recovery.
    public var conductFloor = 75

    // MARK: The operator's switches

    /// Whether any bundle may refresh: the host-wide switch.
    public var refresh = RefreshPermission.available
    /// The administrator's switches of single bundles: `restricted` stands above the user's own, the others
    /// below it.
    public var bundleRefresh: [BundleIdentifier: RefreshPermission] = [:]
    /// Whether processing runs while a user is active: for kiosks and servers.
    public var ignoresDeviceActivity = false

    /// Makes the standard settings.
    public init() {}

    /// The pending requests of this kind that one bundle may have; `nil` has no limit.
    public func pendingLimit(for kind: TaskKind) -> Int? {
        switch kind {
        case .appRefresh: pendingRefreshLimit
        case .processing: pendingProcessingLimit
        case .continuedProcessing, .push, .transferEvents, .activity, .appLaunch: nil
        }
    }

    /// How long a request waits that is put back after its launch number `attempt`, from 1.
    public func backOff(afterAttempt attempt: Int) -> Duration {
        var delay = backOffBase
        for _ in 1..<max(2, attempt) where attempt > 1 && delay < backOffLimit { delay *= 2 }
        return min(delay, backOffLimit)
    }

    /// The deadline of a submission that no schedule made.
    ///
    /// - Parameters:
    ///   - submission: What was submitted.
    ///   - kind: Its kind; `nil` where it is not known.
    ///   - lastUsed: The newest use of its bundle; `nil` if none is known.
    ///   - now: When it was submitted.
    /// - Returns: Two or seven days after its earliest begin date; the end of an activity's window.
    public func deadline(
        for submission: TaskSubmission, kind: TaskKind? = nil, lastUsed: WallTime? = nil, at now: Moment
    ) -> WallTime {
        if kind == .activity, let end = submission.deadline { return max(end, now.wall) }
        let isInUse = lastUsed.map { now.wall < $0 + usePeriod } ?? false
        let delay = isInUse ? deadlineDelayInUse : deadlineDelay
        return max(submission.earliestBeginDate ?? now.wall, now.wall) + delay
    }
}

/// How much each policy's score counts in the mean; a policy without an opinion on a request counts nothing.
///
/// Ours; Apple's own weights, seen in its logs, run from 1 to 50 and put the charger and the user before all
/// else.
public struct PolicyWeights: Equatable, Sendable, Codable {
    /// Preference for external power: 4.
    public var externalPower = 4.0
    /// Charge of the battery: 3.
    public var batteryLevel = 3.0
    /// Cost of the network, for work that needs it: 4.
    public var network = 4.0
    /// Heat: 3.
    public var thermal = 3.0
    /// Whether a user is active: 5.
    public var deviceActivity = 5.0
    /// Whether pressure and low-power mode are known to be absent: 1 each.
    public var pressure = 1.0
    /// See ``pressure``.
    public var lowPowerMode = 1.0
    /// How soon the bundle is usually used: 5.
    public var usage = 5.0
    /// How the bundle behaved: 3.
    public var conduct = 3.0
    /// Whether the machine is busy anyway: 2.
    public var coalescing = 2.0

    /// Makes the standard weights.
    public init() {}
}

/// The scores that policies give to a state of the machine that allows a start but is not the best one.
///
/// Each is 0 through 1, where 1 is the score of the best state: external power, an idle device, an unmetered
/// network, a nominal temperature. The charge of a battery, the hours of use and the conduct of a bundle are
/// scores by themselves and need no number here. All are ours: Apple publishes its factors, not their scores.
public struct PolicyScores: Equatable, Sendable, Codable {
    /// External power is not connected, or unknown: 0.3.
    ///
    /// With the standard weights, a refresh on a battery of 40 % starts at once on an idle device (0.71), and
    /// waits while the user is active and the charge is 30 % (0.56).
    public var externalPowerMissing = 0.3
    /// The charge of the battery is unknown: 0.2.
    ///
    /// As the lowest charge at which deferrable work starts.
    public var batteryUnknown = 0.2
    /// The network is metered: 0.3.
    ///
    /// The user pays for it, as for the charge of a battery.
    public var networkMetered = 0.3
    /// The machine is warm, or its temperature unknown: 0.5.
    ///
    /// Halfway: one launch still may run then.
    public var thermalFair = 0.5
    /// A user is active, or whether one is active is unknown: 0.4.
    ///
    /// Below the threshold, so that deferrable work needs good conditions elsewhere to start beside a user.
    public var userActive = 0.4
    /// Whether there is pressure on CPU, memory or disks is unknown: 0.5.
    ///
    /// Halfway between pressure, which holds deferrable work, and none.
    public var pressureUnknown = 0.5
    /// Whether low-power mode is on is unknown: 0.5.
    ///
    /// Halfway between on, which holds deferrable work, and off.
    public var lowPowerModeUnknown = 0.5
    /// No launch runs: 0.5.
    ///
    /// Half of what work gets that starts while the machine is busy anyway.
    public var nothingRunning = 0.5

    /// Makes the standard scores.
    public init() {}
}
