/// Whether an expression can be true at all.
extension WhenExpression {
    /// A part of an expression that no values of the facts make true.
    public struct Impossibility: Equatable, Sendable {
        /// The smallest such part: `idle and not idle`.
        public var part: String
        /// The position of its last test in characters, counted from 1.
        public var column: Int
    }

    /// How many combinations of values are tried before an expression counts as one that can be true: 4,096.
    ///
    /// Our choice: enough for twelve facts that are true or false, and tried within milliseconds.
    private static let mostTries = 4096

    /// Whether some values of the facts make the expression true.
    ///
    /// This is also so for an expression with too many combinations of values to try.
    public var canBeTrue: Bool { Self.canBeTrue(root) }

    /// The first part of an expression that can never be true, and on which nothing else depends: the whole,
    /// or one of the alternatives that `or` joins.
    ///
    /// - Parameters:
    ///   - text: The expression.
    ///   - payload: The keys of the payload with their types, as the manifest declares them.
    /// - Returns: The part; `nil` if there is none.
    /// - Throws: ``WhenError`` with the position of the first mistake.
    public static func impossibility(
        in text: String, payload: [String: PayloadType]
    ) throws(WhenError) -> Impossibility? {
        var parser = try WhenParser(text, payload: payload, longest: longest)
        let root = try parser.whole()
        var first = 0
        guard let (node, before) = impossiblePart(root, &first) else { return nil }
        let last = before + WhenExpression(root: node).tests.count - 1
        // A constant has no test, so its position is that of the whole.
        let column = parser.testColumns.indices.contains(last) ? parser.testColumns[last] : 1
        return Impossibility(part: WhenExpression(root: node).text, column: column)
    }

    /// The smallest part that makes a node impossible, with the number of tests before it.
    private static func impossiblePart(_ node: Node, _ before: inout Int) -> (Node, before: Int)? {
        let start = before
        before += WhenExpression(root: node).tests.count
        // An alternative that can't be true is a mistake, even if another one can.
        if case .or(let parts) = node {
            var next = start
            for part in parts {
                if let found = impossiblePart(part, &next) { return found }
            }
            return nil
        }
        if canBeTrue(node) { return nil }
        guard case .and(let parts) = node else { return (node, start) }
        var next = start
        for part in parts {
            if let found = impossiblePart(part, &next) { return found }
        }
        return contradiction(in: parts, start) ?? (node, start)
    }

    /// The shortest run of parts that contradict each other.
    private static func contradiction(in parts: [Node], _ before: Int) -> (Node, before: Int)? {
        var starts = [before]
        for part in parts { starts.append((starts.last ?? 0) + WhenExpression(root: part).tests.count) }
        for length in 2..<max(3, parts.count) where length < parts.count {
            for first in 0...(parts.count - length) {
                let run = Node.and(Array(parts[first..<(first + length)]))
                if !canBeTrue(run) { return (run, starts[first]) }
            }
        }
        return nil
    }

    private static func canBeTrue(_ root: Node) -> Bool {
        let expression = WhenExpression(root: withLinks(root))
        var tests: [WhenFact: [WhenTest]] = [:]
        var facts: [WhenFact] = []
        for test in expression.tests {
            if tests[test.fact] == nil { facts.append(test.fact) }
            tests[test.fact, default: []].append(test)
        }
        let values = facts.map { Self.values(of: $0, in: tests[$0] ?? []) }
        var chosen: [WhenFact: WhenValue] = [:]
        var tries = 0
        func search(_ index: Int) -> Bool {
            tries += 1
            if tries > mostTries { return true }
            switch expression.value({ chosen[$0] }) {
            case true: return true
            case false: return false
            case nil: break
            }
            guard index < facts.count else { return false }
            defer { chosen[facts[index]] = nil }
            for value in values[index] {
                chosen[facts[index]] = value
                if search(index + 1) { return true }
            }
            return false
        }
        return search(0)
    }

    /// A node together with what is always true of its facts: a battery charges only on external power.
    private static func withLinks(_ root: Node) -> Node {
        let facts = Set(WhenExpression(root: root).tests.map(\.fact))
        guard facts.isSuperset(of: [.machine(.charging), .machine(.externalPower)]) else { return root }
        func isTrue(_ fact: MachineFact) -> Node {
            .test(WhenTest(.machine(fact), .equal, .boolean(true)))
        }
        return .and([root, .or([.not(isTrue(.charging)), isTrue(.externalPower)])])
    }

    /// Values of a fact of which each makes a different set of its tests true.
    private static func values(of fact: WhenFact, in tests: [WhenTest]) -> [WhenValue] {
        var seen: Set<[Bool?]> = []
        return candidates(of: fact, in: tests).filter { value in
            seen.insert(tests.map { $0.holds(value) }).inserted
        }
    }

    private static func candidates(of fact: WhenFact, in tests: [WhenTest]) -> [WhenValue] {
        let numbers = tests.compactMap { test -> Double? in
            if case .number(let number) = test.literal.value { number } else { nil }
        }.sorted()
        switch fact.type {
        case .boolean: return [.boolean(true), .boolean(false)]
        case .word(let words, _): return words.map(WhenValue.text)
        case .text:
            let texts = tests.compactMap { test -> String? in
                if case .text(let text) = test.literal.value { text } else { nil }
            }
            return (texts + [texts.joined() + "x"]).map(WhenValue.text)
        case .hour: return (0...23).map { .number(Double($0)) }
        case .percent:
            return numbers.flatMap { [$0.rounded(.down) - 1, $0.rounded(.down), $0.rounded(.up), $0 + 1] }
                .map { .number(min(100, max(0, $0.rounded(.down)))) }
        case .size: return numbers.flatMap { [$0 - 1, $0, $0 + 1] }.filter { $0 >= 0 }.map(WhenValue.number)
        case .number:
            let between = zip(numbers, numbers.dropFirst()).map { ($0 + $1) / 2 }
            let ends = [(numbers.first ?? 0) - 1, (numbers.last ?? 0) + 1]
            return (numbers + between + ends).map(WhenValue.number)
        }
    }
}
