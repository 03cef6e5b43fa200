/// What the scheduler remembers of one bundle across restarts of the host.
///
/// Only the scheduler changes the state. The host stores the whole state after each change and restores it
/// before the scheduler starts. When an older record lacks a field, the field has its default.
public struct BundleState: Equatable, Sendable {
    /// The switch for background refresh.
    public var refresh = RefreshPermission.available
    /// When the refresh switch was last changed; `nil` if it never was.
    public var refreshChangedAt: WallTime?
    /// When the user dismissed the bundle; `nil` while it is not dismissed.
    public var dismissedAt: WallTime?
    /// The time of the newest use; `nil` if no use is known.
    public var lastUsed: WallTime?
    /// How often the bundle is used in each hour of the week.
    public var usage = UsageHistogram()
    /// How the bundle's launches of the last days ended.
    public var conduct = ConductLedger()
    /// What the bundle used of its budget on the budget's current day.
    public var budget = BudgetAccount()
    /// When its newest refresh launch began.
    public var lastRefresh: WallTime?
    /// When its newest push launch began.
    public var lastPush: WallTime?
    /// When the bundle's newest deferrable launches began.
    public var recent = RecentLaunches()
    /// How much service the bundle's long work (processing, activities) had lately; the free slots of such
    /// work go to the bundle that had least.
    public var service = ServiceAccount()
    /// The same for its short deferrable work: refreshes, pushes and the events of transfers.
    public var shortService = ServiceAccount()
    /// The pause that a user ordered for this bundle; it may have ended.
    public var pause: Pause?
    /// The pause because of crashes, by the host; only a person or another library ends it.
    public var crashPause: Pause?
    /// When the bundle's newest launches crashed, oldest first, without a successful one between them.
    ///
    /// There are at most as many as the limit for a pause, and none during such a pause.
    public var crashes: [WallTime] = []
    /// How many of the bundle's launches began earlier than they would have alone, because other work had
    /// already woken the machine.
    public var wakeUpsSaved = 0

    /// Makes the state of a bundle about which nothing is known.
    public init() {}
}

/// Whether one bundle, or every bundle, may refresh in the background.
public enum RefreshPermission: String, Sendable, Codable, CaseIterable {
    /// Background refresh is allowed.
    case available
    /// The user switched background refresh off.
    case denied
    /// The administrator switched it off; only the administrator can switch it on.
    case restricted
}

/// How much of its daily budget a bundle used, and the limits that an operator set for it.
public struct BudgetAccount: Equatable, Sendable, Codable {
    /// The day of ``launches`` and ``cpu``, in days since 1970-01-01, local time; `nil` before the first
    /// launch.
    public var day: Int64?
    /// The number of refresh launches that began on ``day``.
    public var launches = 0
    /// The CPU time used on ``day``.
    public var cpu = Duration.zero
    /// The operator's limit of refresh launches per day; `nil` selects the host's default.
    public var launchLimit: Int?
    /// The operator's limit of CPU time per day; `nil` selects the host's default.
    public var cpuLimit: Duration?
    /// The share of the limits that is available at midnight, from 0 to 1; `nil` selects the host's default.
    public var burst: Double?

    /// Makes an account without any use and without limits of its own.
    public init() {}
}

/// How much service a bundle's short or long work had lately: its launches and their CPU time.
///
/// Older service counts less: half after a day.
public struct ServiceAccount: Equatable, Sendable, Codable {
    /// The service in seconds, as it counted at ``at``.
    public var seconds = 0.0
    /// When the last launch was added; `nil` before the first.
    public var at: WallTime?

    /// Makes an account of a bundle without any service.
    public init() {}
}

/// When a bundle's newest deferrable launches began, without simulated ones.
///
/// The rate limit compares new launches with them.
public struct RecentLaunches: Equatable, Sendable, Codable {
    /// The newest launch of one identifier.
    public struct Newest: Equatable, Sendable, Codable {
        /// The task that was launched.
        public var identifier: TaskIdentifier
        /// When the launch began.
        public var beganAt: WallTime

        /// Records one launch.
        public init(identifier: TaskIdentifier, beganAt: WallTime) {
            self.identifier = identifier
            self.beganAt = beganAt
        }
    }

    /// The launches of one kind that began in one minute.
    public struct Minute: Equatable, Sendable, Codable {
        /// The kind of the launches.
        public var kind: TaskKind
        /// Minutes since 1970-01-01 00:00 UTC.
        public var minute: Int64
        /// How many launches began in the minute.
        public var launches: Int

        /// Records how many launches of a kind began in one minute.
        public init(kind: TaskKind, minute: Int64, launches: Int) {
            self.kind = kind
            self.minute = minute
            self.launches = launches
        }
    }

    /// The newest launch of each identifier, ordered by identifier.
    ///
    /// A launch is removed once it is too old for the minimum spacing of launches to delay another one.
    public var newest: [Newest] = []
    /// The minutes in which launches began, oldest first; for each kind at most 61, because an hour touches
    /// 61 minutes.
    public var minutes: [Minute] = []

    /// Makes a memory without launches.
    public init() {}
}

/// How a bundle's launches ended, as points per day, for the last seven days.
public struct ConductLedger: Equatable, Sendable, Codable {
    /// One day's points.
    public struct Day: Equatable, Sendable, Codable {
        /// Days since 1970-01-01, local time.
        public var day: Int64
        /// The points, in hundredths of the score of the policy Conduct.
        ///
        /// They are negative for kills, crashes and background assertions that the handler never ended, and
        /// positive for launches that succeeded early, or that stopped soon after they were asked to.
        public var points: Int

        public init(day: Int64, points: Int) {
            self.day = day
            self.points = points
        }
    }

    /// The days with points, oldest first; adding points removes the days that do not count any more.
    public var days: [Day] = []

    /// Makes an empty ledger.
    public init() {}
}

/// How often a bundle is used in each hour of the week, and in each quarter of an hour of the day.
public struct UsageHistogram: Equatable, Sendable, Codable {
    /// Uses in each hour of the week; index 0 is Monday 00:00 local time.
    ///
    /// Several uses within one hour count once. The array is empty before the first use.
    public var hours: [Int] = []
    /// The day of the first use that is counted, in days since 1970-01-01, local time; `nil` before it.
    public var firstDay: Int64?
    /// The last hour that was counted, in hours since 1970-01-01 00:00 local time; `nil` before the first
    /// use.
    public var lastHour: Int64?
    /// The number of working days (Monday to Friday), and then of days of a weekend, with a use in each
    /// quarter of an hour; index 0 is 00:00 local time on working days, index 96 the same on weekends.
    ///
    /// `nil` before the first use that was counted by quarters.
    public var quarters: [Int]?
    /// The day of the first use in ``quarters``, in days since 1970-01-01, local time.
    public var quartersSince: Int64?
    /// The last quarter that was counted, in quarters since 1970-01-01 00:00 local time.
    public var lastQuarter: Int64?

    /// Makes an empty histogram.
    public init() {}
}

extension BundleState {
    /// Sets both pauses as an encoded state has them.
    ///
    /// In a state of an earlier version, `pause` can be the pause because of crashes.
    public mutating func setPauses(_ pause: Pause?, ofCrashes crashPause: Pause?) {
        let isOfCrashes = pause?.crashes != nil
        self.pause = isOfCrashes ? nil : pause
        self.crashPause = crashPause ?? (isOfCrashes ? pause : nil)
    }
}

extension BundleState: Codable {
    private enum CodingKeys: String, CodingKey {
        case refresh, refreshChangedAt, dismissedAt, lastUsed, usage, conduct, budget, lastRefresh, lastPush
        case recent, service, shortService, pause, crashPause, crashes, wakeUpsSaved
    }

    /// Decodes a record; fields that it lacks have their defaults.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys, _ fallback: Value) throws -> Value {
            try values.decodeIfPresent(Value.self, forKey: key) ?? fallback
        }
        refresh = try value(.refresh, .available)
        refreshChangedAt = try value(.refreshChangedAt, nil)
        dismissedAt = try value(.dismissedAt, nil)
        lastUsed = try value(.lastUsed, nil)
        usage = try value(.usage, UsageHistogram())
        conduct = try value(.conduct, ConductLedger())
        budget = try value(.budget, BudgetAccount())
        lastRefresh = try value(.lastRefresh, nil)
        lastPush = try value(.lastPush, nil)
        recent = try value(.recent, RecentLaunches())
        service = try value(.service, ServiceAccount())
        shortService = try value(.shortService, ServiceAccount())
        setPauses(try value(.pause, nil), ofCrashes: try value(.crashPause, nil))
        crashes = try value(.crashes, [])
        wakeUpsSaved = try value(.wakeUpsSaved, 0)
    }
}
