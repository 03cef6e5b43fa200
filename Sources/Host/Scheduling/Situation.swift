import TaskModel

/// All values that policies use besides the request and the time.
struct Situation: Sendable {
    var settings: SchedulerSettings
    private(set) var conditions = Conditions(
        power: .unknown, lowPowerMode: .unknown, network: .unknown, thermal: .unknown, user: .unknown,
        pressure: .unknown, gpu: .unknown)
    /// When each condition changed to its present value.
    private(set) var since = ConditionTimes()
    /// Since when CPU or disks have been under pressure without a break; `nil` if they are not.
    private(set) var pressureSince: WallTime?
    /// When the machine announced the sleep for which it prepares now; `nil` if it does not.
    var sleepSince: WallTime?
    /// The pause of the host; it may have ended.
    var hostPause: Pause?
    var permits = Permits([])
    var occupancy = Occupancy()
    var bundles: [BundleIdentifier: BundleState] = [:]
    /// The bundles with a client in the foreground.
    var foreground: Set<BundleIdentifier> = []
    /// The requests that were put back because a condition stopped their last attempt, by identifier; for
    /// texts only.
    var stoppedByCondition: [TaskIdentifier: (request: RequestID, reason: Reason)] = [:]
    /// The tasks that wait only for a conflicting one, oldest first; see ``Conflicts``.
    var claims: [ConflictClaim] = []
    /// The changes of the clocks before and after the present, if they are known; see
    /// ``offset(at:)``.
    private(set) var localTimeChanges: [LocalTimeChange] = []
    /// Local time minus UTC.
    var localOffset = Duration.zero {
        didSet { if let now { notice(now) } }
    }
    /// The time and local day of the present event, stored because every policy needs them.
    private var now: WallTime?
    private var today: Int64 = 0

    init(settings: SchedulerSettings) { self.settings = settings }

    /// Replaces the conditions; returns the facts that changed.
    mutating func replaceConditions(_ new: Conditions, at now: Moment) -> [Fact] {
        defer { conditions = new }
        since.note(from: conditions, to: new, at: now.wall)
        let isUnderPressure = new.pressure.value.map { $0.cpu || $0.io } ?? false
        pressureSince = isUnderPressure ? pressureSince ?? now.wall : nil
        return Fact.changed(from: conditions, to: new)
    }

    /// Collects the values that policies need about a request.
    func subject(
        _ request: TaskRequest, _ needs: Needs? = nil, isRunning: Bool = false, isTelling: Bool
    ) -> Subject {
        Subject(
            request: request, needs: needs ?? self.needs(of: request),
            bundle: bundles[request.bundle] ?? BundleState(),
            isDiscretionary: request.isDiscretionary, isRunning: isRunning, isTelling: isTelling)
    }

    /// The needs of a request: its own, and those that its manifest adds.
    func needs(of request: TaskRequest) -> Needs {
        let declaration = permits.declaration(for: request.identifier, of: request.bundle)
        let submission = request.submission
        return Needs(
            externalPower: submission.requiresExternalPower || declaration?.requiresExternalPower == true,
            network: NetworkRequirement.inForce(submission, declaration, kind: request.kind),
            gpu: submission.requiresGPU,
            conditions: declaration?.requiredConditions ?? [],
            constraints: declaration?.constraints?.needs(of: request),
            idleDevice: request.kind == .processing && !settings.ignoresDeviceActivity
                && declaration?.ignoresDeviceActivity != true,
            prefetch: declaration?.isPrefetch == true && Self.canPrefetch(request.kind),
            conflicts: permits.conflicts(with: request.identifier),
            longestBackOff: settings.longestBackOff(of: declaration))
    }

    /// Whether tasks of a kind can wait for a use of their bundle.
    private static func canPrefetch(_ kind: TaskKind) -> Bool {
        kind == .appRefresh || kind == .processing || kind == .activity
    }

    /// The number of slots of a lane; ``deferrableSlots`` also limits both deferrable lanes together.
    func slots(of lane: Lane) -> Int {
        switch lane {
        case .simulated: .max
        case .continued: settings.continuedSlots
        case .urgent: settings.urgentSlots
        case .app: settings.appSlots
        case .short: settings.shortSlots
        case .long: settings.discretionarySlots
        }
    }

    /// When pressure on CPU or disks stops holding deferrable requests; it may lie in the past.
    ///
    /// `nil` if there is none, or if memory is under pressure.
    var pressureEnd: WallTime? {
        guard conditions.pressure.value?.memory == false else { return nil }
        return pressureSince.map { $0 + settings.pressureLimit }
    }

    /// Whether deferrable requests start one at a time, because pressure has lasted too long.
    func isTrickling(at time: WallTime) -> Bool { pressureEnd.map { $0 <= time } ?? false }

    /// Replaces the time since which there is pressure, if there is any.
    mutating func restorePressure(since time: WallTime) {
        if pressureSince != nil { pressureSince = time }
    }

    /// Moves ``pressureSince`` by the same time as the wall clock, which was set.
    mutating func shiftPressure(by jump: Duration) { pressureSince = pressureSince.map { $0 + jump } }

    /// Whether deferrable requests start one at a time at the time of the present event.
    var isTrickling: Bool { now.map { isTrickling(at: $0) } ?? false }

    /// How many deferrable launches of all lanes may run at the same time now: fewer on a warm machine, and
    /// one under pressure that does not end.
    var deferrableSlots: Int { isTrickling ? min(1, slotsAtTemperature) : slotsAtTemperature }

    /// How many deferrable launches of all lanes may run at the same time at the present temperature.
    private var slotsAtTemperature: Int {
        switch conditions.thermal {
        case .known(.nominal): .max
        case .known(.fair), .unknown: settings.discretionarySlotsWhenFair
        case .known(.serious), .known(.critical): 0
        }
    }

    /// Whether a slot of the lane is free.
    func hasSlot(in lane: Lane) -> Bool {
        guard occupancy.slots(of: lane).count < slots(of: lane) else { return false }
        return !lane.isFair || occupancy.discretionary < deferrableSlots
    }

    /// Stores the time of the present event, and its local day.
    ///
    /// - Returns: Whether the clocks have changed since the last event, as ``localTimeChanges`` says.
    @discardableResult
    mutating func notice(_ now: WallTime) -> Bool {
        self.now = nil
        let offset = offset(at: now)
        let isChanged = offset != localOffset
        if isChanged { localOffset = offset }
        today = localDay(now)
        self.now = now
        return isChanged
    }

    /// Takes the difference between local time and UTC, which the host found.
    mutating func takeLocalOffset(_ offset: Duration, at now: WallTime) {
        // In another time zone, the clocks change at other times.
        if self.offset(at: now) != offset { localTimeChanges = [] }
        localOffset = offset
    }

    /// Takes the changes of the clocks before and after the present, in order.
    mutating func takeLocalTimeChanges(_ changes: [LocalTimeChange]) { localTimeChanges = changes }

    /// Local time minus UTC at a time, as far as the changes of the clocks are known.
    func offset(at time: WallTime) -> Duration {
        if let first = localTimeChanges.first, time < first.at { return first.before }
        return localTimeChanges.last { $0.at <= time }?.after ?? localOffset
    }

    /// The number of a local day; 0 is 1970-01-01.
    func localDay(_ time: WallTime) -> Int64 {
        time == now ? today : (time + localOffset).wholeSeconds.floorDivided(by: 86_400)
    }

    /// The number of a local quarter of an hour; 0 is the first of 1970-01-01.
    func localQuarter(_ time: WallTime) -> Int64 { (time + localOffset).wholeSeconds.floorDivided(by: 900) }

    /// When a local quarter of an hour begins.
    func start(ofQuarter quarter: Int64) -> WallTime {
        WallTime(sinceEpoch: .seconds(quarter * 900) - localOffset)
    }

    /// The number of a local hour; 0 is the first hour of 1970-01-01.
    func localHour(_ time: WallTime) -> Int64 { (time + localOffset).wholeSeconds.floorDivided(by: 3600) }

    /// When a local day begins.
    func start(ofDay day: Int64) -> WallTime { WallTime(sinceEpoch: .seconds(day * 86_400) - localOffset) }

    /// When a local hour begins.
    func start(ofHour hour: Int64) -> WallTime { WallTime(sinceEpoch: .seconds(hour * 3600) - localOffset) }
}

/// The requirements of a request for the machine.
struct Needs: Hashable, Sendable {
    var externalPower: Bool
    /// The network that must be there; `nil` if none is needed.
    var network: NetworkRequirement?
    var gpu: Bool
    /// The custom conditions that must be on.
    var conditions: [String] = []
    /// The constraints that only manifests state, without `conflicts`; the payload's values are part of
    /// `when`.
    var constraints: TaskConstraints?
    /// Whether the device must be idle.
    var idleDevice: Bool
    /// Whether the launch should end shortly before the next use of the bundle.
    var prefetch = false
    /// The tasks with which the request conflicts, whichever manifest states it.
    var conflicts: [IdentifierPattern] = []
    /// The longest back-off that this task can have.
    var longestBackOff: Duration
}

/// When each condition changed to its present value; `nil` before the first known conditions.
struct ConditionTimes: Equatable, Sendable {
    private(set) var power: WallTime?
    private(set) var lowPowerMode: WallTime?
    private(set) var network: WallTime?
    private(set) var thermal: WallTime?
    private(set) var user: WallTime?
    private(set) var pressure: WallTime?
    private(set) var gpu: WallTime?
    private(set) var storage: WallTime?
    private(set) var custom: [String: WallTime] = [:]

    fileprivate mutating func note(from old: Conditions, to new: Conditions, at now: WallTime) {
        let oldPower = old.power.value, newPower = new.power.value
        // A change of the charge does not count: people ask since when the machine is on battery.
        if power == nil || (oldPower == nil) != (newPower == nil)
            || oldPower?.externalPower != newPower?.externalPower
        {
            power = now
        }
        if lowPowerMode == nil || old.lowPowerMode != new.lowPowerMode { lowPowerMode = now }
        if network == nil || old.network != new.network { network = now }
        if thermal == nil || old.thermal != new.thermal { thermal = now }
        if user == nil || old.user != new.user { user = now }
        if pressure == nil || old.pressure != new.pressure { pressure = now }
        if gpu == nil || old.gpu != new.gpu { gpu = now }
        if storage == nil || old.storage != new.storage { storage = now }
        guard old.custom != new.custom else { return }
        for name in Set(old.custom.keys).union(new.custom.keys) where old.custom[name] != new.custom[name] {
            custom[name] = new.custom[name] == nil ? nil : now
        }
    }
}

extension Conditions {
    /// Whether external power is known to be connected.
    var isExternalPowerConnected: Bool { power.value?.externalPower == true }

    /// Whether memory is known to be under pressure.
    var isShortOfMemory: Bool { pressure.value?.memory == true }

    /// Whether a network is known to be available.
    var isNetworkThere: Bool { network.value.map { $0 != .none } ?? false }
}
