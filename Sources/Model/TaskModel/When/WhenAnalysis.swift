/// Why an expression is not true, clause by clause.
public struct WhenAnalysis: Equatable, Sendable {
    /// A test that would have to change.
    public struct Clause: Equatable, Sendable {
        /// What would have to hold: `battery >= 40` or `not idle`.
        public var text: String
        /// The present value: `battery is 15 %`.
        public var observed: String
        /// Whether the change of this clause alone would make the expression true.
        public var isEnough: Bool
        /// The test in the expression.
        public var test: WhenTest
        /// The value of the test that helps the whole expression.
        public var wanted: Bool
        /// Whether something else excludes that the clause is true, as ``WhenAnalysis/excluded`` says.
        public var isExcluded = false

        /// Whether the clause is about the request's payload, which can't change while the request waits.
        public var isOfPayload: Bool { if case .payload = test.fact { true } else { false } }
    }

    /// The cost of a change that something beside the expression excludes.
    ///
    /// Such a change is in ``needed`` only if no set is enough without it.
    public static let excluded = Int.max - 1

    /// The value of the expression; `nil` if it is unknown.
    public var value: Bool?
    /// The tests that fail, from left to right; empty if the expression is true.
    public var failing: [Clause]
    /// A set of clauses which together would make the expression true, none of which can be left out of the
    /// set; empty if there is none.
    ///
    /// Of several such sets, it is one whose clauses are easy to change.
    public var needed: [Clause]
    /// Whether there are other sets than ``needed``.
    public var hasChoice: Bool

    /// Analyzes an expression.
    ///
    /// - Parameters:
    ///   - expression: The expression.
    ///   - cost: How far away the change of a test to this value is; greater values are avoided in
    ///     ``needed``. Changes of the payload are avoided most.
    ///   - value: The value of a fact; `nil` if it is unknown.
    public init(
        _ expression: WhenExpression, cost: (WhenTest, Bool) -> Int = { _, _ in 0 },
        _ value: (WhenFact) -> WhenValue?
    ) {
        self.value = expression.value(value)
        failing = []
        needed = []
        hasChoice = false
        if self.value == true { return }
        var leaves: [Leaf] = []
        Self.collect(expression.root, isNegated: false, value, &leaves)
        let wrong = leaves.indices.filter { leaves[$0].present != leaves[$0].wanted }
        func isTrue(changing changed: Set<Int>) -> Bool {
            var next = 0
            return Self.evaluate(expression.root, leaves, changed, &next) == true
        }
        func price(_ index: Int) -> Int {
            let clause = leaves[index]
            if case .payload = clause.test.fact { return .max }
            return cost(clause.test, clause.wanted)
        }
        let costs = Dictionary(uniqueKeysWithValues: wrong.map { ($0, price($0)) })
        func clause(_ index: Int) -> Clause {
            Clause(
                text: leaves[index].text, observed: leaves[index].observed,
                isEnough: isTrue(changing: [index]), test: leaves[index].test, wanted: leaves[index].wanted,
                isExcluded: costs[index] == Self.excluded)
        }
        failing = wrong.map(clause)
        var set = Set(wrong)
        guard isTrue(changing: set) else { return }
        hasChoice = wrong.contains { isTrue(changing: set.subtracting([$0])) }
        let farthestFirst = wrong.sorted { left, right in
            costs[left] == costs[right] ? left < right : (costs[left] ?? 0) > (costs[right] ?? 0)
        }
        for index in farthestFirst where isTrue(changing: set.subtracting([index])) { set.remove(index) }
        // If a single change is enough and possible, it is better advice than a set of several.
        let isPossible = set.allSatisfy { costs[$0] != Self.excluded }
        let single = wrong.filter { index in
            isTrue(changing: [index]) && costs[index] != .max
                && (costs[index] != Self.excluded || !isPossible)
        }
        if let one = single.min(by: { (costs[$0] ?? 0) < (costs[$1] ?? 0) }) { set = [one] }
        needed = set.sorted().map(clause)
    }

    /// A test at one place of the expression.
    private struct Leaf {
        /// The value that helps the whole expression.
        var wanted: Bool
        var present: Bool?
        var text: String
        var observed: String
        var test: WhenTest
    }

    private static func collect(
        _ node: WhenExpression.Node, isNegated: Bool, _ value: (WhenFact) -> WhenValue?,
        _ leaves: inout [Leaf]
    ) {
        switch node {
        case .and(let parts), .or(let parts):
            for part in parts { collect(part, isNegated: isNegated, value, &leaves) }
        case .not(let part): collect(part, isNegated: !isNegated, value, &leaves)
        case .constant: return
        case .test(let test):
            let value = value(test.fact)
            let isPlain = test.text == test.fact.name
            let negation = isPlain ? "not \(test.text)" : "not (\(test.text))"
            leaves.append(
                Leaf(
                    wanted: !isNegated, present: test.holds(value), text: isNegated ? negation : test.text,
                    observed: test.observation(value), test: test))
        }
    }

    /// The value of a node if some leaves had the values that help.
    private static func evaluate(
        _ node: WhenExpression.Node, _ leaves: [Leaf], _ changed: Set<Int>, _ next: inout Int
    ) -> Bool? {
        switch node {
        case .and(let parts):
            let values = parts.map { evaluate($0, leaves, changed, &next) }
            return values.contains(false) ? false : values.contains(nil) ? nil : true
        case .or(let parts):
            let values = parts.map { evaluate($0, leaves, changed, &next) }
            return values.contains(true) ? true : values.contains(nil) ? nil : false
        case .not(let part): return evaluate(part, leaves, changed, &next).map { !$0 }
        case .constant(let flag): return flag
        case .test:
            defer { next += 1 }
            return changed.contains(next) ? leaves[next].wanted : leaves[next].present
        }
    }
}
