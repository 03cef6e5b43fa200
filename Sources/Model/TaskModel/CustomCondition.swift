/// A condition that a file of `conditions.d` defines: a source, and when its value counts as *on*.
public struct CustomCondition: Equatable, Hashable, Sendable, Codable {
    /// Where its value comes from.
    public enum Source: Equatable, Hashable, Sendable, Codable {
        /// A program that is run again and again.
        case command(ConditionCommand)
        /// The first line of a file, an absolute path; read when inotify reports a change.
        case file(String)
    }

    /// What manifests and `bgtask conditions set` call it; see ``isName(_:)``.
    public var name: String
    /// Where its value comes from.
    public var source: Source
    /// When it is on.
    public var predicate: ConditionPredicate

    /// Makes a definition from checked parts.
    public init(name: String, source: Source, predicate: ConditionPredicate) {
        self.name = name
        self.source = source
        self.predicate = predicate
    }

    /// The machine's own conditions, whose names no file may take.
    public static let machineNames = ["power", "lowPower", "network", "thermal", "user", "pressure", "gpu"]

    /// Whether a text is the name of a condition of this kind: a lower-case letter, then lower-case letters,
    /// digits and hyphens, at most 64 in all.
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
    /// Which part of the result.
    public enum Value: String, Sendable, Codable, CaseIterable {
        /// The exit status, 0 through 255.
        case exitStatus
        /// The first line of what it prints; a status other than 0 is a failure.
        case firstLine
    }

    /// The program, an absolute path, and its arguments.
    public var arguments: [String]
    /// From the start of one run to the start of the next; 1 s through 1 day, CLOCK_MONOTONIC.
    public var interval: Duration
    /// After this it and all that it started are killed, and the value is unknown; less than the interval.
    public var timeout: Duration
    /// What counts.
    public var value: Value

    /// Makes a command from checked parts.
    public init(arguments: [String], interval: Duration, timeout: Duration, value: Value) {
        self.arguments = arguments
        self.interval = interval
        self.timeout = timeout
        self.value = value
    }
}

/// What a value must be for its condition to be on.
public enum ConditionPredicate: Equatable, Hashable, Sendable, Codable {
    /// The same text, or the same number.
    case equals(String)
    /// Neither.
    case notEquals(String)
    /// A greater number.
    case above(Double)
    /// A smaller number.
    case below(Double)
    /// A regular expression that can match anywhere in the line, unless it uses `^` and `$`.
    case matches(String)

    /// Whether a value satisfies it.
    ///
    /// - Returns: `nil` where that can't be said: a text that should be a number, an expression that is none.
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
