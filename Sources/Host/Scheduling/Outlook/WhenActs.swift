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
        let acts = Self.changes(for: expression, in: situation.conditions).filter { act in
            !conditions(after: [act]).violates(required, unlike: situation, at: now)
        }
        let isTrueLater = situation.nextTime(of: expression, after: now.wall) != nil
        var sets = Self.smallestSets(of: acts, isTrue)
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
        let acts = changes(for: all, in: conditions)
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
        let payload = analysis.needed.filter(\.isOfPayload).map(\.text)
        guard whole.canBeTrue, !payload.isEmpty else {
            return PossibleAct(
                text: "Correct 'when' in the manifest of \(subject.request.bundle)", effect: .unknown)
        }
        return PossibleAct(text: "Submit it again with \(payload.inSentence)", effect: .unknown)
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
        let payload = needed.filter(\.isOfPayload)
        return [
            PossibleAct(
                text: payload.count == needed.count
                    ? "Submit it again with \(needed.map(\.text).inSentence)"
                    : "Make sure that this is true: \(needed.map(\.text).inSentence)",
                command: payload.count == needed.count ? nil : ["conditions"], effect: .unknown)
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

    /// What people can change about the facts that an expression tests.
    private static func changes(
        for expression: WhenExpression, in conditions: Conditions
    ) -> [PossibleAct] {
        var acts: [PossibleAct] = []
        func add(_ act: PossibleAct) {
            var act = act
            act.isStep = true
            // A headline with an expression has not named the subject of the act.
            act.short = nil
            if !acts.contains(where: { $0.key == act.key }) { acts.append(act) }
        }
        for test in expression.withoutNegations.tests {
            switch test.fact {
            case .condition(let name):
                // Nothing can set a condition that no file defines.
                guard let reading = conditions.custom[name] else { continue }
                add(.turning(name, on: reading != .known(true)))
            case .payload: break
            case .machine(let fact):
                switch fact {
                case .externalPower, .charging:
                    if let power = conditions.power.value { add(power.externalPower ? .unplug : .plugIn) }
                case .battery:
                    guard let power = conditions.power.value, case .number(let level) = test.literal else {
                        continue
                    }
                    let percent = Int(level / 1_000_000) + (test.comparison == .above ? 1 : 0)
                    if let charge = power.batteryPercent {
                        if charge < percent, percent <= 100 { add(.charging(to: percent)) }
                        if let most = test.greatestPercent, charge > most {
                            add(.discharging(to: most, power))
                        }
                    }
                case .lowPower:
                    if let isOn = conditions.lowPowerMode.value { add(isOn ? .lowPowerOff : .lowPowerOn) }
                case .network:
                    guard let network = conditions.network.value else { continue }
                    if network != .unmetered { add(.connectUnmetered) }
                    if test.literal != .word(network.rawValue) || test.comparison == .notEqual,
                        let act = PossibleAct.connecting(for: test, unlike: network)
                    {
                        add(act)
                    }
                case .thermal:
                    if conditions.thermal.value != nil, conditions.thermal != .known(.nominal) {
                        add(.coolDown)
                    }
                case .idle:
                    if let user = conditions.user.value { add(user == .active ? .leaveAlone : .useDevice) }
                case .cpuPressure, .memoryPressure, .ioPressure:
                    if let pressure = conditions.pressure.value, pressure != .none { add(.closing(pressure)) }
                case .storage:
                    guard let free = conditions.storage.value, case .size(let size) = test.literal else {
                        continue
                    }
                    let isBelow = test.comparison == .below || test.comparison == .atMost
                    if isBelow, free >= size, size.bytes > 0 { add(.filling(below: size)) }
                    if isBelow || free > size { continue }
                    add(
                        .freeing(
                            ByteCount(bytes: size.bytes + (test.comparison == .above ? 1 : 0)), from: free))
                case .gpu, .hour, .weekday: break
                }
            }
        }
        return acts
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

extension WhenTest {
    /// The greatest whole charge of a battery, in percent, that fulfils a test for a low one; `nil` for other
    /// tests, and if there is none.
    fileprivate var greatestPercent: Int? {
        guard case .number(let level) = literal else { return nil }
        switch comparison {
        case .below: return level > 0 ? Int((level - 1) / 1_000_000) : nil
        case .atMost: return level >= 0 ? Int(level / 1_000_000) : nil
        case .equal, .notEqual, .atLeast, .above: return nil
        }
    }
}

extension PossibleAct {
    /// A battery that has lost its charge down to so many percent.
    fileprivate static func discharging(to percent: Int, _ power: PowerCondition) -> PossibleAct {
        let text =
            power.externalPower
            ? "Let the battery fall to \(percent) % without the charger, and plug it in again"
            : "Let the battery fall to \(percent) %"
        var act = PossibleAct.changing(text, takesTime: true) {
            $0.power = .known(
                PowerCondition(
                    externalPower: power.externalPower, isCharging: power.externalPower,
                    batteryPercent: percent))
        }
        // It comes before acts that change the power supply.
        act.isCharging = true
        return act
    }

    /// Less free space than a size.
    fileprivate static func filling(below size: ByteCount) -> PossibleAct {
        .changing("Fill the disk until less than \(size) are free") {
            $0.storage = .known(ByteCount(bytes: size.bytes - 1))
        }
    }

    /// The network that a test names, or another one than it excludes; `nil` for an unmetered one, and if
    /// the machine has it already.
    fileprivate static func connecting(
        for test: WhenTest, unlike network: NetworkCondition
    ) -> PossibleAct? {
        guard case .word(let word) = test.literal else { return nil }
        let named = NetworkCondition(rawValue: word)
        let wanted = test.comparison == .equal ? named : named == .unmetered ? .metered : nil
        guard let wanted, wanted != network else { return nil }
        switch wanted {
        case .unmetered: return nil
        case .metered:
            return .changing("Connect to a metered network") { $0.network = .known(.metered) }
        case .constrained:
            return .changing("Turn low-data mode on") { $0.network = .known(.constrained) }
        case .none: return .changing("Disconnect from the network") { $0.network = .known(.none) }
        }
    }
}
