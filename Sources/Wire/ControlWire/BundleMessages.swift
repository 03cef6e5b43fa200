public import TaskModel

/// One bundle, as `bgtask settings --json` prints it.
public struct BundleMessage: Codable, Equatable, Sendable {
    /// The bundle.
    public var bundle: BundleIdentifier
    /// Whether a manifest in force has it.
    public var isInstalled: Bool
    /// Its switch for background refresh.
    public var refresh: RefreshPermission
    /// When the user dismissed it.
    @Explicit public var dismissedAt: Timestamp?
    /// Its newest use.
    @Explicit public var lastUsed: Timestamp?
    /// Refresh launches begun today.
    public var launchesToday: Int
    /// Refresh launches a day.
    public var launchLimit: Int
    /// CPU-seconds spent today.
    public var cpuSecondsToday: Double
    /// CPU-seconds a day.
    public var cpuSecondsLimit: Double
    /// Launches that began while the machine was busy anyway.
    public var wakeUpsSaved: Int

    /// Copies a row.
    public init(_ facts: BundleFacts) {
        bundle = facts.bundle
        isInstalled = facts.isInstalled
        refresh = facts.state.refresh
        launchesToday = facts.launchesToday
        launchLimit = facts.launchLimit
        cpuSecondsToday = facts.cpuToday.inSeconds
        cpuSecondsLimit = facts.cpuLimit.inSeconds
        wakeUpsSaved = facts.state.wakeUpsSaved
        dismissedAt = facts.state.dismissedAt.map(Timestamp.init)
        lastUsed = facts.state.lastUsed.map(Timestamp.init)
    }
}

/// The body of `PATCH /v1/bundles/BUNDLE`: one change, by its key.
public struct BundleChangeMessage: Codable, Equatable, Sendable {
    /// Limits per day; a missing one is the standard.
    public struct Budget: Codable, Equatable, Sendable {
        /// Refresh launches, from 0.
        public var launches: Int?
        /// CPU-seconds, from 0.
        public var cpuSeconds: Double?
    }

    /// `true`: the user used it.
    public var used: Bool?
    /// Whether its client is in the foreground.
    public var foreground: Bool?
    /// `true`: the user dismissed it.
    public var dismissed: Bool?
    /// Its switch.
    public var refresh: RefreshPermission?
    /// Its limits.
    public var budget: Budget?

    /// Copies a change.
    public init(_ change: BundleChange) {
        switch change {
        case .used: used = true
        case .foreground(let isForeground): foreground = isForeground
        case .dismissed: dismissed = true
        case .refresh(let permission): refresh = permission
        case .budget(let launches, let cpu):
            budget = Budget(launches: launches, cpuSeconds: cpu.map(\.inSeconds))
        }
    }

    /// The change; `nil` unless there is exactly one, within its range.
    public var change: BundleChange? {
        var changes: [BundleChange] = []
        if used == true { changes.append(.used) }
        if let foreground { changes.append(.foreground(foreground)) }
        if dismissed == true { changes.append(.dismissed) }
        if let refresh { changes.append(.refresh(refresh)) }
        if let budget {
            let seconds = budget.cpuSeconds ?? 0
            guard (budget.launches ?? 0) >= 0, seconds >= 0, seconds < 1e9 else { return nil }
            changes.append(
                .budget(
                    launches: budget.launches,
                    cpu: budget.cpuSeconds.map { .milliseconds(Int64(($0 * 1000).rounded())) }))
        }
        return changes.count == 1 ? changes[0] : nil
    }
}

/// The body of `POST /v1/pushes`: a silent push for a bundle.
public struct PushMessage: Codable, Equatable, Sendable {
    /// The bundle.
    public var bundle: BundleIdentifier
    /// JSON text of an object, at most 48 KiB.
    public var payload: String?
    /// 5 or 10; `nil` is 5.
    public var priority: PushPriority?

    /// Addresses a payload to a bundle's task of the kind `push`.
    public init(bundle: BundleIdentifier, payload: String?, priority: PushPriority?) {
        self.bundle = bundle
        self.payload = payload
        self.priority = priority
    }
}

/// The body of `POST /v1/launches/LAUNCH/answer`: the user's answer to "keep going?".
public struct AnswerMessage: Codable, Equatable, Sendable {
    /// Whether it should.
    public var keepGoing: Bool

    /// Says whether the launch should keep going.
    public init(keepGoing: Bool) { self.keepGoing = keepGoing }
}
