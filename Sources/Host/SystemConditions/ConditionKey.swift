import TaskModel

/// The conditions, with the names that commands and listings use.
enum ConditionKey: Hashable, Sendable {
    case power
    case lowPower
    case network
    case thermal
    case user
    case pressure
    case gpu
    case storage
    /// A condition that a file in `conditions.d` defines.
    case custom(String)

    /// The built-in conditions, in the order of listings.
    static let machine: [ConditionKey] = [
        .power, .lowPower, .network, .thermal, .user, .pressure, .gpu, .storage,
    ]

    var name: String {
        switch self {
        case .power: "power"
        case .lowPower: "lowPower"
        case .network: "network"
        case .thermal: "thermal"
        case .user: "user"
        case .pressure: "pressure"
        case .gpu: "gpu"
        case .storage: "storage"
        case .custom(let name): name
        }
    }
}

/// The value of one condition.
enum ConditionValue: Equatable, Sendable {
    case power(PowerCondition)
    case lowPower(Bool)
    case network(NetworkCondition)
    case thermal(ThermalCondition)
    case user(UserCondition)
    case pressure(PressureCondition)
    case gpu(Bool)
    case storage(ByteCount)
    case custom(Bool)

    /// The value of a condition that has never had a source (Documentation/Conditions.md).
    ///
    /// The network has no such value: without rtnetlink, it is not known whether there is a default route. A
    /// custom condition has none either, because its definition names its source.
    static func absent(_ key: ConditionKey) -> Reading<ConditionValue> {
        switch key {
        case .power: .known(.power(.mains))
        case .lowPower: .known(.lowPower(false))
        case .network, .storage, .custom: .unknown
        case .thermal: .known(.thermal(.nominal))
        case .user: .known(.user(.idle))
        case .pressure: .known(.pressure(.none))
        case .gpu: .known(.gpu(false))
        }
    }

    /// The value at the start of a simulation.
    static func simulatedStart(_ key: ConditionKey) -> Reading<ConditionValue> {
        let start = Conditions.simulatedStart
        return switch key {
        case .power: start.power.map(Self.power)
        case .lowPower: start.lowPowerMode.map(Self.lowPower)
        case .network: start.network.map(Self.network)
        case .thermal: start.thermal.map(Self.thermal)
        case .user: start.user.map(Self.user)
        case .pressure: start.pressure.map(Self.pressure)
        case .gpu: start.gpu.map(Self.gpu)
        case .storage: start.storage.map(Self.storage)
        case .custom: .known(.custom(false))
        }
    }
}

extension ConditionKey: Comparable {
    static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

extension Reading {
    func map<Other: Sendable & Equatable>(_ change: (Value) -> Other) -> Reading<Other> {
        switch self {
        case .known(let value): .known(change(value))
        case .unknown: .unknown
        }
    }
}

extension Conditions {
    /// Replaces the reading of one condition; a value that belongs to another condition is stored as unknown.
    mutating func replace(_ key: ConditionKey, with reading: Reading<ConditionValue>) {
        switch key {
        case .power: power = reading.unwrap { if case .power(let value) = $0 { value } else { nil } }
        case .lowPower:
            lowPowerMode = reading.unwrap { if case .lowPower(let value) = $0 { value } else { nil } }
        case .network: network = reading.unwrap { if case .network(let value) = $0 { value } else { nil } }
        case .thermal: thermal = reading.unwrap { if case .thermal(let value) = $0 { value } else { nil } }
        case .user: user = reading.unwrap { if case .user(let value) = $0 { value } else { nil } }
        case .pressure: pressure = reading.unwrap { if case .pressure(let value) = $0 { value } else { nil } }
        case .gpu: gpu = reading.unwrap { if case .gpu(let value) = $0 { value } else { nil } }
        case .storage: storage = reading.unwrap { if case .storage(let value) = $0 { value } else { nil } }
        case .custom(let name):
            custom[name] = reading.unwrap { if case .custom(let value) = $0 { value } else { nil } }
        }
    }
}

extension Reading<ConditionValue> {
    fileprivate func unwrap<Inner: Sendable & Equatable>(_ pick: (ConditionValue) -> Inner?) -> Reading<Inner>
    {
        value.flatMap(pick).map { .known($0) } ?? .unknown
    }
}
