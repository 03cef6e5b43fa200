/// A fact that an expression of `when:` can test.
public enum WhenFact: Hashable, Sendable {
    /// A fact about the machine or the clock.
    case machine(MachineFact)
    /// Whether a custom condition is on: `condition.NAME`.
    case condition(String)
    /// The value of a key of the request's payload: `payload.KEY`.
    case payload(String, PayloadType)

    /// The name in expressions.
    public var name: String {
        switch self {
        case .machine(let fact): fact.rawValue
        case .condition(let name): "condition.\(name)"
        case .payload(let key, _): "payload.\(key)"
        }
    }

    /// The type of the fact's value.
    public var type: WhenType {
        switch self {
        case .machine(let fact): fact.type
        case .condition: .boolean
        case .payload(_, let type):
            switch type {
            case .boolean: .boolean
            case .integer, .number: .number
            case .string: .text
            }
        }
    }
}

/// A fact about the machine or the clock; the raw value is its name in expressions.
public enum MachineFact: String, CaseIterable, Hashable, Sendable {
    /// The charge of the battery in percent; 100 on a machine without a battery.
    case battery
    /// Whether the battery is charging.
    case charging
    /// Whether external power is connected.
    case externalPower
    /// Whether low-power mode is on.
    case lowPower
    /// The network: `none`, `constrained`, `metered` or `unmetered`.
    case network
    /// The temperature: `nominal`, `fair`, `serious` or `critical`, in this order.
    case thermal
    /// Whether the user is idle.
    case idle
    /// Whether the CPU is under pressure.
    case cpuPressure
    /// Whether memory is under pressure.
    case memoryPressure
    /// Whether disks are under pressure.
    case ioPressure
    /// Whether tasks may use a GPU.
    case gpu
    /// The free space on the file system of the data directories.
    case storage
    /// The hour of the local day, 0 through 23.
    case hour
    /// The local day of the week: `Mon` through `Sun`.
    case weekday

    /// The type of the fact's value.
    public var type: WhenType {
        switch self {
        case .battery: .percent
        case .charging, .externalPower, .lowPower, .idle, .cpuPressure, .memoryPressure, .ioPressure, .gpu:
            .boolean
        case .network: .word(NetworkCondition.allCases.map(\.rawValue), isOrdered: false)
        case .thermal: .word(ThermalCondition.allCases.map(\.rawValue), isOrdered: true)
        case .storage: .size
        case .hour: .hour
        case .weekday: .word(Self.weekdays, isOrdered: false)
        }
    }

    /// The days of the week, from Monday on, as in calendar expressions.
    public static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

    /// Whether the fact changes with the clock alone.
    public var isOfClock: Bool { self == .hour || self == .weekday }
}

/// The type of a fact's value.
public enum WhenType: Hashable, Sendable {
    /// `true` or `false`.
    case boolean
    /// A number from 0 through 100; the sign `%` is optional.
    case percent
    /// An hour of the day: a whole number from 0 through 23.
    case hour
    /// Any number.
    case number
    /// A number of bytes with a unit.
    case size
    /// Text in quotation marks.
    case text
    /// One of these words; only ordered ones can be compared with `<`, `<=`, `>` and `>=`.
    case word([String], isOrdered: Bool)

    /// Whether `<`, `<=`, `>` and `>=` compare values of the type.
    public var isOrdered: Bool {
        switch self {
        case .boolean, .text: false
        case .percent, .hour, .number, .size: true
        case .word(_, let isOrdered): isOrdered
        }
    }

    /// An example of a value, for messages.
    var example: String {
        switch self {
        case .boolean: "true"
        case .percent: "40%"
        case .hour: "22"
        case .number: "5"
        case .size: "2GiB"
        case .text: "\"text\""
        case .word(let words, _): words.joined(separator: ", ")
        }
    }

    /// The type for messages: `a percentage`.
    var phrase: String {
        switch self {
        case .boolean: "true or false"
        case .percent: "a percentage from 0 to 100"
        case .hour: "a whole hour from 0 to 23"
        case .number: "a number"
        case .size: "a size with its unit"
        case .text: "a text in quotation marks"
        case .word(let words, _): "one of \(words.joined(separator: ", "))"
        }
    }
}

/// The value of a fact.
public enum WhenValue: Hashable, Sendable {
    /// True or false.
    case boolean(Bool)
    /// A number; of a size, its bytes.
    case number(Double)
    /// A word or a text.
    case text(String)
}

/// A comparison in a test.
public enum WhenComparison: String, CaseIterable, Hashable, Sendable {
    /// Equal.
    case equal = "=="
    /// Not equal.
    case notEqual = "!="
    /// Less or equal.
    case atMost = "<="
    /// Greater or equal.
    case atLeast = ">="
    /// Less.
    case below = "<"
    /// Greater.
    case above = ">"

    /// Whether the comparison needs an order of the values.
    public var needsOrder: Bool { self != .equal && self != .notEqual }

    /// The comparison that is true exactly where this one is false.
    public var opposite: WhenComparison {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .atMost: .above
        case .atLeast: .below
        case .below: .atLeast
        case .above: .atMost
        }
    }

    /// Whether the comparison is true of two values, the fact's first.
    func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .atMost: left <= right
        case .atLeast: left >= right
        case .below: left < right
        case .above: left > right
        }
    }
}
