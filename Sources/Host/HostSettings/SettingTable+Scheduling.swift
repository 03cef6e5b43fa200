import Scheduling

/// The scheduler's numbers, as `Scheduling/SchedulerSettings.swift` has them.
extension SettingTable {
    static let scheduling: [SettingKey] = [
        .decimal(
            "scheduling.scoreThreshold", \.scheduler.scoreThreshold, 0...1,
            "What the weighted mean of the scores must reach until the request's earliest begin date; it falls to 0 at the deadline. Ours: idle on mains (0.91) or on a battery of 40 % (0.71) starts at once"
        ),
        .integer(
            "scheduling.discretionarySlots", \.scheduler.discretionarySlots, 0...64,
            "Discretionary launches at once. Ours: one slow job does not hold up the rest of a small machine"),
        .integer(
            "scheduling.discretionarySlotsWhenFair", \.scheduler.discretionarySlotsWhenFair, 0...64,
            "The same while it is warm, or while the temperature is unknown"),
        .integer(
            "scheduling.discretionarySlotsPerBundle", \.scheduler.discretionarySlotsPerBundle, 1...64,
            "The same of one bundle while a bundle without a launch waits. Ours: fairness between vendors"),
        .integer(
            "scheduling.continuedSlots", \.scheduler.continuedSlots, 0...64,
            "Continued launches at once. Ours: Apple says that there is a limit and not which"),
        .integer(
            "scheduling.urgentSlots", \.scheduler.urgentSlots, 0...64,
            "Launches for urgent pushes at once. Ours: one launch of 30 s must not hold up the next"),
        .integer(
            "scheduling.appSlots", \.scheduler.appSlots, 0...64,
            "Launches of apps at once. Ours: a folder full of new plugins does not fill a small machine"),
        .integer(
            "scheduling.batteryStartPercent", \.scheduler.batteryStartPercent, 0...100,
            "On battery below this nothing discretionary starts. Apple names a critically low battery, about 20 %"
        ),
        .integer(
            "scheduling.batteryEndPercent", \.scheduler.batteryEndPercent, 0...100,
            "On battery below this discretionary launches expire. Ours: half of the above"),
        .duration(
            "scheduling.pressurePeriod", \.scheduler.pressurePeriod, .seconds(1) ... .seconds(600),
            "Between two launches that memory pressure ends. Ours: grace and the kernel's averages need about as long"
        ),
        .duration(
            "scheduling.refreshSpacing", \.scheduler.refreshSpacing, .zero ... .seconds(86_400),
            "Between refresh launches of one bundle. Apple asks for no more than 3 pushes an hour and names no figure here"
        ),
        .duration(
            "scheduling.pushSpacing", \.scheduler.pushSpacing, .zero ... .seconds(86_400),
            "Between push launches of one bundle. Apple: 14 pushes may give 7 launches, about 15 min apart"),
        .duration(
            "scheduling.launchSpacing", \.scheduler.launchSpacing, .zero ... .seconds(86_400),
            "Between two launches of one identifier, from begin to begin; what users ask for and simulated launches do not wait. Ours: a chain without begin dates makes progress, and costs next to nothing"
        ),
        .integer(
            "scheduling.launchesPerHour", \.scheduler.launchesPerHour, 1...100_000,
            "Launches of one deferrable kind per bundle within an hour. Ours: ten tasks that each run once a minute, or two chains at their spacing"
        ),
        .integer(
            "scheduling.refreshLaunchesPerDay", \.scheduler.refreshLaunchesPerDay, 0...100_000,
            "Refresh launches per bundle and day. Ours: one in half an hour"),
        .duration(
            "scheduling.cpuPerDay", \.scheduler.cpuPerDay, .zero ... .seconds(7 * 86_400),
            "CPU time of discretionary launches per bundle and day. Ours: about 1 % of a day of two cores"),
        .duration(
            "scheduling.stallLimit", \.scheduler.stallLimit, .seconds(1) ... .seconds(86_400),
            "How long a continued launch may go without a change of progress. Ours; Apple names none"),
        .duration(
            "scheduling.stallQuestion", \.scheduler.stallQuestion, .seconds(1) ... .seconds(86_400),
            "After how long without a change the user is asked whether to keep going. Ours: half of the limit"
        ),
        .decimal(
            "scheduling.slowShare", \.scheduler.slowShare, 0...1,
            "Below this share of its own median rate a launch counts as slow. Ours"),
        .duration(
            "scheduling.ratePeriod", \.scheduler.ratePeriod, .milliseconds(100) ... .seconds(600),
            "Rates of progress are taken over such periods: the last three against the median of six before them at least. Ours: a single report in 10 s gives no rate"
        ),
        .duration(
            "scheduling.renewalLimit", \.scheduler.renewalLimit, .zero ... .seconds(7 * 86_400),
            "How long renewals may keep a processing launch going. Ours: a night on the charger"),
        .duration(
            "scheduling.leastCPU", \.scheduler.leastCPU, .zero ... .seconds(600),
            "CPU time within one period of a lease that counts as a sign of work. Ours: more than waking to look around costs"
        ),
        .duration(
            "scheduling.deferralTime", \.scheduler.deferralTime, .zero ... .seconds(600),
            "How long an activity has to stop by itself after the host asked it to defer. Ours: as long as its grace"
        ),
        .integer(
            "scheduling.pendingRefreshLimit", \.scheduler.pendingRefreshLimit, 1...1000,
            "Pending refresh requests of one bundle, without those of its schedules; Apple's number. A manifest's pending: goes before it"
        ),
        .integer(
            "scheduling.pendingProcessingLimit", \.scheduler.pendingProcessingLimit, 1...100_000,
            "Pending processing requests of one bundle, without those of its schedules; Apple's number. A manifest's pending: goes before it"
        ),
        .duration(
            "scheduling.deadlineDelay", \.scheduler.deadlineDelay, .seconds(60) ... .seconds(366 * 86_400),
            "From the earliest begin date to the deadline, where no schedule sets one. Apple's log shows deadlines of days"
        ),
        .duration(
            "scheduling.deadlineDelayInUse", \.scheduler.deadlineDelayInUse,
            .seconds(60) ... .seconds(366 * 86_400), "The same for a bundle in use"),
        .duration(
            "scheduling.usePeriod", \.scheduler.usePeriod, .zero ... .seconds(366 * 86_400),
            "A bundle is in use for this long after its newest use. Ours: habits go by the week"),
        .duration(
            "scheduling.backOffBase", \.scheduler.backOffBase, .milliseconds(100) ... .seconds(86_400),
            "The first back-off of a request that is put back, doubled with every attempt. Ours: short enough to resume while one watches"
        ),
        .duration(
            "scheduling.backOffLimit", \.scheduler.backOffLimit, .milliseconds(100) ... .seconds(7 * 86_400),
            "The longest back-off. Ours: at most one standard lease"),
        .duration(
            "scheduling.scheduleRetryDelay", \.scheduler.scheduleRetryDelay, .seconds(1) ... .seconds(86_400),
            "How long to wait before asking again for a scheduled request that could not be stored. Ours: a minute is soon for work that may be put off"
        ),
        .integer(
            "scheduling.usageDays", \.scheduler.usageDays, 1...366,
            "Days of history before the hours of use count. Ours: fewer are chance"),
        .integer(
            "scheduling.usageWeeks", \.scheduler.usageWeeks, 1...520,
            "After twice so many weeks the sums of use are halved, as if half of the time had passed. Ours: habits change with seasons"
        ),
        .integer(
            "scheduling.conductDays", \.scheduler.conductDays, 1...7,
            "Days after which conduct is forgotten. Ours; no more than seven are stored"),
        .decimal(
            "scheduling.conductStart", \.scheduler.conductStart, 0...1,
            "Conduct of a bundle that nothing is known of. Ours: room below, and some above"),
        .integer(
            "scheduling.conductFault", \.scheduler.conductFault, 0...100,
            "What a kill or crash costs, in hundredths. Ours: four in a week bring it to 0"),
        .integer(
            "scheduling.conductLeak", \.scheduler.conductLeak, 0...100,
            "What an assertion leaked costs, in hundredths. Ours: half a crash"),
        .integer(
            "scheduling.conductReward", \.scheduler.conductReward, 0...100,
            "What an end before half of the lease brings, or one within half of the grace, in hundredths. Ours: good conduct adds slowly"
        ),
        .integer(
            "scheduling.conductCeiling", \.scheduler.conductCeiling, 0...100,
            "The most that good conduct adds, in hundredths. Ours: the score is 1 with it, and more would make later crashes count for nothing"
        ),
        .integer(
            "scheduling.conductFloor", \.scheduler.conductFloor, 0...100,
            "The most that bad conduct takes away, in hundredths. Ours: the score is 0 with it, and more would make later good conduct count for nothing"
        ),
        .bool(
            "scheduling.ignoresDeviceActivity", \.scheduler.ignoresDeviceActivity,
            "Whether processing runs while a user is active: for kiosks and servers"),
    ]

    static let weights: [SettingKey] = [
        .decimal(
            "scheduling.weights.externalPower", \.scheduler.weights.externalPower, 0...100,
            "Preference for external power"),
        .decimal(
            "scheduling.weights.batteryLevel", \.scheduler.weights.batteryLevel, 0...100,
            "Charge of the battery"),
        .decimal(
            "scheduling.weights.network", \.scheduler.weights.network, 0...100,
            "Cost of the network, for work that needs it"),
        .decimal("scheduling.weights.thermal", \.scheduler.weights.thermal, 0...100, "Heat"),
        .decimal(
            "scheduling.weights.deviceActivity", \.scheduler.weights.deviceActivity, 0...100,
            "Whether a user is active"),
        .decimal(
            "scheduling.weights.pressure", \.scheduler.weights.pressure, 0...100,
            "Whether pressure is known to be absent"),
        .decimal(
            "scheduling.weights.lowPowerMode", \.scheduler.weights.lowPowerMode, 0...100,
            "Whether low-power mode is known to be off"),
        .decimal(
            "scheduling.weights.usage", \.scheduler.weights.usage, 0...100,
            "How soon the bundle is usually used"),
        .decimal(
            "scheduling.weights.conduct", \.scheduler.weights.conduct, 0...100, "How the bundle behaved"),
        .decimal(
            "scheduling.weights.coalescing", \.scheduler.weights.coalescing, 0...100,
            "Whether the machine is busy anyway"),
    ]
}
