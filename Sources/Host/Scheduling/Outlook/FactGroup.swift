import TaskModel

/// Facts that people can only change together.
enum FactGroup: Hashable {
    case power, lowPower, network, thermal, user, pressure, storage
    case custom(String)

    /// All groups but those of custom conditions.
    static let machine: [FactGroup] = [.power, .lowPower, .network, .thermal, .user, .pressure, .storage]

    /// The group of a fact; `nil` if people can't change the fact.
    init?(_ fact: WhenFact) {
        switch fact {
        case .condition(let name): self = .custom(name)
        case .payload: return nil
        case .machine(let fact):
            switch fact {
            case .battery, .charging, .externalPower: self = .power
            case .lowPower: self = .lowPower
            case .network: self = .network
            case .thermal: self = .thermal
            case .idle: self = .user
            case .cpuPressure, .memoryPressure, .ioPressure: self = .pressure
            case .storage: self = .storage
            case .gpu, .hour, .weekday: return nil
            }
        }
    }

    /// Whether the facts of the group are the same in two sets of conditions.
    func isEqual(_ one: Conditions, _ other: Conditions) -> Bool {
        switch self {
        case .power: one.power == other.power
        case .lowPower: one.lowPowerMode == other.lowPowerMode
        case .network: one.network == other.network
        case .thermal: one.thermal == other.thermal
        case .user: one.user == other.user
        case .pressure: one.pressure == other.pressure
        case .storage: one.storage == other.storage
        case .custom(let name): one.custom[name] == other.custom[name]
        }
    }

    /// Whether the source of the facts does not answer.
    func isUnknown(_ conditions: Conditions) -> Bool {
        switch self {
        case .power: conditions.power == .unknown
        case .lowPower: conditions.lowPowerMode == .unknown
        case .network: conditions.network == .unknown
        case .thermal: conditions.thermal == .unknown
        case .user: conditions.user == .unknown
        case .pressure: conditions.pressure == .unknown
        case .storage: conditions.storage == .unknown
        case .custom(let name): conditions.custom[name] == .unknown
        }
    }

    /// Gives the facts of the group the values that all policies like best.
    func setBest(_ conditions: inout Conditions, from present: Conditions) {
        switch self {
        case .power: conditions.power = .known(.mains)
        case .lowPower: conditions.lowPowerMode = .known(false)
        case .network: conditions.network = .known(.unmetered)
        case .thermal: conditions.thermal = .known(.nominal)
        case .user: conditions.user = .known(.idle)
        case .pressure: conditions.pressure = .known(.none)
        case .storage: conditions.storage = .known(ByteCount(bytes: .max))
        case .custom: break
        }
    }
}

/// One way to change the facts of a group.
struct FactChange {
    let acts: [PossibleAct]
    /// What changes.
    ///
    /// A set of changes that contains all parts of another sufficient one is no alternative.
    let parts: Set<String>
    /// How much the change costs a person.
    ///
    /// Our choice: 1 for a switch of `bgtask`, 3 or 4 for a plug, a network or a mode, 5 to 20 for work, and
    /// more for charge and heat, which take hours.
    let cost: Int

    init(_ acts: [PossibleAct], _ parts: Set<String>, _ cost: Int) {
        (self.acts, self.parts, self.cost) = (acts, parts, cost)
    }
}

extension FactGroup {
    /// The ways to change the facts of the group that can matter to some tests; none while they are unknown,
    /// or for a condition that no file defines.
    func options(for tests: [WhenTest], _ subject: Subject, _ situation: Situation) -> [FactChange] {
        let conditions = situation.conditions
        switch self {
        case .custom(let name):
            guard let reading = conditions.custom[name] else { return [] }
            // A condition that is unknown can be set, too.
            return [true, false].filter { .known($0) != reading }.map {
                FactChange([.turning(name, on: $0)], [name], 1)
            }
        case .user:
            return conditions.user.value.map { user in
                user == .active
                    ? [FactChange([.leaveAlone], ["user"], 12)] : [FactChange([.useDevice], ["user"], 4)]
            } ?? []
        case .lowPower:
            return conditions.lowPowerMode.value.map { isOn in
                [FactChange([isOn ? .lowPowerOff : .lowPowerOn], ["lowPower"], 3)]
            } ?? []
        case .network: return conditions.network.value.map { Self.networks(unlike: $0, tests) } ?? []
        case .thermal: return conditions.thermal.value.map(Self.temperatures) ?? []
        case .pressure: return conditions.pressure.value.map { Self.pressures(unlike: $0, tests) } ?? []
        case .storage:
            let required = subject.needs.constraints?.storage
            return conditions.storage.value.map { Self.sizes(unlike: $0, tests, required) } ?? []
        case .power:
            var levels = [situation.settings.batteryStartPercent]
            if let battery = subject.needs.constraints?.battery { levels.append(battery) }
            return conditions.power.value.map { Self.supplies(unlike: $0, tests, levels) } ?? []
        }
    }

    private static func networks(unlike network: NetworkCondition, _ tests: [WhenTest]) -> [FactChange] {
        NetworkCondition.allCases.filter { $0 != network }.map { wanted in
            // Low-data mode is a setting, which stays on for another network.
            let act: PossibleAct =
                wanted == .unmetered && network == .constrained
                ? .lowDataOff : wanted == .unmetered ? .connectUnmetered : .reaching(wanted)
            return FactChange([act], ["network"], wanted == .unmetered ? 3 : 4)
        }
    }

    private static func temperatures(unlike thermal: ThermalCondition) -> [FactChange] {
        let all = ThermalCondition.allCases
        guard let present = all.firstIndex(of: thermal) else { return [] }
        return all.indices.filter { $0 != present }.map { index in
            if index > present { return FactChange([.warming(to: all[index])], ["warmer"], 40 + index) }
            return FactChange([index == 0 ? .coolDown : .cooling(to: all[index])], ["cooler"], 30 + index)
        }
    }

    /// Resources that no test names are only relieved.
    private static func pressures(
        unlike pressure: PressureCondition, _ tests: [WhenTest]
    ) -> [FactChange] {
        let facts: [MachineFact] = [.cpuPressure, .memoryPressure, .ioPressure]
        let isTested = facts.map { fact in tests.contains { $0.fact == .machine(fact) } }
        let isBusy = [pressure.cpu, pressure.memory, pressure.io]
        return (1..<8).compactMap { bits -> FactChange? in
            let changes = facts.indices.map { bits & (1 << $0) != 0 }
            if facts.indices.contains(where: { changes[$0] && !isTested[$0] && !isBusy[$0] }) { return nil }
            var (acts, parts, cost): ([PossibleAct], Set<String>, Int) = ([], [], 0)
            let closed = facts.indices.map { changes[$0] && isBusy[$0] }
            if closed.contains(true) {
                acts.append(
                    .closing(PressureCondition(cpu: closed[0], memory: closed[1], io: closed[2])))
                cost += 5
            }
            for index in facts.indices where changes[index] {
                parts.insert("\(facts[index])")
                if isBusy[index] { continue }
                acts.append(.busying(facts[index]))
                cost += 20
            }
            return FactChange(acts, parts, cost)
        }
    }

    private static func sizes(
        unlike free: ByteCount, _ tests: [WhenTest], _ required: ByteCount?
    ) -> [FactChange] {
        let tested = tests.compactMap { test -> Int64? in
            if case .size(let size) = test.literal { size.bytes } else { nil }
        }
        let wanted = tested + tested.map { $0 + 1 } + (required.map { [$0.bytes] } ?? [])
        let more = Set(wanted).filter { $0 > free.bytes }.sorted()
        let less = Set(tested).filter { $0 > 0 && $0 <= free.bytes }.sorted(by: >)
        // The smallest change is the cheapest.
        return more.enumerated().map { index, size in
            FactChange([.freeing(ByteCount(bytes: size), from: free)], ["more space"], 8 + index)
        }
            + less.enumerated().map { index, size in
                FactChange([.filling(below: ByteCount(bytes: size))], ["less space"], 20 + index)
            }
    }

    /// Other power supplies and charges of the battery.
    private static func supplies(
        unlike power: PowerCondition, _ tests: [WhenTest], _ levels: [Int]
    ) -> [FactChange] {
        let isPlugged = power.externalPower
        let plug = FactChange([isPlugged ? .unplug : .plugIn], ["plug"], 3)
        guard let charge = power.batteryPercent else { return [plug] }
        var levels = Set(levels)
        for case .number(let millionths) in tests.map(\.literal) {
            let whole = Int(clamping: millionths / 1_000_000)
            if whole <= 101 { levels.formUnion([whole - 1, whole, whole + 1]) }
        }
        let asksForCharging = tests.contains { $0.fact == .machine(.charging) }
        if asksForCharging { levels.insert(charge - 1) }
        var changes = [plug]
        for level in levels.sorted() where level != charge && (0...100).contains(level) {
            let distance = abs(level - charge)
            if level > charge {
                let charging = PossibleAct.charging(to: level)
                let parts: Set<String> = isPlugged ? ["more charge"] : ["more charge", "plug"]
                changes.append(FactChange([charging], parts, 30 + distance))
                changes.append(
                    FactChange(
                        [charging, .unplug], parts.union([isPlugged ? "plug" : "unplug"]), 33 + distance))
            } else {
                changes.append(
                    FactChange(
                        [.discharging(to: level, power)],
                        isPlugged ? ["less charge", "plug again"] : ["less charge"],
                        (isPlugged ? 36 : 28) + distance))
                var unplugged = power
                unplugged.externalPower = false
                changes.append(
                    isPlugged
                        ? FactChange(
                            [PossibleAct.unplug.beforeOthers, .discharging(to: level, unplugged)],
                            ["less charge", "plug"], 33 + distance)
                        : FactChange(
                            [.discharging(to: level, power), .plugIn], ["less charge", "plug"],
                            39 + distance))
            }
        }
        if asksForCharging {
            changes.append(
                isPlugged
                    ? FactChange([.chargingFully], ["full"], 60)
                    : FactChange([PossibleAct.plugIn.beforeOthers, .chargingFully], ["full", "plug"], 63))
        }
        return changes
    }
}
