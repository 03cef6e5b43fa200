public import TaskModel

/// The conditions of the machine, which the host sends before *start* and after every change.
public struct ConditionsMessage: WireMessage {
    public static let kind: UInt8 = 0x13
    public static let table = FieldTable(
        .required(1, .flag), .required(2, .u64), .required(3, .u64), .optional(4, .u64), .required(5, .u64),
        .optional(6, .flag), .optional(7, .flag), .optional(8, .u64), .optional(9, .u64))
    /// The conditions that the task receives.
    public var conditions: HandlerConditions

    public init(_ conditions: HandlerConditions) { self.conditions = conditions }

    private static let thermals: [ThermalCondition] = [.nominal, .fair, .serious, .critical]
    private static let powers: [HandlerConditions.Power] = [.unknown, .battery, .charging, .external]
    private static let refreshes: [RefreshPermission] = [.restricted, .denied, .available]
    /// The numbers of networks; 0 is unknown.
    private static let networks: [UInt64: NetworkCondition] = [
        1: .none, 2: .constrained, 3: .metered, 4: .unmetered,
    ]

    /// The bits of interfaces.
    private static let interfaces: [NetworkInterface: UInt64] = [
        .wifi: 1, .cellular: 2, .wired: 4, .other: 8,
    ]

    public init(_ values: FieldValues) throws(WireError) {
        let battery: UInt64? = values[4]
        if let battery, battery > 100 { throw WireError(.range, "a battery is \(battery) % full") }
        let network: UInt64? = values[8]
        if let network, network > 4 { throw WireError(.range, "\(network) is not a network") }
        let interfaces: UInt64 = values[9] ?? 0
        if interfaces > 15 { throw WireError(.range, "\(interfaces) is not a set of interfaces") }
        conditions = HandlerConditions(
            isLowPowerMode: values[1],
            thermal: try Self.word(Self.thermals, values[2], "thermal state"),
            power: try Self.word(Self.powers, values[3], "kind of power"),
            batteryPercent: battery.map(Int.init),
            refresh: try Self.word(Self.refreshes, values[5], "refresh status"),
            shouldDefer: values[6], hasGPU: values[7],
            network: network.flatMap { Self.networks[$0] },
            interfaces: Set(Self.interfaces.filter { interfaces & $0.value != 0 }.keys))
    }

    private static func word<Word>(_ words: [Word], _ number: UInt64, _ what: String) throws(WireError)
        -> Word
    {
        guard number < words.count else { throw WireError(.range, "\(number) is not a \(what)") }
        return words[Int(number)]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, conditions.isLowPowerMode)
        fields.write(2, Self.number(of: conditions.thermal, in: Self.thermals))
        fields.write(3, Self.number(of: conditions.power, in: Self.powers))
        fields.write(4, conditions.batteryPercent.map { UInt64(clamping: min(100, $0)) })
        fields.write(5, Self.number(of: conditions.refresh, in: Self.refreshes))
        fields.write(6, ifTrue: conditions.shouldDefer)
        fields.write(7, ifTrue: conditions.hasGPU)
        fields.write(8, Self.networks.first { $0.value == conditions.network }?.key)
        let interfaces = conditions.interfaces.reduce(0) { $0 | (Self.interfaces[$1] ?? 0) }
        fields.write(9, interfaces == 0 ? nil : interfaces)
    }

    private static func number<Word: Equatable>(of word: Word, in words: [Word]) -> UInt64 {
        UInt64(words.firstIndex(of: word) ?? 0)
    }
}
