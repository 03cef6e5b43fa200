/// A condition that a file in `conditions.d` defines: a source of values, and a test that is true when the
/// condition is on.
public struct CustomCondition: Equatable, Hashable, Sendable, Codable {
    /// Where the values come from.
    public enum Source: Equatable, Hashable, Sendable, Codable {
        /// A program that the host runs repeatedly.
        case command(ConditionCommand)
        /// The first line of the file at this absolute path; read again when inotify reports a change.
        case file(String)
    }

    /// The name in manifests and in `bgtask conditions set`; see ``isName(_:)``.
    public var name: String
    /// Where the values come from.
    public var source: Source
    /// Which values mean that the condition is on.
    public var predicate: ConditionPredicate

    /// Makes a definition from values that the caller has checked.
    public init(name: String, source: Source, predicate: ConditionPredicate) {
        self.name = name
        self.source = source
        self.predicate = predicate
    }

    /// The names of the built-in conditions, which a file cannot use.
    public static let machineNames = [
        "power", "lowPower", "network", "thermal", "user", "pressure", "gpu", "storage",
    ]

    /// Whether a text is a valid name of a custom condition: a lower-case letter, then lower-case letters,
    /// digits and hyphens, at most 64 characters in all, and not a name of a built-in condition.
    public static func isName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte) }
        guard let first = bytes.first, isLetter(first), bytes.count <= 64 else { return false }
        return bytes.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
            && !machineNames.contains(text)
    }
}

/// A program whose result is a condition's value.
public struct ConditionCommand: Equatable, Hashable, Sendable, Codable {
    /// Which part of the result is the value.
    public enum Value: String, Sendable, Codable, CaseIterable {
        /// The exit status, 0 through 255.
        case exitStatus
        /// The first line of standard output; an exit status other than 0 is a failure.
        case firstLine
    }

    /// The absolute path of the program, then its arguments.
    public var arguments: [String]
    /// Time from the start of one run to the start of the next, on CLOCK_MONOTONIC: 1 s through 1 day.
    public var interval: Duration
    /// The longest time of one run; less than ``interval``.
    ///
    /// When it has passed, the host kills the program and all its descendants, and the value is unknown.
    public var timeout: Duration
    /// Which part of the result is the value.
    public var value: Value

    /// Makes a command from values that the caller has checked.
    public init(arguments: [String], interval: Duration, timeout: Duration, value: Value) {
        self.arguments = arguments
        self.interval = interval
        self.timeout = timeout
        self.value = value
    }
}

/// The test of a custom condition: the condition is on if the value passes it.
public enum ConditionPredicate: Equatable, Hashable, Sendable, Codable {
    /// The value is the same text, or the same number.
    case equals(String)
    /// The value is neither the same text nor the same number.
    case notEquals(String)
    /// The value is a greater number.
    case above(Double)
    /// The value is a smaller number.
    case below(Double)
    /// The value contains a match of this regular expression; `^` and `$` match only at its beginning and
    /// end.
    case matches(String)

    /// Whether a value passes the test.
    ///
    /// - Returns: `nil` if the test does not apply: a number is needed and the text is not one, or the
    ///   regular expression is invalid.
    public func holds(_ value: String) -> Bool? {
        switch self {
        case .equals(let text): return Self.areEqual(value, text)
        case .notEquals(let text): return !Self.areEqual(value, text)
        case .above(let limit): return Double(value).flatMap { $0.isNaN ? nil : $0 > limit }
        case .below(let limit): return Double(value).flatMap { $0.isNaN ? nil : $0 < limit }
        case .matches(let pattern):
            guard let expression = try? Regex(pattern) else { return nil }
            return value.firstMatch(of: expression) != nil
        }
    }

    private static func areEqual(_ left: String, _ right: String) -> Bool {
        if left == right { return true }
        guard let left = Double(left), let right = Double(right) else { return false }
        return left == right
    }
}
