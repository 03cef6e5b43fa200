import TaskModel

// What people can do about an expression of `when`: the acts that make it true, and nothing else false.

extension When {
    var awaited: String { "'when' to be true" }

    /// The longest expression in a headline, in characters; our choice.
    private static let longestInHeadline = 60

    func awaited(by subject: Subject, in situation: Situation, at now: Moment) -> String {
        guard let expression = subject.needs.constraints?.when else { return awaited }
        let whole = told(subject, situation, expression)
        let shown = whole.text.count > Self.longestInHeadline ? "" : " (\(whole.text))"
        if expression.canBeTrue { return awaited + shown }
        return "'when'\(shown), which can never be true" + (whole.canBeTrue ? " with its payload" : "")
    }

    /// The requirements of a request that can't be true together with its expression, as words for people.
    func contradictions(of subject: Subject, _ settings: SchedulerSettings) -> [String] {
        guard let expression = subject.needs.constraints?.when else { return [] }
        return expression.contradictions(with: subject.requirements(settings)).map(\.text)
    }

    /// The smallest sets of changes that make the expression true now or, if there are none, at an hour of
    /// the clock; if there is only one, its acts one by one.
    ///
    /// Several sets are alternatives, each of which is enough.
    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        let situation = scheduler.situation
        guard let expression = subject.needs.constraints?.when else { return [] }
        func conditions(after acts: [PossibleAct]) -> Situation {
            var changed = situation
            var conditions = situation.conditions
            for case .conditions(let change) in acts.map(\.effect) { change(&conditions) }
            _ = changed.replaceConditions(conditions, at: now)
            return changed
        }
        func isTrue(after acts: [PossibleAct]) -> Bool {
            let changed = conditions(after: acts)
            return expression.value { changed.value(of: $0, at: now.wall) } == true
        }
        if isTrue(after: []) { return [] }
        if !expression.canBeTrue { return [correction(of: subject, in: situation, expression, at: now)] }
        // An act that another requirement forbids would only exchange one veto for another.
        let required = subject.requirements(situation.settings)
        let acts = expression.changes(in: situation.conditions).filter { act in
            !conditions(after: [act]).violates(required, unlike: situation, at: now)
        }
        let isTrueLater = situation.nextTime(of: expression, after: now.wall) != nil
        // Nor is an act of use if the host then holds the task for another reason, as while the processor is
        // busy, unless nothing else makes the expression true.
        let others = Scheduler.policies.filter { policy in
            !(policy is When) && !policy.answer(for: subject, in: situation, at: now).isVeto
        }
        func isFree(after acts: [PossibleAct]) -> Bool {
            let changed = conditions(after: acts)
            return !others.contains { $0.answer(for: subject, in: changed, at: now).isVeto }
        }
        var sets = Self.smallestSets(of: acts.filter { isFree(after: [$0]) }, isTrue).filter(isFree)
        if sets.isEmpty { sets = Self.smallestSets(of: acts, isTrue) }
        // What takes time, such as a charge, comes last.
        func isSlow(_ set: [PossibleAct]) -> Bool { set.contains(where: \.takesTime) }
        sets = sets.filter { !isSlow($0) } + sets.filter(isSlow)
        if sets.isEmpty, !isTrueLater {
            sets = Self.smallestSets(of: acts, mostActs: 0) { acts in
                conditions(after: acts).nextTime(of: expression, after: now.wall) != nil
            }
        }
        if sets.isEmpty, !isTrueLater {
            sets = Self.sets(for: expression, with: required, in: situation.conditions) { acts in
                isTrue(after: acts)
                    && !conditions(after: acts).violates(required, unlike: situation, at: now)
            }
        }
        if sets.count > 1 { return sets.map(PossibleAct.together) }
        if let only = sets.first { return only }
        if isTrueLater { return [] }
        return repairs(of: subject, in: situation, expression, at: now)
    }

    /// The sets of acts that make an expression true and keep what is required beside it.
    ///
    /// `not externalPower` and a charge of 30 % need a charged battery first, although the expression does
    /// not name the battery. In such a set, the charging comes first, because it needs external power.
    private static func sets(
        for expression: WhenExpression, with required: [WhenRequirement], in conditions: Conditions,
        _ isEnough: ([PossibleAct]) -> Bool
    ) -> [[PossibleAct]] {
        let all = WhenExpression(root: .and([expression.root] + required.map(\.expression.root)))
        let acts = all.changes(in: conditions)
        return smallestSets(of: acts.filter(\.isCharging) + acts.filter { !$0.isCharging }, isEnough)
    }

    /// The sets of acts that are enough, of which no act can be left out; smaller ones first.
    ///
    /// The numbers are our choice: more than four alternatives, or sets of more than four acts besides the
    /// set of all, would not be read.
    ///
    /// - Parameters:
    ///   - acts: The acts.
    ///   - mostActs: With more acts than this, sets of three or four are not tried. They are only tried if
    ///     there is no smaller one.
    ///   - isEnough: Whether some acts are enough.
    /// - Returns: The sets.
    private static func smallestSets(
        of acts: [PossibleAct], mostActs: Int = 12, _ isEnough: ([PossibleAct]) -> Bool
    ) -> [[PossibleAct]] {
        var found: [Set<Int>] = []
        func look(at set: Set<Int>) {
            if found.count < 4, !found.contains(where: { $0.isSubset(of: set) }),
                isEnough(set.sorted().map { acts[$0] })
            {
                found.append(set)
            }
        }
        func choose(_ size: Int, from start: Int, _ chosen: Set<Int>) {
            if size == 0 { return look(at: chosen) }
            for index in acts.indices where index >= start {
                choose(size - 1, from: index + 1, chosen.union([index]))
            }
        }
        for size in 1...2 { choose(size, from: 0, []) }
        for size in 3...4 where found.isEmpty && acts.count <= mostActs { choose(size, from: 0, []) }
        if found.isEmpty {
            // All acts, without those that are not necessary.
            var set = Set(acts.indices)
            guard isEnough(acts) else { return [] }
            for index in acts.indices.reversed()
            where isEnough(set.subtracting([index]).sorted().map { acts[$0] }) { set.remove(index) }
            found = [set]
        }
        return found.map { set in set.sorted().map { acts[$0] } }
    }

    /// What to do about an expression that no values of the facts make true.
    private func correction(
        of subject: Subject, in situation: Situation, _ expression: WhenExpression, at now: Moment
    ) -> PossibleAct {
        let (whole, analysis) = analysis(of: subject, in: situation, expression, at: now.wall)
        let payload = analysis.needed.filter(\.isOfPayload)
        guard whole.canBeTrue, !payload.isEmpty else { return .correcting(subject) }
        return .submitting(subject, payload)
    }

    /// What to do about an expression that no known act makes true.
    private func repairs(
        of subject: Subject, in situation: Situation, _ expression: WhenExpression, at now: Moment
    ) -> [PossibleAct] {
        let needed = analysis(
            of: subject, in: situation, expression, avoiding: subject.requirements(situation.settings),
            at: now.wall
        ).1.needed
        var repairs: [PossibleAct] = []
        for clause in needed {
            guard let repair = Self.repair(of: clause.test.fact, in: situation) else { continue }
            if !repairs.contains(where: { $0.key == repair.key }) { repairs.append(repair) }
        }
        if !repairs.isEmpty { return [repairs[0]] }
        if needed.isEmpty { return [] }
        if needed.allSatisfy(\.isOfPayload) { return [.submitting(subject, needed)] }
        let hasNoBattery = situation.conditions.power.value.map { $0.batteryPercent == nil } ?? false
        if hasNoBattery, needed.contains(where: \.isOfBattery) {
            return [.correcting(subject, because: "on this machine, which has no battery, it can't be true")]
        }
        // People can't change these facts at will.
        let others = needed.filter { !$0.isOfPayload }
        let observed = others.map { $0.observed.replacingPart(" is ", by: " is now ") }
        return [
            PossibleAct(
                text: "Only time can help: wait until \(others.map(\.text).inSentence) "
                    + "(\(observed.unique.inSentence))", effect: .unknown)
        ]
    }

    /// What to do about a fact whose value is unknown; `nil` if it is known.
    private static func repair(of fact: WhenFact, in situation: Situation) -> PossibleAct? {
        let conditions = situation.conditions
        switch fact {
        case .payload: return nil
        case .condition(let name):
            switch conditions.custom[name] {
            case nil: return .defining(name)
            case .unknown: return .findingSource(of: name)
            case .known: return nil
            }
        case .machine(let fact):
            switch fact {
            case .battery, .charging, .externalPower:
                return conditions.power == .unknown ? .repair("power", "upower") : nil
            case .lowPower:
                return conditions.lowPowerMode == .unknown ? .repair("low-power mode") : nil
            case .network:
                return conditions.network == .unknown ? .repair("the network", "NetworkManager") : nil
            case .thermal: return conditions.thermal == .unknown ? .repair("heat") : nil
            case .idle: return conditions.user == .unknown ? .repair("user activity") : nil
            case .cpuPressure, .memoryPressure, .ioPressure:
                return conditions.pressure == .unknown ? .repair("pressure") : nil
            case .gpu:
                if conditions.gpu == .known(true) { return nil }
                return PossibleAct(
                    text: "Find out why the host finds no GPU", command: ["conditions"], effect: .unknown)
            case .storage, .hour, .weekday: return nil
            }
        }
    }
}

extension Subject {
    /// What the request requires beside its `when`, as expressions over the same facts.
    func requirements(_ settings: SchedulerSettings) -> [WhenRequirement] {
        WhenRequirement.all(
            externalPower: needs.externalPower, network: needs.network, gpu: needs.gpu,
            idle: needs.idleDevice, isDeferrable: isDiscretionary, conditions: needs.conditions,
            constraints: needs.constraints, leastCharge: settings.batteryStartPercent)
    }
}

extension Situation {
    /// Whether the conditions that differ from those of another situation make a requirement false, whatever
    /// all other conditions are.
    fileprivate func violates(
        _ requirements: [WhenRequirement], unlike other: Situation, at now: Moment
    ) -> Bool {
        requirements.contains { requirement in
            let changed = requirement.expression.tests.contains {
                value(of: $0.fact, at: now.wall) != other.value(of: $0.fact, at: now.wall)
            }
            return changed
                && requirement.expression.value { fact in
                    isOfPower(fact) || value(of: fact, at: now.wall) != other.value(of: fact, at: now.wall)
                        ? value(of: fact, at: now.wall) : nil
                } == false
        }
    }

    /// Whether the fact belongs to the power supply, of which all facts are known together.
    private func isOfPower(_ fact: WhenFact) -> Bool {
        switch fact {
        case .machine(.externalPower), .machine(.battery), .machine(.charging): true
        default: false
        }
    }
}
