import TaskModel

/// Everything that policies may look at besides the request and the time.
struct Situation: Sendable {
    var settings: SchedulerSettings
    private(set) var conditions = Conditions(
        power: .unknown, lowPowerMode: .unknown, network: .unknown, thermal: .unknown, user: .unknown,
        pressure: .unknown, gpu: .unknown)
    /// Since when each condition has its value.
    private(set) var since = ConditionTimes()
    var permits = Permits([])
    var occupancy = Occupancy()
    var bundles: [BundleIdentifier: BundleState] = [:]
    /// Bundles whose client is in the foreground.
    var foreground: Set<BundleIdentifier> = []
    /// Local time less UTC.
    var localOffset = Duration.zero {
        didSet { now.map { notice($0) } }
    }
    /// The time of the event at hand and its day: every policy asks for it.
    private var now: WallTime?
    private var today: Int64 = 0

    init(settings: SchedulerSettings) { self.settings = settings }

    /// Takes in a snapshot and returns what differs.
    mutating func replaceConditions(_ new: Conditions, at now: Moment) -> [Fact] {
        defer { conditions = new }
        since.note(from: conditions, to: new, at: now.wall)
        return Fact.changed(from: conditions, to: new)
    }

    /// Everything that the policies ask of a request, gathered once.
    func subject(
        _ request: TaskRequest, _ needs: Needs? = nil, isRunning: Bool = false, isTelling: Bool
    ) -> Subject {
        Subject(
            request: request, needs: needs ?? self.needs(of: request),
            bundle: bundles[request.bundle] ?? BundleState(),
            isDiscretionary: request.isDiscretionary, isRunning: isRunning, isTelling: isTelling)
    }

    /// What a request needs of the machine: what it says itself, and what its manifest adds.
    func needs(of request: TaskRequest) -> Needs {
        let declaration = permits.declaration(for: request.identifier, of: request.bundle)
        let submission = request.submission
        return Needs(
            externalPower: submission.requiresExternalPower || declaration?.requiresExternalPower == true,
            network: submission.requiresNetworkConnectivity
                || declaration?.requiresNetworkConnectivity == true,
            gpu: submission.requiresGPU,
            conditions: declaration?.requiredConditions ?? [],
            idleDevice: request.kind == .processing && !settings.ignoresDeviceActivity
                && declaration?.ignoresDeviceActivity != true,
            // A start that was not possible waits 10 s, whatever the limit of back-offs.
            longestBackOff: declaration?.retry == nil
                ? max(settings.backOffLimit, .seconds(10)) : .seconds(86_400))
    }

    /// The discretionary launches that the heat allows at once.
    var discretionarySlots: Int {
        switch conditions.thermal {
        case .known(.nominal): settings.discretionarySlots
        case .known(.fair), .unknown: min(settings.discretionarySlots, settings.discretionarySlotsWhenFair)
        case .known(.serious), .known(.critical): 0
        }
    }

    /// Whether a slot of the lane is free.
    func hasSlot(in lane: Lane) -> Bool {
        switch lane {
        case .simulated: true
        case .continued: occupancy.continued < settings.continuedSlots
        case .urgent: occupancy.urgent < settings.urgentSlots
        case .app: occupancy.apps < settings.appSlots
        case .discretionary: occupancy.discretionary < discretionarySlots
        }
    }

    /// Works out the day of the event at hand, once.
    mutating func notice(_ now: WallTime) {
        self.now = nil
        today = localDay(now)
        self.now = now
    }

    /// The day in local time, counted from 1970-01-01.
    func localDay(_ time: WallTime) -> Int64 {
        time == now ? today : (time + localOffset).wholeSeconds.floorDivided(by: 86_400)
    }

    /// The hour in local time, counted from 1970-01-01 00:00.
    func localHour(_ time: WallTime) -> Int64 { (time + localOffset).wholeSeconds.floorDivided(by: 3600) }

    /// When a local day begins.
    func start(ofDay day: Int64) -> WallTime { WallTime(sinceEpoch: .seconds(day * 86_400) - localOffset) }

    /// When a local hour begins.
    func start(ofHour hour: Int64) -> WallTime { WallTime(sinceEpoch: .seconds(hour * 3600) - localOffset) }
}

/// What a request needs of the machine.
struct Needs: Hashable, Sendable {
    var externalPower: Bool
    var network: Bool
    var gpu: Bool
    /// Custom conditions that must hold.
    var conditions: [String] = []
    /// The device must be idle.
    var idleDevice: Bool
    /// No back-off of this task lasts longer.
    var longestBackOff: Duration
}

/// Since when each condition has its value; `nil` before the first snapshot.
struct ConditionTimes: Equatable, Sendable {
    private(set) var power: WallTime?
    private(set) var lowPowerMode: WallTime?
    private(set) var network: WallTime?
    private(set) var thermal: WallTime?
    private(set) var user: WallTime?
    private(set) var pressure: WallTime?
    private(set) var gpu: WallTime?
    private(set) var custom: [String: WallTime] = [:]

    fileprivate mutating func note(from old: Conditions, to new: Conditions, at now: WallTime) {
        let oldPower = old.power.value, newPower = new.power.value
        // A battery that drains is the same supply; "on battery since" is what people ask for.
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
        guard old.custom != new.custom else { return }
        for name in Set(old.custom.keys).union(new.custom.keys) where old.custom[name] != new.custom[name] {
            custom[name] = new.custom[name] == nil ? nil : now
        }
    }
}

extension Conditions {
    /// Whether external power is known to be connected.
    var isExternalPowerConnected: Bool { power.value?.externalPower == true }

    /// Whether a network is known to be there.
    var isNetworkThere: Bool { network.value.map { $0 != .none } ?? false }
}
