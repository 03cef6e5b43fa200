public import TaskModel

/// What the machine is like: before *start*, then at every change.
public struct ConditionsMessage: WireMessage {
    /// 0x13.
    public static let kind: UInt8 = 0x13
    /// What the task is told.
    public var conditions: HandlerConditions

    /// Makes a message.
    public init(_ conditions: HandlerConditions) { self.conditions = conditions }

    private static let thermals: [ThermalCondition] = [.nominal, .fair, .serious, .critical]
    private static let powers: [HandlerConditions.Power] = [.unknown, .battery, .charging, .external]
    private static let refreshes: [RefreshPermission] = [.restricted, .denied, .available]

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var lowPower: Bool?, thermal: UInt64?, power: UInt64?, battery: UInt64?, refresh: UInt64?
        var shouldDefer: Bool?, hasGPU: Bool?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &lowPower)
            case 2: try field.read(into: &thermal)
            case 3: try field.read(into: &power)
            case 4: try field.read(into: &battery)
            case 5: try field.read(into: &refresh)
            case 6: try field.read(into: &shouldDefer)
            case 7: try field.read(into: &hasGPU)
            default: continue
            }
        }
        if let battery, battery > 100 { throw WireError(.range, "a battery is \(battery) % full") }
        conditions = HandlerConditions(
            isLowPowerMode: try required(lowPower, 1, of: Self.kind),
            thermal: try Self.word(Self.thermals, try required(thermal, 2, of: Self.kind), "thermal state"),
            power: try Self.word(Self.powers, try required(power, 3, of: Self.kind), "kind of power"),
            batteryPercent: battery.map(Int.init),
            refresh: try Self.word(Self.refreshes, try required(refresh, 5, of: Self.kind), "refresh status"),
            shouldDefer: shouldDefer ?? false, hasGPU: hasGPU ?? false)
    }

    private static func word<Word>(_ words: [Word], _ number: UInt64, _ what: String) throws(WireError)
        -> Word
    {
        guard number < words.count else { throw WireError(.range, "there is no \(what) \(number)") }
        return words[Int(number)]
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, conditions.isLowPowerMode)
        fields.write(2, Self.number(of: conditions.thermal, in: Self.thermals))
        fields.write(3, Self.number(of: conditions.power, in: Self.powers))
        fields.write(4, conditions.batteryPercent.map { UInt64(clamping: min(100, $0)) })
        fields.write(5, Self.number(of: conditions.refresh, in: Self.refreshes))
        fields.write(6, ifTrue: conditions.shouldDefer)
        fields.write(7, ifTrue: conditions.hasGPU)
    }

    private static func number<Word: Equatable>(of word: Word, in words: [Word]) -> UInt64 {
        UInt64(words.firstIndex(of: word) ?? 0)
    }
}
