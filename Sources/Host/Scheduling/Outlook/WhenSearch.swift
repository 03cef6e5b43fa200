import TaskModel

/// A search for values of the facts that an expression tests.
struct WhenSearch {
    let expression: WhenExpression
    let situation: Situation
    let subject: Subject
    let groups: [FactGroup]
    let now: Moment

    /// Values of all facts.
    struct Candidate {
        var conditions: Conditions
        var acts: [PossibleAct] = []
        var parts: Set<String> = []
        var cost = 0
        /// Which groups change; a greater number if the first ones do.
        var order = 0
        /// Whether the expression is true now.
        var isTrue = false
    }

    /// The values with which the expression is true now, or might be at another hour; the cheapest first.
    ///
    /// The cheapest partial sets are looked at first. If none of them becomes a whole set in three fifths of
    /// the steps, as with twenty alternatives that must all be decided, any set is better than none: the rest
    /// of the steps goes straight through the facts, and ends with the first set.
    func candidates(limit: Int) -> [Candidate] {
        var search = Choices(of: self, limit: limit * 3 / 5)
        search.goCheapestFirst()
        if !search.found.contains(where: \.isTrue), search.isCut {
            search.begin(limit: max(limit * 2 / 5, 4 * groups.count))
            _ = search.goStraight(Partial(index: 0, candidate: Candidate(conditions: situation.conditions)))
        }
        // At the same cost, what the expression names first comes first.
        return search.found.sorted { ($0.cost, $1.order) < ($1.cost, $0.order) }
    }

    /// Values of the first groups; the others have not been decided.
    private struct Partial {
        var index: Int
        var candidate: Candidate
    }

    /// The partial sets that were looked at, and what came of them.
    private struct Choices {
        let search: WhenSearch
        /// The ways to change each group.
        let options: [[FactChange]]
        /// For each group, whether policies ask about it or a later one.
        let isAsked: [Bool]
        private var limit: Int
        private(set) var found: [Candidate] = []
        /// Whether the limit ended the search.
        private(set) var isCut = false
        private var steps = 0

        init(of search: WhenSearch, limit: Int) {
            self.search = search
            self.limit = limit
            options = search.groups.map { group in
                group.options(
                    for: search.expression.tests.filter { FactGroup($0.fact) == group }, search.subject,
                    search.situation)
            }
            var isAsked: [Bool] = []
            for group in search.groups.reversed() {
                var isOwn = true
                if case .custom(let name) = group { isOwn = search.subject.needs.conditions.contains(name) }
                isAsked.append(isOwn || isAsked.last == true)
            }
            self.isAsked = isAsked.reversed()
        }

        /// Allows more steps.
        mutating func begin(limit: Int) { (self.limit, steps, isCut) = (limit, 0, false) }

        mutating func goCheapestFirst() {
            var open = [Partial(index: 0, candidate: Candidate(conditions: search.situation.conditions))]
            while !isCut, let partial = open.popLast() {
                for next in expand(partial) {
                    // The cheapest is last; at the same cost, the one that changes what is named first.
                    let key = (next.candidate.cost, -next.candidate.order)
                    let place = open.lastIndex { ($0.candidate.cost, -$0.candidate.order) > key }
                    open.insert(next, at: place.map { $0 + 1 } ?? 0)
                }
            }
        }

        /// Returns whether a set was found.
        mutating func goStraight(_ partial: Partial) -> Bool {
            for next in expand(partial) where goStraight(next) { return true }
            return found.contains(where: \.isTrue)
        }

        /// The partial sets with one more group; a whole set is found instead.
        private mutating func expand(_ partial: Partial) -> [Partial] {
            steps += 1
            guard steps <= limit else {
                isCut = true
                return []
            }
            let (expression, groups, candidate) = (search.expression, search.groups, partial.candidate)
            let undecided = groups[partial.index...]
            let value = expression.value { fact in
                if case .machine(let machine) = fact, machine.isOfClock { return nil }
                if let group = FactGroup(fact), undecided.contains(group) { return nil }
                return search.situation.value(of: fact, in: candidate.conditions, at: search.now.wall)
            }
            if value == false { return [] }
            // What neither the expression nor a policy asks about any more need not be decided.
            if partial.index == groups.count || (value == true && !isAsked[partial.index]) {
                take(candidate)
                return []
            }
            let unchanged = Partial(index: partial.index + 1, candidate: candidate)
            return [unchanged]
                + options[partial.index].map { option in
                    var next = unchanged
                    for case .conditions(let change) in option.acts.map(\.effect) {
                        change(&next.candidate.conditions)
                    }
                    next.candidate.acts += option.acts
                    next.candidate.parts.formUnion(option.parts)
                    next.candidate.cost += option.cost
                    next.candidate.order += 1 << (groups.count - 1 - partial.index)
                    return next
                }
        }

        private mutating func take(_ candidate: Candidate) {
            var candidate = candidate
            let (expression, situation) = (search.expression, search.situation)
            candidate.isTrue =
                expression.value {
                    situation.value(of: $0, in: candidate.conditions, at: search.now.wall)
                } == true
            if candidate.isTrue || expression.dependsOnClock { found.append(candidate) }
        }
    }

    /// Whether no policy objects to the values, if all other conditions, and those that are unknown, are as
    /// the policies like them best.
    ///
    /// - Parameters:
    ///   - candidate: The values.
    ///   - later: Whether a policy may object until a date.
    /// - Returns: Whether no policy objects.
    func isPermitted(_ candidate: Candidate, later: Bool) -> Bool {
        var (world, conditions) = (situation, candidate.conditions)
        conditions.gpu = .known(true)
        for group in FactGroup.machine
        where !groups.contains(group) || group.isUnknown(candidate.conditions) {
            group.setBest(&conditions, from: situation.conditions)
        }
        for name in subject.needs.conditions where !groups.contains(.custom(name)) {
            conditions.custom[name] = .known(true)
        }
        _ = world.replaceConditions(conditions, at: now)
        return Self.policies.allSatisfy { policy in
            let answer = policy.answer(for: subject, in: world, at: now)
            return !answer.isVeto || answer.fact == .slot || (later && answer.until != nil)
        }
    }

    /// Whether the clock makes the expression true.
    func becomesTrue(_ candidate: Candidate) -> Bool {
        guard expression.dependsOnClock else { return false }
        var world = situation
        _ = world.replaceConditions(candidate.conditions, at: now)
        return world.nextTime(of: expression, after: now.wall) != nil
    }

    /// The policies about conditions.
    private static let policies: [any Policy] = [
        ExternalPower(), BatteryLevel(), Network(), Resources(), RequiredConditions(), LowPowerMode(),
        Pressure(), Thermal(), DeviceActivity(), Storage(),
    ]
}
