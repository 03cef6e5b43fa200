/// An expression of `when:`: what must be true while a task runs.
///
/// The language is small and total: each text either has an error with a position, or a meaning. An
/// expression has at most ``longest`` bytes, ``mostTests`` tests and a depth of ``deepest``, so its
/// evaluation takes microseconds. Documentation/Manifest.md describes it.
public struct WhenExpression: Hashable, Sendable {
    /// A part of an expression.
    public indirect enum Node: Hashable, Sendable {
        /// All parts must be true; there are two or more.
        case and([Node])
        /// At least one part must be true; there are two or more.
        case or([Node])
        /// The part must be false.
        case not(Node)
        /// A known value; `nil` is unknown, which only ``WhenExpression/resolved(_:)`` makes.
        case constant(Bool?)
        /// A comparison.
        case test(WhenTest)
    }

    /// The greatest length in bytes of UTF-8: 1,024, our choice.
    public static let longest = 1024
    /// The greatest number of tests: 64, our choice.
    public static let mostTests = 64
    /// How deep `not` and parentheses can be nested: 16, our choice.
    public static let deepest = 16

    /// The expression as a tree.
    public let root: Node

    /// Makes an expression from a tree that obeys the limits and types of the language.
    public init(root: Node) { self.root = root }

    /// Reads an expression.
    ///
    /// - Parameters:
    ///   - text: The expression.
    ///   - payload: The keys of the payload with their types, as the manifest declares them.
    /// - Throws: ``WhenError`` with the position of the first mistake.
    public init(_ text: String, payload: [String: PayloadType]) throws(WhenError) {
        try self.init(text, payload: payload, longest: Self.longest)
    }

    private init(_ text: String, payload: [String: PayloadType], longest: Int) throws(WhenError) {
        var parser = try WhenParser(text, payload: payload, longest: longest)
        root = try parser.whole()
    }

    /// The expression in its standard form; reading this text gives the same expression.
    public var text: String { Self.text(root) }

    private static func text(_ node: Node) -> String {
        switch node {
        case .and(let parts): parts.map { text($0, in: node) }.joined(separator: " and ")
        case .or(let parts): parts.map { text($0, in: node) }.joined(separator: " or ")
        case .not(let part): "not \(text(part, in: node))"
        case .constant(let flag): flag.map { "\($0)" } ?? "unknown"
        case .test(let test): test.text
        }
    }

    /// A part inside another one, in parentheses where they are needed.
    private static func text(_ part: Node, in whole: Node) -> String {
        switch (part, whole) {
        case (.or, .and), (.or, .or), (.and, .and), (.or, .not), (.and, .not): "(\(text(part)))"
        default: text(part)
        }
    }

    /// Every test, from left to right.
    public var tests: [WhenTest] {
        func tests(_ node: Node) -> [WhenTest] {
            switch node {
            case .and(let parts), .or(let parts): parts.flatMap(tests)
            case .not(let part): tests(part)
            case .constant: []
            case .test(let test): [test]
            }
        }
        return tests(root)
    }

    /// The value of the expression.
    ///
    /// A test of an unknown fact is unknown. `and` is false if a part is false, and `or` is true if a part is
    /// true, whatever the others are; else an unknown part makes the whole unknown.
    ///
    /// - Parameter value: The value of a fact; `nil` if it is unknown.
    /// - Returns: The value; `nil` if it is unknown.
    public func value(_ value: (WhenFact) -> WhenValue?) -> Bool? { Self.value(root, value) }

    private static func value(_ node: Node, _ fact: (WhenFact) -> WhenValue?) -> Bool? {
        switch node {
        case .and(let parts): combine(parts, decidedBy: false, fact)
        case .or(let parts): combine(parts, decidedBy: true, fact)
        case .not(let part): value(part, fact).map { !$0 }
        case .constant(let flag): flag
        case .test(let test): test.holds(fact(test.fact))
        }
    }

    private static func combine(
        _ parts: [Node], decidedBy decisive: Bool, _ fact: (WhenFact) -> WhenValue?
    ) -> Bool? {
        var isUnknown = false
        for part in parts {
            switch value(part, fact) {
            case decisive: return decisive
            case nil: isUnknown = true
            default: continue
            }
        }
        return isUnknown ? nil : !decisive
    }

    /// The expression for one request: the tests of its payload are replaced by their values.
    public func resolved(_ payload: (String) -> WhenValue?) -> WhenExpression {
        replacing { test in
            guard case .payload(let key, _) = test.fact else { return .test(test) }
            return .constant(test.holds(payload(key)))
        }
    }

    /// The expression at one time: the tests of the hour and the day of the week are replaced by their
    /// values.
    public func resolvedForClock(_ clock: (MachineFact) -> WhenValue?) -> WhenExpression {
        replacing { test in
            guard case .machine(let fact) = test.fact, fact.isOfClock else { return .test(test) }
            return .constant(test.holds(clock(fact)))
        }
    }

    /// The expression with other nodes in the places of its tests, simplified where they are constants.
    private func replacing(_ replacement: (WhenTest) -> Node) -> WhenExpression {
        WhenExpression(root: Self.replacing(in: root, replacement))
    }

    private static func replacing(in node: Node, _ replacement: (WhenTest) -> Node) -> Node {
        switch node {
        case .test(let test): return replacement(test)
        case .constant: return node
        case .not(let part):
            let part = replacing(in: part, replacement)
            if case .constant(let flag) = part { return .constant(flag.map { !$0 }) }
            return .not(part)
        case .and(let parts):
            return joined(parts.map { replacing(in: $0, replacement) }, decidedBy: false) { .and($0) }
        case .or(let parts):
            return joined(parts.map { replacing(in: $0, replacement) }, decidedBy: true) { .or($0) }
        }
    }

    /// Parts without the constants that change nothing, so that few different expressions remain.
    private static func joined(
        _ parts: [Node], decidedBy decisive: Bool, _ join: ([Node]) -> Node
    ) -> Node {
        if parts.contains(.constant(decisive)) { return .constant(decisive) }
        let rest = parts.filter { $0 != .constant(!decisive) }
        return rest.count > 1 ? join(rest) : rest.first ?? .constant(!decisive)
    }

    /// The expression without `not`: `not network == unmetered` becomes `network != unmetered`.
    ///
    /// Its value is always the same, also if it is unknown. So what reads the tests of this form gives the
    /// same result for all ways to write an expression.
    public var withoutNegations: WhenExpression {
        func positive(_ node: Node, isNegated: Bool) -> Node {
            switch node {
            case .and(let parts):
                let parts = parts.map { positive($0, isNegated: isNegated) }
                return isNegated ? .or(parts) : .and(parts)
            case .or(let parts):
                let parts = parts.map { positive($0, isNegated: isNegated) }
                return isNegated ? .and(parts) : .or(parts)
            case .not(let part): return positive(part, isNegated: !isNegated)
            case .constant(let flag): return .constant(isNegated ? flag.map { !$0 } : flag)
            case .test(let test):
                guard isNegated else { return node }
                return .test(WhenTest(test.fact, test.comparison.opposite, test.literal))
            }
        }
        return WhenExpression(root: positive(root, isNegated: false))
    }

    /// Whether a test depends on the hour or the day of the week.
    public var dependsOnClock: Bool {
        tests.contains { if case .machine(let fact) = $0.fact { fact.isOfClock } else { false } }
    }

    /// The keys of the payload that the expression reads.
    public var payloadKeys: Set<String> {
        Set(tests.compactMap { if case .payload(let key, _) = $0.fact { key } else { nil } })
    }

    /// The custom conditions that the expression reads, in their order in the text.
    public var conditionNames: [String] {
        var names: [String] = []
        for case .condition(let name) in tests.map(\.fact) where !names.contains(name) { names.append(name) }
        return names
    }
}

/// Recordings contain the text of an expression and the types of the payload's keys that it reads.
extension WhenExpression: Codable {
    private enum CodingKeys: String, CodingKey {
        case text, payload
    }

    /// Decodes the output of ``encode(to:)``.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let payload = try values.decodeIfPresent([String: PayloadType].self, forKey: .payload) ?? [:]
        do {
            // The standard form has blanks that the author's text may lack.
            try self.init(
                try values.decode(String.self, forKey: .text), payload: payload, longest: 2 * Self.longest)
        } catch let error as WhenError {
            throw DecodingError.dataCorruptedError(
                forKey: .text, in: values, debugDescription: error.finding)
        }
    }

    /// Encodes the text, and the types of the payload's keys if there are any.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(text, forKey: .text)
        var payload: [String: PayloadType] = [:]
        for case .payload(let key, let type) in tests.map(\.fact) { payload[key] = type }
        if !payload.isEmpty { try values.encode(payload, forKey: .payload) }
    }
}
