import TaskModel

/// A wall-clock time in a fact, exact to the attosecond.
struct StoredInstant: Codable {
    /// The time since 1970, encoded as Swift encodes a duration: as attoseconds, in two integers.
    var sinceEpoch: Duration

    init(_ time: WallTime) { sinceEpoch = time.sinceEpoch }

    var time: WallTime { WallTime(sinceEpoch: sinceEpoch) }
}

/// The JSON form of ``Pause`` in the database.
struct StoredPause: Codable {
    var since: StoredInstant
    var until: StoredInstant?
    var crashes: Int?
    var library: String?
    var launch: Int64?
    var letsEnd: Bool?

    init(_ pause: Pause) {
        since = StoredInstant(pause.since)
        until = pause.until.map(StoredInstant.init)
        (crashes, library, launch) = (pause.crashes, pause.library, pause.launch?.rawValue)
        letsEnd = pause.letsEnd
    }

    var pause: Pause {
        var pause = Pause(
            since: since.time, until: until?.time, crashes: crashes, library: library,
            launch: launch.map(LaunchID.init(rawValue:)))
        pause.letsEnd = letsEnd
        return pause
    }
}

/// The JSON form of ``BundleState`` in the database.
///
/// The form belongs to the store and must not change when a type of the model or the control API changes,
/// because existing databases contain it. Values that are missing from older rows get their defaults.
struct StoredBundleState: Codable {
    struct Budget: Codable {
        var day: Int64?
        var launches: Int
        var cpu: Duration
        var launchLimit: Int?
        var cpuLimit: Duration?
        var burst: Double?
    }

    struct Usage: Codable {
        var hours: [Int]
        var firstDay: Int64?
        var lastHour: Int64?
        var quarters: [Int]?
        var quartersSince: Int64?
        var lastQuarter: Int64?

        init(_ usage: UsageHistogram) {
            (hours, firstDay, lastHour) = (usage.hours, usage.firstDay, usage.lastHour)
            (quarters, quartersSince, lastQuarter) = (usage.quarters, usage.quartersSince, usage.lastQuarter)
        }

        var histogram: UsageHistogram {
            var usage = UsageHistogram()
            (usage.hours, usage.firstDay, usage.lastHour) = (hours, firstDay, lastHour)
            (usage.quarters, usage.quartersSince, usage.lastQuarter) = (quarters, quartersSince, lastQuarter)
            return usage
        }
    }

    struct Conduct: Codable {
        struct Day: Codable {
            var day: Int64
            var points: Int
        }

        var days: [Day]
    }

    /// The newest launches.
    ///
    /// A busy bundle has hundreds of minutes, so they are stored without names: for each kind, a list of
    /// alternating minutes and numbers of launches.
    struct Recent: Codable {
        struct Newest: Codable {
            var identifier: TaskIdentifier
            var beganAt: StoredInstant
        }

        var newest: [Newest]
        var minutes: [String: [Int64]]

        init(_ recent: RecentLaunches) {
            newest = recent.newest.map {
                Newest(identifier: $0.identifier, beganAt: StoredInstant($0.beganAt))
            }
            minutes = recent.minutes.reduce(into: [:]) {
                $0[$1.kind.rawValue, default: []] += [$1.minute, Int64($1.launches)]
            }
        }

        /// The launches; kinds that this version of the host does not know are left out.
        var launches: RecentLaunches {
            var recent = RecentLaunches()
            recent.newest = newest.map {
                RecentLaunches.Newest(identifier: $0.identifier, beganAt: $0.beganAt.time)
            }
            for (name, numbers) in minutes {
                guard let kind = TaskKind(rawValue: name) else { continue }
                for index in stride(from: 0, to: numbers.count - 1, by: 2) {
                    recent.minutes.append(
                        RecentLaunches.Minute(
                            kind: kind, minute: numbers[index], launches: Int(clamping: numbers[index + 1])))
                }
            }
            recent.minutes.sort { ($0.minute, $0.kind.rawValue) < ($1.minute, $1.kind.rawValue) }
            return recent
        }
    }

    struct Service: Codable {
        var seconds: Double
        var at: StoredInstant?

        init(_ account: ServiceAccount) {
            (seconds, at) = (account.seconds, account.at.map(StoredInstant.init))
        }

        var account: ServiceAccount {
            var account = ServiceAccount()
            (account.seconds, account.at) = (seconds, at?.time)
            return account
        }
    }

    var refresh: RefreshPermission?
    var refreshChangedAt: StoredInstant?
    var dismissedAt: StoredInstant?
    var lastUsed: StoredInstant?
    var usage: Usage?
    var conduct: Conduct?
    var budget: Budget?
    var lastRefresh: StoredInstant?
    var lastPush: StoredInstant?
    var recent: Recent?
    var service: Service?
    var shortService: Service?
    var pause: StoredPause?
    var crashPause: StoredPause?
    var crashes: [StoredInstant]?
    var wakeUpsSaved: Int?

    init(_ state: BundleState) {
        refresh = state.refresh
        refreshChangedAt = state.refreshChangedAt.map(StoredInstant.init)
        dismissedAt = state.dismissedAt.map(StoredInstant.init)
        lastUsed = state.lastUsed.map(StoredInstant.init)
        usage = Usage(state.usage)
        conduct = Conduct(days: state.conduct.days.map { Conduct.Day(day: $0.day, points: $0.points) })
        budget = Budget(
            day: state.budget.day, launches: state.budget.launches, cpu: state.budget.cpu,
            launchLimit: state.budget.launchLimit, cpuLimit: state.budget.cpuLimit,
            burst: state.budget.burst)
        lastRefresh = state.lastRefresh.map(StoredInstant.init)
        lastPush = state.lastPush.map(StoredInstant.init)
        recent = state.recent == RecentLaunches() ? nil : Recent(state.recent)
        service = Service(state.service)
        shortService = Service(state.shortService)
        pause = state.pause.map(StoredPause.init)
        crashPause = state.crashPause.map(StoredPause.init)
        crashes = state.crashes.isEmpty ? nil : state.crashes.map(StoredInstant.init)
        wakeUpsSaved = state.wakeUpsSaved
    }

    /// The stored state, as the type that the host uses.
    var state: BundleState {
        var state = BundleState()
        state.refresh = refresh ?? state.refresh
        state.refreshChangedAt = refreshChangedAt?.time
        state.dismissedAt = dismissedAt?.time
        state.lastUsed = lastUsed?.time
        state.usage = usage?.histogram ?? state.usage
        if let conduct {
            state.conduct.days = conduct.days.map { ConductLedger.Day(day: $0.day, points: $0.points) }
        }
        if let budget {
            state.budget.day = budget.day
            state.budget.launches = budget.launches
            state.budget.cpu = budget.cpu
            // An older host could store any number.
            state.budget.launchLimit = budget.launchLimit.map { min($0, 1_000_000) }
            state.budget.cpuLimit = budget.cpuLimit
            state.budget.burst = budget.burst
        }
        state.lastRefresh = lastRefresh?.time
        state.lastPush = lastPush?.time
        state.recent = recent?.launches ?? state.recent
        state.service = service?.account ?? state.service
        state.shortService = shortService?.account ?? state.shortService
        state.setPauses(pause?.pause, ofCrashes: crashPause?.pause)
        state.crashes = crashes?.map(\.time) ?? state.crashes
        state.wakeUpsSaved = wakeUpsSaved ?? state.wakeUpsSaved
        return state
    }
}
