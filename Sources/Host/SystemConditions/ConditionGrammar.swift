import StrictFiles
public import TaskModel

/// Why a setting `KEY=VALUE` was refused.
public struct ConditionSettingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The key as given; the whole text if it has no `=`.
    public let key: String
    /// The value as given; `nil` if the key is wrong or the value is missing.
    public let found: String?
    /// The valid alternatives: the keys, or the values of the key.
    public let valid: [String]

    /// The problem, as the part of a message after the key.
    public var finding: String {
        if let found { return "'\(found)' is not a valid value" }
        return valid.contains(key) ? "it has no value" : "there is no condition of this name"
    }

    /// The error of a call that sets conditions.
    public var asSubmissionError: SubmissionError {
        SubmissionError(code: .invalidRequest, subject: key, finding: finding, remedy: remedy)
    }

    /// Advice that names the most similar valid word and lists all valid words.
    public var remedy: String {
        if found == nil, valid.contains(key) {
            return "Write \(key)=VALUE. 'bgtask help conditions set' lists the values"
        }
        let nearest = Nearest.match(found ?? key, in: valid).map { "Did you mean '\($0)'? " } ?? ""
        let list = valid.joined(separator: ", ")
        return nearest + (found == nil ? "Write KEY=VALUE. Valid keys: \(list)" : "Valid values: \(list)")
    }

    /// `power: 'full' is not a valid value. Valid values: external, battery:PERCENT%, …`.
    public var description: String { "\(key): \(finding). \(remedy)" }
}

/// Parses and formats settings of conditions.
enum ConditionGrammar {
    /// Parses one `KEY=VALUE`; `keys` are the conditions that this host has.
    static func parse(_ setting: String, keys: [ConditionKey]) throws(ConditionSettingError) -> (
        ConditionKey, Reading<ConditionValue>
    ) {
        let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 2, let key = keys.first(where: { $0.name == parts[0] }) else {
            throw ConditionSettingError(
                key: parts.first ?? setting, found: nil, valid: keys.map(\.name))
        }
        if parts[1] == "unknown" { return (key, .unknown) }
        guard let value = value(of: key, parts[1]) else {
            throw ConditionSettingError(key: parts[0], found: parts[1], valid: validValues(of: key))
        }
        return (key, .known(value))
    }

    private static func value(of key: ConditionKey, _ text: String) -> ConditionValue? {
        switch key {
        case .power: power(text).map(ConditionValue.power)
        case .lowPower: flag(text).map(ConditionValue.lowPower)
        case .network: NetworkCondition(rawValue: text).map(ConditionValue.network)
        case .thermal: ThermalCondition(rawValue: text).map(ConditionValue.thermal)
        case .user: UserCondition(rawValue: text).map(ConditionValue.user)
        case .pressure: pressure(text).map(ConditionValue.pressure)
        case .gpu: flag(text).map(ConditionValue.gpu)
        case .storage: (try? ByteCountText.parse(text)).map(ConditionValue.storage)
        case .custom: flag(text).map(ConditionValue.custom)
        }
    }

    /// The values that an error message lists for a key; `unknown` simulates a source that vanished.
    private static func validValues(of key: ConditionKey) -> [String] {
        let values: [String] =
            switch key {
            case .power: ["external", "battery:PERCENT%", "charging:PERCENT%"]
            case .lowPower, .gpu, .custom: ["on", "off"]
            case .network: NetworkCondition.allCases.map(\.rawValue)
            case .thermal: ThermalCondition.allCases.map(\.rawValue)
            case .user: UserCondition.allCases.map(\.rawValue)
            case .storage: ["SIZE, such as 2GiB or 500MiB"]
            case .pressure: ["none", "cpu", "memory", "io", "several with commas"]
            }
        return values + ["unknown"]
    }

    private static func flag(_ text: String) -> Bool? { text == "on" ? true : text == "off" ? false : nil }

    private static func power(_ text: String) -> PowerCondition? {
        if text == "external" { return .mains }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasSuffix("%"), parts[1].count <= 4,
            parts[1].dropLast().allSatisfy({ $0.isASCII && $0.isNumber }),
            let percent = Int(parts[1].dropLast()),
            percent <= 100
        else { return nil }
        switch parts[0] {
        case "battery":
            return PowerCondition(externalPower: false, isCharging: false, batteryPercent: percent)
        case "charging": return PowerCondition(externalPower: true, isCharging: true, batteryPercent: percent)
        default: return nil
        }
    }

    private static func pressure(_ text: String) -> PressureCondition? {
        if text == "none" { return PressureCondition.none }
        var pressure = PressureCondition.none
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            switch word {
            case "cpu": pressure.cpu = true
            case "memory": pressure.memory = true
            case "io": pressure.io = true
            default: return nil
            }
        }
        return pressure
    }

    /// Formats a reading in the form that ``parse(_:keys:)`` accepts.
    static func text(_ reading: Reading<ConditionValue>) -> String {
        switch reading.value {
        case nil: return "unknown"
        case .power(let power):
            guard let percent = power.batteryPercent, power.isCharging || !power.externalPower else {
                return power.externalPower ? "external" : "unknown"
            }
            return power.externalPower ? "charging:\(percent)%" : "battery:\(percent)%"
        case .lowPower(let isOn), .gpu(let isOn), .custom(let isOn): return isOn ? "on" : "off"
        case .network(let network): return network.rawValue
        case .storage(let free): return free.description.filter { $0 != " " }
        case .thermal(let thermal): return thermal.rawValue
        case .user(let user): return user.rawValue
        case .pressure(let pressure):
            let words = [("cpu", pressure.cpu), ("memory", pressure.memory), ("io", pressure.io)]
            let named = words.filter(\.1).map(\.0)
            return named.isEmpty ? "none" : named.joined(separator: ",")
        }
    }
}
