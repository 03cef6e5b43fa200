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

    /// The greatest number of sets, of partial sets that are looked at, and of sets that the policies are
    /// asked about; our choices.
    ///
    /// More sets would not be read, and longer searches would take too long for listings.
    private static let (mostSets, mostSteps, mostQuestions) = (4, 4000, 200)

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
        let found = search.candidates(limit: Self.mostSteps)
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
    func candidates(limit: Int) -> [Candidate] {
        let options = groups.map { group in
            group.options(
                for: expression.tests.filter { FactGroup($0.fact) == group }, subject, situation)
        }
        var (found, steps): ([Candidate], Int) = ([], 0)
        func choose(_ index: Int, _ candidate: Candidate) {
            steps += 1
            guard steps <= limit else { return }
            let undecided = groups[index...]
            let value = expression.value { fact in
                if case .machine(let machine) = fact, machine.isOfClock { return nil }
                if let group = FactGroup(fact), undecided.contains(group) { return nil }
                return situation.value(of: fact, in: candidate.conditions, at: now.wall)
            }
            if value == false { return }
            guard index < groups.count else {
                var candidate = candidate
                candidate.isTrue =
                    expression.value { situation.value(of: $0, in: candidate.conditions, at: now.wall) }
                    == true
                if candidate.isTrue || expression.dependsOnClock { found.append(candidate) }
                return
            }
            choose(index + 1, candidate)
            for option in options[index] {
                var next = candidate
                for case .conditions(let change) in option.acts.map(\.effect) { change(&next.conditions) }
                next.acts += option.acts
                next.parts.formUnion(option.parts)
                next.cost += option.cost
                next.order += 1 << (groups.count - 1 - index)
                choose(index + 1, next)
            }
        }
        choose(0, Candidate(conditions: situation.conditions))
        // At the same cost, what the expression names first comes first.
        return found.sorted { ($0.cost, $1.order) < ($1.cost, $0.order) }
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
