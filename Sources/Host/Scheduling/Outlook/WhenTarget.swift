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

extension [PossibleAct] {
    /// The acts in the order in which people do them: a charge comes first, because it needs the charger,
    /// which another act may unplug.
    fileprivate var inOrder: [PossibleAct] {
        (filter(\.comesFirst) + filter { !$0.comesFirst }).map { act in
            var act = act
            act.isStep = true
            // A headline with an expression has not named the subject of the act.
            act.short = nil
            return act
        }
    }
}
