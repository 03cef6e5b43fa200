public import TaskModel

/// One bundle, as `bgtask settings --json` prints it.
public struct BundleMessage: Codable, Equatable, Sendable {
    /// The bundle's identifier.
    public var bundle: BundleIdentifier
    /// Whether a valid manifest declares the bundle.
    public var isInstalled: Bool
    /// The bundle's switch for background refresh.
    public var refresh: RefreshPermission
    /// When the user dismissed the bundle; `null` if it is not dismissed.
    @Explicit public var dismissedAt: Timestamp?
    /// The time of the newest use; `null` if no use is known.
    @Explicit public var lastUsed: Timestamp?
    /// The number of refresh launches that began today.
    public var launchesToday: Int
    /// The largest number of refresh launches per day.
    public var launchLimit: Int
    /// The CPU time that the bundle used today, in seconds.
    public var cpuSecondsToday: Double
    /// The largest CPU time per day, in seconds.
    public var cpuSecondsLimit: Double
    /// How many launches began earlier than they would have alone, because other work had already woken the
    /// machine.
    public var wakeUpsSaved: Int
    /// The share of the daily limits that is available at midnight, 0 through 1; `nil` from an older host.
    public var budgetBurst: Double?
    /// The number of refresh launches that may have begun by now; `nil` from an older host.
    public var launchesByNow: Double?
    /// The CPU time that the bundle may have used by now, in seconds; `nil` from an older host.
    public var cpuSecondsByNow: Double?
    /// The bundle's weight for free slots; `nil` from an older host.
    public var weight: Double?
    /// Since when the bundle or the host is paused; `null` if it is not.
    @Explicit public var pausedSince: Timestamp?
    /// When that pause ends by itself; `null` if it does not.
    @Explicit public var pausedUntil: Timestamp?
    /// The bundle's own pauses in force: one by a user, one because of crashes, or both; `nil` from an older
    /// host.
    public var pauses: [BundlePauseMessage]?
    /// The bytes of the bundle's transfers today; `nil` if it has had none in the last weeks, and from an
    /// older host.
    public var transferredToday: TransferBytesMessage?

    public init(_ facts: BundleFacts) {
        bundle = facts.bundle
        isInstalled = facts.isInstalled
        refresh = facts.state.refresh
        launchesToday = facts.launchesToday
        launchLimit = facts.launchLimit
        cpuSecondsToday = facts.cpuToday.inSeconds
        cpuSecondsLimit = facts.cpuLimit.inSeconds
        wakeUpsSaved = facts.state.wakeUpsSaved
        budgetBurst = facts.burst
        launchesByNow = facts.launchesByNow
        cpuSecondsByNow = facts.cpuByNow.inSeconds
        weight = facts.weight
        dismissedAt = facts.state.dismissedAt.map(Timestamp.init)
        lastUsed = facts.state.lastUsed.map(Timestamp.init)
        pausedSince = facts.pause.map { Timestamp($0.since) }
        pausedUntil = facts.pause?.until.map(Timestamp.init)
        pauses = facts.ownPauses.map(BundlePauseMessage.init)
        transferredToday = facts.transferredToday.map(TransferBytesMessage.init)
    }
}

/// A pause of one bundle.
public struct BundlePauseMessage: Codable, Equatable, Sendable {
    /// When the pause began.
    public var since: Timestamp
    /// When the pause ends by itself; `null` if it does not.
    @Explicit public var until: Timestamp?
    /// How many crashes in a row made the host pause the bundle; `null` if a user ordered the pause.
    @Explicit public var crashes: Int?
    /// `true` if what runs may end by itself (`bgtask drain`); left out otherwise.
    public var drains: Bool?

    public init(_ pause: Pause) {
        drains = pause.letsEnd
        since = Timestamp(pause.since)
        until = pause.until.map(Timestamp.init)
        crashes = pause.crashes
    }
}

/// The body of `PATCH /v1/bundles/BUNDLE`; exactly one of the keys may be present.
public struct BundleChangeMessage: Codable, Equatable, Sendable {
    /// The greatest limit of refresh launches per day: our choice, more than a day has time for.
    public static let mostLaunches = 1_000_000

    /// The limits per day; a missing one selects the host's default.
    public struct Budget: Codable, Equatable, Sendable {
        /// The largest number of refresh launches, 0 through 1,000,000.
        public var launches: Int?
        /// The largest CPU time in seconds; 0 or more.
        public var cpuSeconds: Double?
        /// The share of both limits that is available at midnight, 0 through 1.
        public var burst: Double?
    }

    /// The length of a pause.
    public struct Pause: Codable, Equatable, Sendable {
        /// When the pause ends by itself; a missing one means that only `resumed` ends it.
        public var until: Timestamp?
        /// `true` lets the bundle's launches end by themselves (`bgtask drain`).
        public var drain: Bool?
    }

    /// `true` means that the user used the bundle.
    public var used: Bool?
    /// Whether a client of the bundle is in the foreground.
    public var foreground: Bool?
    /// `true` means that the user dismissed the bundle.
    public var dismissed: Bool?
    /// The bundle's switch for background refresh.
    public var refresh: RefreshPermission?
    /// The bundle's limits per day.
    public var budget: Budget?
    /// Starts a pause of the bundle.
    public var paused: Pause?
    /// `true` ends the pause of the bundle.
    public var resumed: Bool?

    public init(_ change: BundleChange) {
        switch change {
        case .used: used = true
        case .foreground(let isForeground): foreground = isForeground
        case .dismissed: dismissed = true
        case .refresh(let permission): refresh = permission
        case .budget(let launches, let cpu, let burst):
            budget = Budget(launches: launches, cpuSeconds: cpu.map(\.inSeconds), burst: burst)
        case .paused(let until): paused = Pause(until: until.map(Timestamp.init))
        case .drained(let until): paused = Pause(until: until.map(Timestamp.init), drain: true)
        case .resumed: resumed = true
        }
    }

    /// The change that the message contains; `nil` unless it contains exactly one, with valid numbers.
    public var change: BundleChange? {
        var changes: [BundleChange] = []
        if used == true { changes.append(.used) }
        if let foreground { changes.append(.foreground(foreground)) }
        if dismissed == true { changes.append(.dismissed) }
        if let refresh { changes.append(.refresh(refresh)) }
        if let budget {
            let seconds = budget.cpuSeconds ?? 0
            guard (0...BundleChangeMessage.mostLaunches).contains(budget.launches ?? 0), seconds >= 0,
                seconds < 1e9,
                (0...1).contains(budget.burst ?? 0)
            else { return nil }
            changes.append(
                .budget(
                    launches: budget.launches,
                    cpu: budget.cpuSeconds.map { .milliseconds(Int64(($0 * 1000).rounded())) },
                    burst: budget.burst))
        }
        if let paused {
            let end = paused.until?.time
            changes.append(paused.drain == true ? .drained(until: end) : .paused(until: end))
        }
        if resumed == true { changes.append(.resumed) }
        return changes.count == 1 ? changes[0] : nil
    }
}

/// The body of `POST /v1/pushes`: a silent push for a bundle.
public struct PushMessage: Codable, Equatable, Sendable {
    /// The bundle's identifier.
    public var bundle: BundleIdentifier
    /// A JSON object as text, at most 48 KiB; `nil` if there is none.
    public var payload: String?
    /// How urgent the push is: 5 or 10; `nil` means 5.
    public var priority: PushPriority?

    /// Makes a push; it starts the bundle's task of the kind `push`.
    public init(bundle: BundleIdentifier, payload: String?, priority: PushPriority?) {
        self.bundle = bundle
        self.payload = payload
        self.priority = priority
    }
}

/// The body of `POST /v1/launches/LAUNCH/answer`: the user's answer to whether a launch should continue.
public struct AnswerMessage: Codable, Equatable, Sendable {
    /// Whether the launch should continue.
    public var keepGoing: Bool

    /// Makes an answer.
    public init(keepGoing: Bool) { self.keepGoing = keepGoing }
}

/// The pause of the whole host: the answer of `GET`, `POST` and `DELETE /v1/pause`.
public struct PauseMessage: Codable, Equatable, Sendable {
    /// Since when the host is paused, which the host sets; `null` if it is not.
    @Explicit public var since: Timestamp?
    /// When the pause ends by itself; `null` if only `DELETE /v1/pause` ends it.
    @Explicit public var until: Timestamp?
    /// `true` if what runs may end by itself (`bgtask drain`); left out otherwise.
    public var drains: Bool?

    /// Makes the message about a pause; `nil` if there is none.
    public init(_ pause: Pause?) {
        drains = pause?.letsEnd
        since = pause.map { Timestamp($0.since) }
        until = pause?.until.map(Timestamp.init)
    }
}

/// The body of `POST /v1/pause`.
public struct PauseOrderMessage: Codable, Equatable, Sendable {
    private enum CodingKeys: CodingKey { case until, drain }

    /// When the pause ends by itself; `null` if only `DELETE /v1/pause` ends it.
    ///
    /// The key is required, so that a body with a mistake can't pause the host for good.
    @Explicit public var until: Timestamp?
    /// `true` lets what runs end by itself (`bgtask drain`); `nil` stops it.
    public var drain: Bool?

    /// Makes the body of a call that pauses or drains the host.
    public init(until: Timestamp?, drain: Bool? = nil) {
        self.until = until
        self.drain = drain
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard container.contains(.until) else {
            throw DecodingError.keyNotFound(
                CodingKeys.until, .init(codingPath: container.codingPath, debugDescription: "missing"))
        }
        until = try container.decodeIfPresent(Timestamp.self, forKey: .until)
        drain = try container.decodeIfPresent(Bool.self, forKey: .drain)
    }
}
