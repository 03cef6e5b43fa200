import TaskModel

/// The cheapest changes of the machine that make the `when` of a request true, and that no other policy
/// forbids.
///
/// Only facts that the expression tests are changed. For all others, the search assumes what the policies
/// like best, because their own acts bring that about. So the acts of a target neither undo each other nor
/// those of other policies, unless these change the same facts; see ``agrees(with:in:)``.
struct WhenTarget {
    /// When the expression can be true.
    enum Time { case now, later }

    /// Whether the changes are enough now, or at an hour or after a time that only the clock brings; `nil` if
    /// no known changes are enough.
    let time: Time?
    /// The sets of acts, each of which is enough, the cheapest first; an empty set if nothing must change.
    let sets: [[PossibleAct]]
    /// The facts that belong to the expression.
    private let groups: Set<FactGroup>
    /// The conditions after the first set.
    private let conditions: Conditions

    /// The greatest number of sets, and of sets that the policies are asked about; our choices.
    private static let (mostSets, mostQuestions) = (4, 200)
    /// How many tests of the expression are evaluated at most, for all partial sets together: 8,000.
    ///
    /// Our choice: a search then takes at most some milliseconds, and a listing makes one for each request.
    private static let mostTests = 8000

    init(of expression: WhenExpression, for subject: Subject, in situation: Situation, at now: Moment) {
        let present = situation.conditions
        var order: [FactGroup] = []
        for test in expression.tests {
            guard let group = FactGroup(test.fact), !order.contains(group) else { continue }
            order.append(group)
        }
        groups = Set(order)
        let search = WhenSearch(
            expression: expression, situation: situation, subject: subject, groups: order, now: now)
        let found = search.candidates(limit: max(100, Self.mostTests / max(1, expression.tests.count)))
        var (enough, questions): ([WhenSearch.Candidate], Int) = ([], 0)
        for candidate in found where candidate.isTrue && enough.count < Self.mostSets {
            if enough.contains(where: { $0.parts.isSubset(of: candidate.parts) }) { continue }
            questions += 1
            if questions > Self.mostQuestions { break }
            if search.isPermitted(candidate, later: false) { enough.append(candidate) }
        }
        var time = enough.isEmpty ? nil : Time.now
        if enough.isEmpty {
            let later = found.prefix(Self.mostQuestions).first { candidate in
                search.isPermitted(candidate, later: true)
                    && (candidate.isTrue || search.becomesTrue(candidate))
            }
            if let later { (enough, time) = ([later], .later) }
        }
        // A charge or a cooler machine takes hours. Only if nothing is quicker, the cheapest is told.
        let quick = enough.filter { !$0.acts.contains(where: \.takesTime) }
        enough = quick.isEmpty ? Array(enough.prefix(1)) : quick
        self.time = time
        sets = enough.map { $0.acts.inOrder }
        conditions = enough.first?.conditions ?? present
    }

    /// What to do next: the acts that all sets have in common, one by one or, if there are none, the sets as
    /// alternatives.
    var steps: [PossibleAct] {
        guard let first = sets.first, sets.count > 1 else { return sets.first ?? [] }
        return isChoice ? sets.map(PossibleAct.together) : first.filter(isCommon)
    }

    /// Whether ``steps`` are alternatives.
    var isChoice: Bool { sets.count > 1 && !(sets.first ?? []).contains(where: isCommon) }

    private func isCommon(_ act: PossibleAct) -> Bool {
        sets.allSatisfy { $0.contains { $0.key == act.key } }
    }

    /// Whether an act of another policy changes no fact of the expression to a value that would have to be
    /// changed again.
    func agrees(with act: PossibleAct, in present: Conditions) -> Bool {
        guard time != nil, case .conditions(let change) = act.effect else { return true }
        var after = present
        change(&after)
        return groups.allSatisfy { group in
            group.isEqual(after, present) || group.isEqual(after, conditions)
        }
    }
}

/// A search for values of the facts that an expression tests.
private struct WhenSearch {
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

extension [PossibleAct] {
    /// The acts in the order in which people do them: a charge comes first, because it needs the charger,
    /// which another act may unplug.
    fileprivate var inOrder: [PossibleAct] {
        (filter(\.isCharging) + filter { !$0.isCharging }).map { act in
            var act = act
            act.isStep = true
            // A headline with an expression has not named the subject of the act.
            act.short = nil
            return act
        }
    }
}
