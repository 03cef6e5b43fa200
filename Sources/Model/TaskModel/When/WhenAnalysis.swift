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
    }

    /// The value of the expression; `nil` if it is unknown.
    public var value: Bool?
    /// The tests that fail, from left to right; empty if the expression is true.
    public var failing: [Clause]
    /// A smallest set of clauses which together would make the expression true; empty if there is none.
    public var needed: [Clause]

    /// Analyzes an expression.
    ///
    /// - Parameters:
    ///   - expression: The expression.
    ///   - value: The value of a fact; `nil` if it is unknown.
    public init(_ expression: WhenExpression, _ value: (WhenFact) -> WhenValue?) {
        self.value = expression.value(value)
        failing = []
        needed = []
        if self.value == true { return }
        var leaves: [Leaf] = []
        Self.collect(expression.root, isNegated: false, value, &leaves)
        let wrong = leaves.indices.filter { leaves[$0].present != leaves[$0].wanted }
        func isTrue(changing changed: Set<Int>) -> Bool {
            var next = 0
            return Self.evaluate(expression.root, leaves, changed, &next) == true
        }
        func clause(_ index: Int) -> Clause {
            Clause(
                text: leaves[index].text, observed: leaves[index].observed,
                isEnough: isTrue(changing: [index]))
        }
        failing = wrong.map(clause)
        var set = Set(wrong)
        guard isTrue(changing: set) else { return }
        if let one = wrong.first(where: { isTrue(changing: [$0]) }) {
            set = [one]
        } else {
            for index in wrong where isTrue(changing: set.subtracting([index])) { set.remove(index) }
        }
        needed = set.sorted().map(clause)
    }

    /// A test at one place of the expression.
    private struct Leaf {
        /// The value that helps the whole expression.
        var wanted: Bool
        var present: Bool?
        var text: String
        var observed: String
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
                    observed: test.observation(value)))
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
