/// What the scheduler remembers of one bundle across restarts of the host.
///
/// Only the scheduler changes it; the host stores it whole whenever the scheduler says so, and gives it back
/// before the scheduler starts. Fields that an older record lacks have their defaults.
public struct BundleState: Equatable, Sendable {
    /// The switch for background refresh.
    public var refresh = RefreshPermission.available
    /// When the switch was last turned; `nil` if it never was.
    public var refreshChangedAt: WallTime?
    /// When the user dismissed the bundle; `nil` while it is not dismissed.
    public var dismissedAt: WallTime?
    /// The newest use; `nil` if none is known.
    public var lastUsed: WallTime?
    /// When in the week it is used.
    public var usage = UsageHistogram()
    /// How its launches ended lately.
    public var conduct = ConductLedger()
    /// What it spent today.
    public var budget = BudgetAccount()
    /// When its newest refresh launch began.
    public var lastRefresh: WallTime?
    /// When its newest push launch began.
    public var lastPush: WallTime?
    /// When its deferrable launches began lately.
    public var recent = RecentLaunches()
    /// How many of its launches began while the machine was busy anyway, earlier than they would have alone.
    public var wakeUpsSaved = 0

    /// Makes the state of a bundle that nothing is known of.
    public init() {}
}

/// Whether a bundle, or any, may refresh in the background.
public enum RefreshPermission: String, Sendable, Codable, CaseIterable {
    /// It may.
    case available
    /// The user switched it off.
    case denied
    /// The administrator switched it off; only the administrator lifts it.
    case restricted
}

/// What a bundle spent of its daily budget, and an operator's own limits.
public struct BudgetAccount: Equatable, Sendable, Codable {
    /// The day that the sums belong to, counted from 1970-01-01 in local time; `nil` before the first launch.
    public var day: Int64?
    /// Refresh launches begun that day.
    public var launches = 0
    /// CPU time spent that day.
    public var cpu = Duration.zero
    /// Refresh launches a day, where the operator set them.
    public var launchLimit: Int?
    /// CPU time a day, where the operator set it.
    public var cpuLimit: Duration?

    /// Makes an untouched account.
    public init() {}
}

/// When a bundle's deferrable launches began lately, simulated ones left out: what the rate of launches is
/// held against.
public struct RecentLaunches: Equatable, Sendable, Codable {
    /// The newest launch of one identifier.
    public struct Newest: Equatable, Sendable, Codable {
        /// The task.
        public var identifier: TaskIdentifier
        /// When the launch began.
        public var beganAt: WallTime

        /// Makes a note of a launch.
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
        /// How many began in it.
        public var launches: Int

        /// Makes a minute.
        public init(kind: TaskKind, minute: Int64, launches: Int) {
            self.kind = kind
            self.minute = minute
            self.launches = launches
        }
    }

    /// The newest launch of each identifier, by identifier; without those that hold nothing back any more.
    public var newest: [Newest] = []
    /// The minutes with launches, oldest first; of each kind at most the 61 that the last hour touches.
    public var minutes: [Minute] = []

    /// Makes a memory without launches.
    public init() {}
}

/// How a bundle's launches ended, by day, for seven days.
public struct ConductLedger: Equatable, Sendable, Codable {
    /// One day's points.
    public struct Day: Equatable, Sendable, Codable {
        /// Counted from 1970-01-01 in local time.
        public var day: Int64
        /// Hundredths: below 0 for kills, crashes and leaks, above for ends that were early or prompt.
        public var points: Int

        public init(day: Int64, points: Int) {
            self.day = day
            self.points = points
        }
    }

    /// The days with points, oldest first; at most eight.
    public var days: [Day] = []

    /// Makes an empty ledger.
    public init() {}
}

/// How often a bundle is used in each hour of the week.
public struct UsageHistogram: Equatable, Sendable, Codable {
    /// Uses per hour of the week, at most one counted per hour: index 0 is Monday 00:00 local time; empty
    /// before the first use.
    public var hours: [Int] = []
    /// The day of the first use that is counted, from 1970-01-01 in local time.
    public var firstDay: Int64?
    /// The hour counted last, from 1970-01-01 00:00 local time.
    public var lastHour: Int64?

    /// Makes an empty histogram.
    public init() {}
}

extension BundleState: Codable {
    private enum CodingKeys: String, CodingKey {
        case refresh, refreshChangedAt, dismissedAt, lastUsed, usage, conduct, budget, lastRefresh, lastPush
        case recent, wakeUpsSaved
    }

    /// Decodes a record; what it lacks has its default.
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
        wakeUpsSaved = try value(.wakeUpsSaved, 0)
    }
}
