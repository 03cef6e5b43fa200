public import TaskModel

/// The settings of the scheduler: all thresholds, weights, limits and periods.
///
/// "Apple" marks a number that Apple publishes, with its source. "Our choice" marks a number of this project,
/// with the reason. `Documentation/Scheduling.md` explains how the scheduler uses them.
public struct SchedulerSettings: Equatable, Sendable, Codable {
    // MARK: The score

    /// The weight of each policy's score.
    public var weights = PolicyWeights()
    /// The scores for conditions that allow a start but are not the best.
    public var scores = PolicyScores()
    /// The weighted mean of the scores that a request needs at its earliest begin date, 0 through 1: 0.6.
    ///
    /// The needed mean falls to 0 at the deadline.
    ///
    /// Our choice: on an idle device, a request starts at once with external power (0.91) or with a battery
    /// at 40 % (0.71). While the user is active, a refresh waits with a battery at 30 % (0.56), or with a
    /// metered network and a battery at 80 % (0.58).
    ///
    /// With 0, scores delay no request: it starts with the first event or alarm in its window.
    public var scoreThreshold = 0.6
    /// How much better than now a score must be that is expected later in the window, so that a request waits
    /// for it, 0 through 1: 0.05.
    ///
    /// With 1, no request waits for a better score.
    ///
    /// Our choice: about a quarter of what a certain use of the bundle, an idle device or external power adds
    /// to the score.
    public var scoreMargin = 0.05

    // MARK: Slots

    /// The maximum number of processing launches and activities at the same time: 2.
    ///
    /// Our choice: one slow task must not hold up all others on a small machine.
    public var discretionarySlots = 2
    /// The maximum number of refreshes, deferrable pushes and transfer events at the same time, in addition
    /// to ``discretionarySlots``: 2.
    ///
    /// Our choice: work of seconds must not wait for work of hours.
    public var shortSlots = 2
    /// The maximum number of all deferrable launches while the thermal state is `fair` or unknown: 1.
    ///
    /// Our choice: with one launch, requests do not wait forever, and the machine gets little warmer.
    public var discretionarySlotsWhenFair = 1
    /// The number of launches from which a bundle gets no free slot while another bundle waits: 1.
    ///
    /// The launches of ``discretionarySlots`` and of ``shortSlots`` count apart. If no bundle with fewer
    /// launches has a request that may start, the bundle still gets the slot.
    ///
    /// Our choice: fairness between vendors.
    public var discretionarySlotsPerBundle = 1
    /// The maximum number of continued launches at the same time: 3.
    ///
    /// Our choice: Apple has a limit, but does not publish it.
    public var continuedSlots = 3
    /// The maximum number of launches for urgent pushes at the same time, in addition to other launches: 2.
    ///
    /// Our choice: one push with a lease of 30 s must not hold up the next one.
    public var urgentSlots = 2
    /// The maximum number of app launches at the same time, in addition to other launches: 2.
    ///
    /// Our choice: many new plugins at once must not overload a small machine.
    public var appSlots = 2

    // MARK: Power, heat, pressure

    /// The battery charge below which no deferrable request starts without external power, in percent: 20.
    ///
    /// Apple: a critically low battery, about 20 %, is one of its factors.
    public var batteryStartPercent = 20
    /// The battery charge below which deferrable launches expire without external power, in percent: 10.
    ///
    /// Our choice: half of ``batteryStartPercent``.
    public var batteryEndPercent = 10
    /// The longest time without a break for which pressure on CPU or disks holds deferrable requests: 30 min.
    ///
    /// Then they start one at a time, at idle priority.
    ///
    /// Our choice: a large build or a backup ends before that; work that never ends must not hold all other
    /// work.
    public var pressureLimit = Duration.seconds(1800)
    /// The longest time for which a conflict that only one of two bundles states may hold a request of the
    /// other one: 30 min.
    ///
    /// Then the launch that holds it is stopped, and put back behind it.
    ///
    /// Our choice: three leases of processing, so only launches whose leases renew, and continued tasks, are
    /// stopped; the bundle that is held can miss a refresh, and not a day.
    public var conflictLimit = Duration.seconds(1800)
    /// The least time between two launches that the host stops because of memory pressure: 10 s.
    ///
    /// Our choice: a grace period, and the kernel's averages of pressure, take about as long.
    public var pressurePeriod = Duration.seconds(10)

    // MARK: Rates and budgets

    /// The least time between the starts of two refresh launches of a bundle: 15 min.
    ///
    /// Our choice: Apple asks for at most 3 pushes an hour, and publishes no number for refresh.
    public var refreshSpacing = Duration.seconds(900)
    /// The least time from any push launch of a bundle to its next push launch of priority 5: 15 min.
    ///
    /// Apple's example: 14 pushes may give 7 launches, about 15 min apart.
    public var pushSpacing = Duration.seconds(900)
    /// The least time between the starts of two deferrable launches of one identifier: 10 s.
    ///
    /// Our choice (Documentation/Decisions/0007): a task may submit its next request each time it runs,
    /// without a begin date. Such a task then makes progress, but costs the host little even if each launch
    /// is very short.
    public var launchSpacing = Duration.seconds(10)
    /// The maximum number of launches of one deferrable kind, for each bundle and hour: 720.
    ///
    /// Our choice: enough for ten tasks that each run once a minute, or for two tasks that run every 10 s.
    public var launchesPerHour = 720
    /// How many requests the handlers of one bundle may submit at once: 600; as many are added each minute.
    ///
    /// Submissions of clients and schedules do not count.
    ///
    /// Our choice: a handler that divides its work into hundreds of requests is fine; one that submits in a
    /// loop would fill the store and keep the host from other work.
    public var submissionsPerMinute = 600
    /// The maximum number of refresh launches for each bundle and day: 48.
    ///
    /// Our choice: one every half hour.
    public var refreshLaunchesPerDay = 48
    /// The share of a bundle's daily budgets that is available at midnight, 0 through 1: 0.25.
    ///
    /// The rest is added during the day. With 1, the whole budget is available at midnight.
    ///
    /// Our choice: a quarter is enough for a morning's bursts, and three quarters are left for the day.
    public var budgetBurst = 0.25
    /// The maximum CPU time of deferrable launches for each bundle and day: 30 min.
    ///
    /// Our choice: about 1 % of the CPU time that two cores have in a day.
    public var cpuPerDay = Duration.seconds(1800)

    // MARK: Leases, stalls, renewals

    /// The time without a change of progress, on CLOCK_MONOTONIC, after which a continued launch is stopped:
    /// 60 s.
    ///
    /// Our choice: Apple publishes no number.
    public var stallLimit = Duration.seconds(60)
    /// The time without a change of progress after which the host asks the user whether to keep going: 30 s.
    ///
    /// Our choice: half of ``stallLimit``.
    public var stallQuestion = Duration.seconds(30)
    /// A continued launch is slow if its rate of progress falls below this share of its usual rate: 0.25.
    ///
    /// Our choice: Apple asks about slow tasks, but publishes no number.
    public var slowShare = 0.25
    /// The period of one measurement of the rate of progress: 10 s.
    ///
    /// The host compares the mean of the last three periods with the median of six or more periods before
    /// them. Our choice: a launch that reports once in 10 s must not look slow.
    public var ratePeriod = Duration.seconds(10)
    /// The longest run time, from *ready* on, of a processing launch or activity whose lease renews: 8 h.
    ///
    /// Our choice: a night on the charger.
    public var renewalLimit = Duration.seconds(8 * 3600)
    /// The least CPU time within one period of a lease that counts as progress: 0.1 s.
    ///
    /// Our choice: more than a process uses to wake up and sleep again.
    public var leastCPU = Duration.milliseconds(100)

    /// The time that an activity has to stop by itself after the host asks it to defer: 10 s.
    ///
    /// Our choice: as long as its grace period; Apple only asks and sets no limit.
    public var deferralTime = Duration.seconds(10)

    // MARK: Requests

    /// The maximum number of pending refresh requests of a bundle: 1, as for Apple.
    ///
    /// Requests of schedules do not count.
    public var pendingRefreshLimit = 1
    /// The maximum number of pending processing requests of a bundle: 10, as for Apple.
    ///
    /// Requests of schedules do not count.
    public var pendingProcessingLimit = 10
    /// The time from the earliest begin date to the deadline, for requests without a schedule: 7 days.
    ///
    /// Our choice: Apple's log shows deadlines of several days.
    public var deadlineDelay = Duration.seconds(7 * 86_400)
    /// The same time for a bundle in use: 2 days.
    public var deadlineDelayInUse = Duration.seconds(2 * 86_400)
    /// A bundle is in use for this long after its newest use: 7 days.
    ///
    /// Our choice: habits repeat every week.
    public var usePeriod = Duration.seconds(7 * 86_400)
    /// The longest time by which the host delays a wake-up for a request, so that it starts with others: 15
    /// min.
    ///
    /// It applies to requests whose manifest or client gives no tolerance. The delay is a quarter of the time
    /// to the earliest begin date, if that is shorter. With 0, the host wakes at the earliest begin date.
    ///
    /// Our choice: a request for an hour from now can wait a quarter of an hour more.
    public var wakeDelay = Duration.seconds(900)
    /// The back-off of a request after its first attempt without progress: 5 s.
    ///
    /// It doubles with each further attempt in a row.
    ///
    /// Our choice: short enough to see the request resume.
    public var backOffBase = Duration.seconds(5)
    /// The longest back-off: 1 h.
    ///
    /// Our choice: a request that never gets further costs at most one short launch an hour.
    public var backOffLimit = Duration.seconds(3600)
    /// The longest back-off of a request whose launch was lost with the launcher or the host: 10 min.
    ///
    /// Our choice: shorter than ``backOffLimit``, because most lost launches are not the cause of the loss.
    public var lostBackOffLimit = Duration.seconds(600)
    /// The number of attempts in a row without progress after which a request has failed: 8.
    ///
    /// Our choice: with the standard back-offs, the eighth attempt begins about 10 min after the first.
    public var attemptsWithoutProgress = 8
    /// The number of crashes in a row after which the host pauses the bundle: 5; 0 switches this off.
    ///
    /// Our choice, as systemd's `StartLimitBurst`. A successful launch begins a new row.
    public var crashLimit = 5
    /// The time within which these crashes must occur: 5 min.
    ///
    /// Our choice: a request with `retry` and the default back-off of 30 s crashes four times in 5 min, so
    /// the retries that its manifest demands do not cause a pause.
    public var crashPeriod = Duration.seconds(300)
    /// The time until the scheduler submits a scheduled request again that could not be stored: 60 s.
    ///
    /// Our choice: a minute is soon enough for deferrable tasks.
    public var scheduleRetryDelay = Duration.seconds(60)

    // MARK: Usage and conduct

    /// The days of history that the host needs before hours of use affect the score: 3.
    ///
    /// Our choice: a pattern in fewer days may be chance.
    public var usageDays: Int64 = 3
    /// The days of history that the host needs before it also distinguishes weekdays: 14; at least 1.
    ///
    /// Our choice: in 14 days, each weekday occurs twice.
    public var usageWeekdayDays: Int64 = 14
    /// Half the number of weeks after which the host halves the counts of uses: 8.
    ///
    /// So it does after 16 weeks, when the counts then stand for 8 weeks, and again every 8 weeks.
    ///
    /// The length of the history is halved too, so that the shares stay the same and newer uses count more.
    ///
    /// Our choice: habits change with the seasons.
    public var usageWeeks: Int64 = 8
    /// The days after which the host forgets conduct: 7, which is the most that the store keeps.
    public var conductDays: Int64 = 7
    /// The conduct score of a new bundle, 0 through 1: 0.75.
    ///
    /// Our choice: the score can fall a lot, and rise a little.
    public var conductStart = 0.75
    /// What a kill or crash takes from the conduct score, in hundredths: 20.
    ///
    /// Our choice: four in a week bring the score to 0.
    public var conductFault = 20
    /// What a launch that leaks assertions takes from the conduct score, in hundredths: 10.
    ///
    /// A launch leaks an assertion if it completes without ending it. Our choice: half of ``conductFault``.
    public var conductLeak = 10
    /// What a launch adds to the conduct score if it stops early, in hundredths: 2.
    ///
    /// Early means success within half of the lease or, after an expiration that the launch did not cause, an
    /// end within half of the grace period. Our choice: good conduct counts slowly.
    public var conductReward = 2
    /// The most that good conduct adds to the score, in hundredths: 25.
    ///
    /// Our choice: the score starts at 0.75 and is 1 at this limit. With a higher limit, later crashes would
    /// not lower the score at once.
    public var conductCeiling = 25
    /// The most that bad conduct takes from the score, in hundredths: 75.
    ///
    /// Our choice: the score is 0 at this limit. With a higher limit, later good conduct would not raise the
    /// score at once.
    public var conductFloor = 75

    // MARK: The operator's switches

    /// The host-wide switch for background refresh; unless it is `available`, it overrides the switches of
    /// bundles.
    public var refresh = RefreshPermission.available
    /// The configured switches for background refresh of single bundles.
    ///
    /// `restricted` overrides the user's own switch; the user's own switch overrides the other values.
    public var bundleRefresh: [BundleIdentifier: RefreshPermission] = [:]
    /// The configured weights of single bundles, each more than 0; other bundles have the weight 1.
    ///
    /// A bundle of weight 2 gets free slots as if it had used half as much.
    public var bundleWeights: [BundleIdentifier: Double] = [:]
    /// Whether processing tasks and activities also run while a user is active; for kiosks and servers.
    public var ignoresDeviceActivity = false

    /// Creates the default settings.
    public init() {}

    /// The weight of a bundle in the order for free slots.
    public func weight(of bundle: BundleIdentifier) -> Double { bundleWeights[bundle] ?? 1 }

    /// The maximum number of pending requests of this kind for a bundle; `nil` means no limit.
    public func pendingLimit(for kind: TaskKind) -> Int? {
        switch kind {
        case .appRefresh: pendingRefreshLimit
        case .processing: pendingProcessingLimit
        case .continuedProcessing, .push, .transferEvents, .activity, .appLaunch: nil
        }
    }

    /// Calculates the deadline of a submission that was not made by a schedule.
    ///
    /// - Parameters:
    ///   - submission: The submission.
    ///   - kind: The kind of the task; `nil` if it is not known.
    ///   - lastUsed: When the bundle was last used; `nil` if none is known.
    ///   - now: The time of the submission.
    /// - Returns: The end of the window for an activity that has one. For a client's deadline at which the
    ///   request starts, that date; for one at which it fails, the date after nine tenths of the time until
    ///   then, so that the last tenth is left for vetoes to pass. Otherwise ``deadlineDelay`` or
    ///   ``deadlineDelayInUse`` after the earliest begin date. Never a date in the past.
    public func deadline(
        for submission: TaskSubmission, kind: TaskKind? = nil, lastUsed: WallTime? = nil, at now: Moment
    ) -> WallTime {
        if kind == .activity, let end = submission.deadline { return max(end, now.wall) }
        if let limit = submission.startDeadline {
            let begin = max(submission.earliestBeginDate ?? now.wall, now.wall)
            let reserve = limit.action == .fail ? (limit.date - begin) / 10 : .zero
            return max(begin, limit.date + (.zero - reserve))
        }
        let isInUse = lastUsed.map { now.wall < $0 + usePeriod } ?? false
        let delay = isInUse ? deadlineDelayInUse : deadlineDelay
        return max(submission.earliestBeginDate ?? now.wall, now.wall) + delay
    }
}
