/// What a task requires beside `when`, as an expression over the same facts.
///
/// A task whose `when` can't be true together with another requirement never starts, although each of the two
/// can be fulfilled.
public struct WhenRequirement: Equatable, Sendable {
    /// The key in the manifest: `requiresExternalPower`; for a rule of the kind, `kind`.
    public var key: String
    /// The requirement for people: `'requiresExternalPower'`.
    public var text: String
    /// When the requirement is fulfilled.
    public var expression: WhenExpression

    /// Whether the requirement limits the values of a fact.
    public func concerns(_ fact: WhenFact) -> Bool {
        let power: [WhenFact] = [.machine(.externalPower), .machine(.charging)]
        return expression.tests.contains { test in
            test.fact == fact || (power.contains(fact) && power.contains(test.fact))
        }
    }

    private init(_ key: String, _ node: WhenExpression.Node, rule: String? = nil) {
        self.key = key
        text = rule.map { "the rule that \($0)" } ?? "'\(key)'"
        expression = WhenExpression(root: node)
    }

    /// The requirements of a task.
    ///
    /// - Parameters:
    ///   - externalPower: Whether it requires external power.
    ///   - network: The network that it requires; `nil` if none.
    ///   - gpu: Whether it requires a GPU.
    ///   - idle: Whether the device must be idle.
    ///   - isDeferrable: Whether the task can wait, so that it does not start in low-power mode, while memory
    ///     is short, on a hot machine, on a low battery and, if it needs the network, in low-data mode.
    ///   - conditions: The custom conditions that must be on.
    ///   - constraints: What only manifests require; `when` and `conflicts` do not count.
    ///   - leastCharge: The charge of the battery, in percent, below which deferrable tasks do not start
    ///     without external power; 20 unless an operator changed it.
    /// - Returns: The requirements.
    public static func all(
        externalPower: Bool, network: NetworkRequirement?, gpu: Bool, idle: Bool, isDeferrable: Bool,
        conditions: [String], constraints: TaskConstraints?, leastCharge: Int = 20
    ) -> [WhenRequirement] {
        func fact(_ fact: MachineFact) -> WhenExpression.Node {
            .test(WhenTest(.machine(fact), .equal, .boolean(true)))
        }
        func word(_ fact: MachineFact, _ comparison: WhenComparison, _ word: String) -> WhenExpression.Node {
            .test(WhenTest(.machine(fact), comparison, .word(word)))
        }
        func charge(_ percent: Int) -> WhenExpression.Node {
            let charge = WhenTest(
                .machine(.battery), .atLeast, .number(millionths: Int64(percent) * 1_000_000))
            return .or([fact(.externalPower), .test(charge)])
        }
        var all: [WhenRequirement] = []
        if externalPower { all.append(WhenRequirement("requiresExternalPower", fact(.externalPower))) }
        switch network {
        case .any:
            let none = WhenTest.Literal.word(NetworkCondition.none.rawValue)
            all.append(
                WhenRequirement("network", .test(WhenTest(.machine(.network), .notEqual, none))))
        case .unmetered:
            let free = WhenTest.Literal.word(NetworkCondition.unmetered.rawValue)
            all.append(WhenRequirement("network", .test(WhenTest(.machine(.network), .equal, free))))
        case nil: break
        }
        if gpu { all.append(WhenRequirement("requiresGPU", fact(.gpu))) }
        if idle {
            all.append(WhenRequirement("kind", fact(.idle), rule: "processing needs an idle device"))
        }
        if isDeferrable {
            let serious = ThermalCondition.serious.rawValue
            var rules: [(WhenExpression.Node, String)] = [
                (.not(fact(.lowPower)), "in low-power mode"),
                (.not(fact(.memoryPressure)), "while memory is short"),
                (word(.thermal, .below, serious), "on a hot machine"),
                (charge(leastCharge), "below a charge of \(leastCharge) % without external power"),
            ]
            if network != nil {
                let constrained = NetworkCondition.constrained.rawValue
                rules.append(
                    (word(.network, .notEqual, constrained), "in low-data mode if they need the network"))
            }
            for (node, words) in rules {
                all.append(
                    WhenRequirement("kind", node, rule: "deferrable tasks do not start \(words)"))
            }
        } else {
            let critical = ThermalCondition.critical.rawValue
            all.append(
                WhenRequirement(
                    "kind", word(.thermal, .below, critical),
                    rule: "no task starts on a machine that is too hot"))
        }
        for name in conditions {
            let test = WhenTest(.condition(name), .equal, .boolean(true))
            all.append(WhenRequirement("requiresConditions", .test(test)))
        }
        if let battery = constraints?.battery {
            all.append(WhenRequirement("battery", charge(battery)))
        }
        if let storage = constraints?.storage {
            let test = WhenTest(.machine(.storage), .atLeast, .size(storage))
            all.append(WhenRequirement("storage", .test(test)))
        }
        if let window = constraints?.between {
            let hours = (0..<24).filter { window.isOpen(inHour: $0) }.map { hour in
                WhenExpression.Node.test(
                    WhenTest(.machine(.hour), .equal, .number(millionths: Int64(hour) * 1_000_000)))
            }
            if hours.count > 1 {
                all.append(WhenRequirement("between", .or(hours)))
            } else if let hour = hours.first {
                all.append(WhenRequirement("between", hour))
            }
        }
        return all
    }
}

extension WhenExpression {
    /// The requirements that can't be true together with the expression, of which none can be left out; empty
    /// if all can be true at the same time, or if the expression itself can never be true.
    public func contradictions(with requirements: [WhenRequirement]) -> [WhenRequirement] {
        func isPossible(_ requirements: [WhenRequirement]) -> Bool {
            WhenExpression(root: .and([root] + requirements.map(\.expression.root))).canBeTrue
        }
        guard !requirements.isEmpty, canBeTrue else { return [] }
        if let one = requirements.first(where: { !isPossible([$0]) }) { return [one] }
        if isPossible(requirements) { return [] }
        var needed = requirements
        for index in requirements.indices.reversed() {
            var fewer = needed
            fewer.remove(at: index)
            if !isPossible(fewer) { needed = fewer }
        }
        return needed
    }
}

extension DailyWindow {
    /// Whether the window is open at some minute of an hour, 0 through 23.
    fileprivate func isOpen(inHour hour: Int) -> Bool {
        (hour * 60..<hour * 60 + 60).contains { minute in
            start < end ? minute >= start && minute < end : minute >= start || minute < end
        }
    }
}
