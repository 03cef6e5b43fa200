import Scheduling

/// The keys of all settings in `Scheduling/SchedulerSettings.swift`.
extension SettingTable {
    static let scheduling: [SettingKey] = [
        .decimal(
            "scheduling.scoreThreshold", \.scheduler.scoreThreshold, 0...1,
            "The weighted mean of its scores that a request needs to start. This limit falls from the earliest begin date on, and is 0 at the deadline. Our choice: a request starts at once on an idle machine with external power (0.91) or a battery at 40 % (0.71)"
        ),
        .decimal(
            "scheduling.scoreMargin", \.scheduler.scoreMargin, 0...1,
            "How much better a score must be that is expected later in the window of a request, so that the request waits for it. With 1, no request waits for a better score. Our choice: about a quarter of what external power or an idle device adds"
        ),
        .integer(
            "scheduling.discretionarySlots", \.scheduler.discretionarySlots, 0...64,
            "The largest number of processing launches and activities at a time. Our choice: one slow job must not hold up all others on a small machine"
        ),
        .integer(
            "scheduling.shortSlots", \.scheduler.shortSlots, 0...64,
            "The largest number of refreshes, deferrable pushes and transfer events at a time, in addition to discretionarySlots. Our choice: work of seconds must not wait for work of hours"
        ),
        .integer(
            "scheduling.discretionarySlotsWhenFair", \.scheduler.discretionarySlotsWhenFair, 0...64,
            "The largest number of all deferrable launches at a time while the machine is warm, or its temperature is unknown"
        ),
        .integer(
            "scheduling.discretionarySlotsPerBundle", \.scheduler.discretionarySlotsPerBundle, 1...64,
            "The largest number of launches of one bundle at a time, counted apart for discretionarySlots and shortSlots, while a bundle with fewer launches waits. Our choice: fairness between vendors"
        ),
        .integer(
            "scheduling.continuedSlots", \.scheduler.continuedSlots, 0...64,
            "The largest number of continued launches at a time. Our choice: Apple has a limit, but does not publish it"
        ),
        .integer(
            "scheduling.urgentSlots", \.scheduler.urgentSlots, 0...64,
            "The largest number of launches for urgent pushes at a time. Our choice: one launch of 30 s must not hold up the next"
        ),
        .integer(
            "scheduling.appSlots", \.scheduler.appSlots, 0...64,
            "The largest number of launches of apps at a time. Our choice: many new plugins at once must not overload a small machine"
        ),
        .integer(
            "scheduling.batteryStartPercent", \.scheduler.batteryStartPercent, 0...100,
            "Without external power, no deferrable launch starts while the battery charge is lower. Apple mentions a critically low battery, which is about 20 %"
        ),
        .integer(
            "scheduling.batteryEndPercent", \.scheduler.batteryEndPercent, 0...100,
            "Without external power, deferrable launches stop when the battery charge is lower. Our choice: half of batteryStartPercent"
        ),
        .duration(
            "scheduling.pressureLimit", \.scheduler.pressureLimit, .zero ... .seconds(366 * 86_400),
            "The longest time without a break for which pressure on CPU or disks holds deferrable launches. Then they run one at a time, at idle priority. Our choice: a large build ends before that, and work that never ends must not hold all other work"
        ),
        .duration(
            "scheduling.conflictLimit", \.scheduler.conflictLimit, .seconds(60) ... .seconds(366 * 86_400),
            "The longest time for which a launch may hold a request of another bundle because of conflicts that only its own manifest states. Then the launch is stopped, and put back behind that request. Our choice: three leases of processing"
        ),
        .duration(
            "scheduling.pressurePeriod", \.scheduler.pressurePeriod, .seconds(1) ... .seconds(600),
            "The time between two launches that the host stops because of memory pressure. Our choice: the grace period and the averages of the kernel need about as long"
        ),
        .duration(
            "scheduling.refreshSpacing", \.scheduler.refreshSpacing, .zero ... .seconds(86_400),
            "The time between two refresh launches of a bundle. Apple asks for at most 3 pushes an hour, and gives no number for refresh"
        ),
        .duration(
            "scheduling.pushSpacing", \.scheduler.pushSpacing, .zero ... .seconds(86_400),
            "The time from a push launch of a bundle to its next push launch of priority 5. Pushes of priority 10 do not wait for it. Apple's example: 14 pushes give 7 launches, about 15 min apart"
        ),
        .duration(
            "scheduling.launchSpacing", \.scheduler.launchSpacing, .zero ... .seconds(86_400),
            "The time between the starts of two launches of one task. It does not apply to continued tasks, to bgtask launch, and to further attempts of one request, which wait for their back-off. Our choice: a task that always submits its next request makes progress, and costs next to nothing"
        ),
        .integer(
            "scheduling.launchesPerHour", \.scheduler.launchesPerHour, 1...100_000,
            "The largest number of launches of one deferrable kind, per bundle and hour. Our choice: enough for ten tasks that each run once a minute"
        ),
        .integer(
            "scheduling.submissionsPerMinute", \.scheduler.submissionsPerMinute, 1...1_000_000,
            "How many requests the handlers of one bundle may submit at once; as many more are permitted each minute. Clients and schedules do not count. Our choice: enough for work that is divided into hundreds of requests"
        ),
        .integer(
            "scheduling.refreshLaunchesPerDay", \.scheduler.refreshLaunchesPerDay, 0...100_000,
            "The largest number of refresh launches per bundle and day. Our choice: one every half hour"),
        .decimal(
            "scheduling.budgetBurst", \.scheduler.budgetBurst, 0...1,
            "The share of a bundle's daily budgets that is available at midnight; the rest is added during the day. Our choice: enough for a morning's bursts"
        ),
        .duration(
            "scheduling.cpuPerDay", \.scheduler.cpuPerDay, .zero ... .seconds(7 * 86_400),
            "The CPU time of deferrable launches per bundle and day. Our choice: about 1 % of a day of two cores"
        ),
        .duration(
            "scheduling.stallLimit", \.scheduler.stallLimit, .seconds(1) ... .seconds(86_400),
            "The host stops a continued launch after this time without new progress. Our choice: Apple publishes no number"
        ),
        .duration(
            "scheduling.stallQuestion", \.scheduler.stallQuestion, .seconds(1) ... .seconds(86_400),
            "When a continued launch has made no progress for this time, the host asks the user whether it may continue. Our choice: half of scheduling.stallLimit"
        ),
        .decimal(
            "scheduling.slowShare", \.scheduler.slowShare, 0...1,
            "A launch is slow if its rate of progress falls below this share of its usual rate. Our choice"),
        .duration(
            "scheduling.ratePeriod", \.scheduler.ratePeriod, .milliseconds(100) ... .seconds(600),
            "The period of one measurement of progress. The host compares the last three periods with the median of six or more before them. Our choice: a launch that reports once in 10 s must not look slow"
        ),
        .duration(
            "scheduling.renewalLimit", \.scheduler.renewalLimit, .zero ... .seconds(7 * 86_400),
            "The longest run time of a processing launch or activity whose lease the host renews. Our choice: a night on the charger"
        ),
        .duration(
            "scheduling.leastCPU", \.scheduler.leastCPU, .zero ... .seconds(600),
            "The CPU time in one lease that counts as progress. Our choice: more than a process needs to wake up and sleep again"
        ),
        .duration(
            "scheduling.deferralTime", \.scheduler.deferralTime, .zero ... .seconds(600),
            "The time that an activity has to stop by itself after the host asks it to defer. Our choice: as long as its grace period"
        ),
        .integer(
            "scheduling.pendingRefreshLimit", \.scheduler.pendingRefreshLimit, 1...1000,
            "The largest number of pending refresh requests of a bundle. Requests of schedules do not count. Apple's number. The key pending of a manifest overrides it"
        ),
        .integer(
            "scheduling.pendingProcessingLimit", \.scheduler.pendingProcessingLimit, 1...100_000,
            "The largest number of pending processing requests of a bundle. Requests of schedules do not count. Apple's number. The key pending of a manifest overrides it"
        ),
        .duration(
            "scheduling.deadlineDelay", \.scheduler.deadlineDelay, .seconds(60) ... .seconds(366 * 86_400),
            "The time from the earliest begin date to the deadline of a request without a schedule. Apple's log shows deadlines of days"
        ),
        .duration(
            "scheduling.deadlineDelayInUse", \.scheduler.deadlineDelayInUse,
            .seconds(60) ... .seconds(366 * 86_400),
            "The time from the earliest begin date to the deadline of a request without a schedule, if its bundle is in use"
        ),
        .duration(
            "scheduling.wakeDelay", \.scheduler.wakeDelay, .zero ... .seconds(86_400),
            "The longest time by which the host delays a wake-up for a request without a schedule, to start it with others. A quarter of the time to its earliest begin date, if that is shorter. Our choice: a request that waits an hour can wait a quarter more"
        ),
        .duration(
            "scheduling.usePeriod", \.scheduler.usePeriod, .zero ... .seconds(366 * 86_400),
            "A bundle is in use for this time after its newest use. Our choice: habits repeat every week"),
        .duration(
            "scheduling.backOffBase", \.scheduler.backOffBase, .milliseconds(100) ... .seconds(86_400),
            "The time before the next attempt of a request after one that was stopped without progress. It doubles with each further such attempt. Our choice: short enough to see the request resume"
        ),
        .duration(
            "scheduling.backOffLimit", \.scheduler.backOffLimit, .milliseconds(100) ... .seconds(7 * 86_400),
            "The longest time before the next attempt of a request, before up to a fifth is taken off at random; a retry or a CPU limit of the manifest can make it longer. Our choice: a request that never gets further costs about one launch an hour"
        ),
        .duration(
            "scheduling.lostBackOffLimit", \.scheduler.lostBackOffLimit,
            .milliseconds(100) ... .seconds(7 * 86_400),
            "The longest time before the next attempt of a request whose launch was lost with the launcher or the host. Our choice: most lost launches are not the cause of the loss"
        ),
        .integer(
            "scheduling.crashLimit", \.scheduler.crashLimit, 0...1000,
            "The number of crashes in a row after which the host pauses the bundle, until its library changes or 'bgtask resume' ends the pause; 0 switches this off. Our choice, as systemd's StartLimitBurst"
        ),
        .duration(
            "scheduling.crashPeriod", \.scheduler.crashPeriod, .seconds(1) ... .seconds(86_400),
            "The time within which these crashes must occur. Our choice: retries of a manifest with the default 'backoff' of 30 s stay below the limit"
        ),
        .integer(
            "scheduling.attemptsWithoutProgress", \.scheduler.attemptsWithoutProgress, 1...1000,
            "The number of attempts in a row without a new checkpoint or further progress after which a request fails. Our choice: the eighth begins about 10 min after the first"
        ),
        .duration(
            "scheduling.scheduleRetryDelay", \.scheduler.scheduleRetryDelay, .seconds(1) ... .seconds(86_400),
            "The time until the host tries again to store a request of a schedule. Our choice: a minute is soon enough for deferrable tasks"
        ),
        .integer(
            "scheduling.usageDays", \.scheduler.usageDays, 1...366,
            "The days of history that the host needs before it uses the learned hours of use. Our choice: fewer days do not show a habit"
        ),
        .integer(
            "scheduling.usageWeekdayDays", \.scheduler.usageWeekdayDays, 1...366,
            "The days of history that the host needs before it also distinguishes weekdays. Our choice: each weekday has come twice"
        ),
        .integer(
            "scheduling.usageWeeks", \.scheduler.usageWeeks, 1...520,
            "After twice this number of weeks, the host halves the sums of use, so that newer habits count more. Our choice: habits change with the seasons"
        ),
        .integer(
            "scheduling.conductDays", \.scheduler.conductDays, 1...7,
            "The host forgets conduct after this number of days. Our choice; the store keeps at most seven"),
        .decimal(
            "scheduling.conductStart", \.scheduler.conductStart, 0...1,
            "The conduct score of a new bundle. Our choice: it can fall a lot, and rise a little"),
        .integer(
            "scheduling.conductFault", \.scheduler.conductFault, 0...100,
            "The points that a bundle loses for a kill or a crash. A point is 0.01 of the score. Our choice: four in a week bring the score of a new bundle to 0"
        ),
        .integer(
            "scheduling.conductLeak", \.scheduler.conductLeak, 0...100,
            "The points that a bundle loses for a launch that completes and never ends one or more assertions. Our choice: half a crash"
        ),
        .integer(
            "scheduling.conductReward", \.scheduler.conductReward, 0...100,
            "The points that a bundle wins for a launch that succeeds within half of its lease, or ends within half of its grace period after an expiration that it did not cause. Our choice: good conduct counts slowly"
        ),
        .integer(
            "scheduling.conductCeiling", \.scheduler.conductCeiling, 0...100,
            "The most points that a bundle can win. Our choice: they bring the score to 1, and with more, later crashes would not count"
        ),
        .integer(
            "scheduling.conductFloor", \.scheduler.conductFloor, 0...100,
            "The most points that a bundle can lose. Our choice: they bring the score to 0, and with more, later good conduct would not count"
        ),
        .bool(
            "scheduling.ignoresDeviceActivity", \.scheduler.ignoresDeviceActivity,
            "Whether processing tasks also start while a user is active, and no task stops when the user returns. For kiosks and servers"
        ),
    ]

    static let weights: [SettingKey] = [
        .decimal(
            "scheduling.weights.externalPower", \.scheduler.weights.externalPower, 0...100,
            "The weight of external power in a request's score"),
        .decimal(
            "scheduling.weights.batteryLevel", \.scheduler.weights.batteryLevel, 0...100,
            "The weight of the battery charge in a request's score"),
        .decimal(
            "scheduling.weights.network", \.scheduler.weights.network, 0...100,
            "The weight of the network's cost in the score of a request that needs the network"),
        .decimal(
            "scheduling.weights.thermal", \.scheduler.weights.thermal, 0...100,
            "The weight of the thermal state in a request's score"),
        .decimal(
            "scheduling.weights.deviceActivity", \.scheduler.weights.deviceActivity, 0...100,
            "The weight of user activity in a request's score"),
        .decimal(
            "scheduling.weights.pressure", \.scheduler.weights.pressure, 0...100,
            "The weight of pressure on CPU, memory and disks in a request's score"),
        .decimal(
            "scheduling.weights.lowPowerMode", \.scheduler.weights.lowPowerMode, 0...100,
            "The weight of low-power mode in a request's score"),
        .decimal(
            "scheduling.weights.usage", \.scheduler.weights.usage, 0...100,
            "The weight of the bundle's usual hours of use in a request's score"),
        .decimal(
            "scheduling.weights.conduct", \.scheduler.weights.conduct, 0...100,
            "The weight of the bundle's conduct in a request's score"),
        .decimal(
            "scheduling.weights.coalescing", \.scheduler.weights.coalescing, 0...100,
            "The weight of other launches under way in a request's score"),
    ]

    static let scores: [SettingKey] = [
        .decimal(
            "scheduling.scores.externalPowerMissing", \.scheduler.scores.externalPowerMissing, 0...1,
            "The score without external power, or while that is unknown. With it, the score is 1. Our choice: an idle machine with a battery at 40 % still starts a request"
        ),
        .decimal(
            "scheduling.scores.batteryUnknown", \.scheduler.scores.batteryUnknown, 0...1,
            "The score while the battery charge is unknown. A known charge is its own score, in tenths. Our choice: the lowest charge at which deferrable launches start"
        ),
        .decimal(
            "scheduling.scores.networkMetered", \.scheduler.scores.networkMetered, 0...1,
            "The score of a metered network, for tasks that need one. An unmetered network has 1. Our choice: the user pays for it, as for the charge of a battery"
        ),
        .decimal(
            "scheduling.scores.thermalFair", \.scheduler.scores.thermalFair, 0...1,
            "The score while the machine is warm, or its temperature is unknown. A nominal temperature has 1. Our choice: halfway"
        ),
        .decimal(
            "scheduling.scores.userActive", \.scheduler.scores.userActive, 0...1,
            "The score while a user is active, or while that is unknown. An idle device has 1. Our choice: below the threshold, so that other conditions must be good"
        ),
        .decimal(
            "scheduling.scores.pressureUnknown", \.scheduler.scores.pressureUnknown, 0...1,
            "The score while pressure on CPU, memory and disks is unknown. Without pressure, it is 1. Our choice: halfway"
        ),
        .decimal(
            "scheduling.scores.lowPowerModeUnknown", \.scheduler.scores.lowPowerModeUnknown, 0...1,
            "The score while low-power mode is unknown. While it is off, the score is 1. Our choice: halfway"),
        .decimal(
            "scheduling.scores.nothingRunning", \.scheduler.scores.nothingRunning, 0...1,
            "The score while no launch runs. While one runs, it is 1, because the machine is busy anyway. Our choice: halfway"
        ),
    ]
}
