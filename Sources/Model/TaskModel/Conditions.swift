/// The value of one condition, as its source reports it.
///
/// `unknown` means that a source disappeared or fails. It never relaxes a limit and never satisfies a
/// constraint. A source that was absent from the start has a known value instead
/// (Documentation/Conditions.md).
public enum Reading<Value: Sendable & Equatable>: Equatable, Sendable {
    /// The source reports this value.
    case known(Value)
    /// The source disappeared or fails.
    case unknown

    /// The value; `nil` if unknown.
    public var value: Value? {
        switch self {
        case .known(let value): value
        case .unknown: nil
        }
    }
}

/// The machine's power supply.
public struct PowerCondition: Equatable, Sendable, Codable {
    /// Whether external power is connected.
    ///
    /// A battery can be on external power without charging.
    public var externalPower: Bool
    /// Whether the battery is charging.
    public var isCharging: Bool
    /// The charge of the battery in percent, 0 through 100; `nil` without a battery.
    public var batteryPercent: Int?

    public init(externalPower: Bool, isCharging: Bool, batteryPercent: Int?) {
        self.externalPower = externalPower
        self.isCharging = isCharging
        self.batteryPercent = batteryPercent
    }

    /// A machine without a battery.
    public static let mains = PowerCondition(externalPower: true, isCharging: false, batteryPercent: nil)
}

/// What the network costs.
public enum NetworkCondition: String, Sendable, Codable, CaseIterable, Equatable {
    /// There is no default route.
    case none
    /// The user switched on low-data mode.
    case constrained
    /// Traffic is paid for.
    case metered
    /// Traffic is free.
    case unmetered
}

/// How hot the machine is.
public enum ThermalCondition: String, Sendable, Codable, CaseIterable, Equatable {
    /// Cool.
    case nominal
    /// Warm: fewer deferrable launches start.
    case fair
    /// Hot: deferrable launches wait, and running processing launches and activities are asked to stop.
    case serious
    /// Too hot: no launch starts, and running launches are asked to stop.
    case critical
}

/// Whether the machine is in use.
public enum UserCondition: String, Sendable, Codable, CaseIterable, Equatable {
    /// A session counts as in use, or counted so within the last five minutes.
    case active
    /// All sessions have counted as idle for five minutes, or there is no session.
    ///
    /// This is logind's `IdleHint`, which a desktop sets some time after the last input. Without logind, the
    /// condition is unknown.
    case idle
}

/// Which resources are under pressure.
public struct PressureCondition: Equatable, Sendable, Codable {
    /// CPU.
    public var cpu: Bool
    /// Memory.
    public var memory: Bool
    /// I/O.
    public var io: Bool

    public init(cpu: Bool, memory: Bool, io: Bool) {
        self.cpu = cpu
        self.memory = memory
        self.io = io
    }

    /// No pressure.
    public static let none = PressureCondition(cpu: false, memory: false, io: false)
}

/// The conditions of the machine at one moment, which the policies examine.
public struct Conditions: Equatable, Sendable, Codable {
    /// Power supply.
    public var power: Reading<PowerCondition>
    /// Whether low-power mode is on.
    public var lowPowerMode: Reading<Bool>
    /// The cost of the network.
    public var network: Reading<NetworkCondition>
    /// The temperature of the machine.
    public var thermal: Reading<ThermalCondition>
    /// Whether the user is active.
    public var user: Reading<UserCondition>
    /// The resources that are under pressure.
    public var pressure: Reading<PressureCondition>
    /// Whether tasks may use a GPU.
    public var gpu: Reading<Bool>
    /// The free space on the file system of the data directories, for the host's user.
    public var storage: Reading<ByteCount>
    /// The conditions that files in `conditions.d` define, by name; a name that is missing is not defined.
    public var custom: [String: Reading<Bool>]
    /// What the ways to the network are made of; empty if unknown, or without a network.
    ///
    /// No policy examines it; it is for handlers.
    public var interfaces: Set<NetworkInterface> = []

    public init(
        power: Reading<PowerCondition>, lowPowerMode: Reading<Bool>, network: Reading<NetworkCondition>,
        thermal: Reading<ThermalCondition>, user: Reading<UserCondition>,
        pressure: Reading<PressureCondition>,
        gpu: Reading<Bool>, storage: Reading<ByteCount> = .unknown, custom: [String: Reading<Bool>] = [:]
    ) {
        self.power = power
        self.lowPowerMode = lowPowerMode
        self.network = network
        self.thermal = thermal
        self.user = user
        self.pressure = pressure
        self.gpu = gpu
        self.storage = storage
        self.custom = custom
    }

    /// Decodes a snapshot; in one that was recorded before there were custom conditions and `storage`, they
    /// are missing and unknown.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            power: values.decode(Reading<PowerCondition>.self, forKey: .power),
            lowPowerMode: values.decode(Reading<Bool>.self, forKey: .lowPowerMode),
            network: values.decode(Reading<NetworkCondition>.self, forKey: .network),
            thermal: values.decode(Reading<ThermalCondition>.self, forKey: .thermal),
            user: values.decode(Reading<UserCondition>.self, forKey: .user),
            pressure: values.decode(Reading<PressureCondition>.self, forKey: .pressure),
            gpu: values.decode(Reading<Bool>.self, forKey: .gpu),
            storage: values.decodeIfPresent(Reading<ByteCount>.self, forKey: .storage) ?? .unknown,
            custom: values.decodeIfPresent([String: Reading<Bool>].self, forKey: .custom) ?? [:])
    }

    // What no policy examines is not recorded.
    private enum CodingKeys: CodingKey {
        case power, lowPowerMode, network, thermal, user, pressure, gpu, storage, custom
    }

    /// The initial conditions with `--conditions simulated`: mains power, an unmetered network, cool, an idle
    /// user, and 100 GiB of free space.
    public static let simulatedStart = Conditions(
        power: .known(.mains), lowPowerMode: .known(false), network: .known(.unmetered),
        thermal: .known(.nominal), user: .known(.idle), pressure: .known(.none), gpu: .known(false),
        storage: .known(.gibibytes(100)))
}

/// One condition with its source, in a listing.
public struct ConditionRow: Equatable, Sendable {
    /// `power`, `lowPower`, `network`, `thermal`, `user`, `pressure`, `gpu`, `storage`, or the name of a
    /// custom condition.
    public var key: String
    /// The value in the syntax of `bgtask conditions set`, or `unknown`.
    public var value: String
    /// The source: `sysfs`, `rtnetlink`, `simulated` or `none`, for example.
    public var source: String
    /// Since when the condition has had this value.
    public var since: WallTime

    public init(key: String, value: String, source: String, since: WallTime) {
        self.key = key
        self.value = value
        self.source = source
        self.since = since
    }
}

extension Reading: Codable where Value: Codable {
    /// Decodes a value, or `null` for unknown.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .unknown : .known(try container.decode(Value.self))
    }

    /// Encodes the value; unknown is `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}
