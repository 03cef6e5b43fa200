import TaskModel

// What people can do about an expression of `when`.

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

    /// The cheapest changes that make the expression true now or, if there are none, at an hour of the clock;
    /// if there is only one set, its acts one by one.
    ///
    /// Several sets are alternatives, each of which is enough.
    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        let situation = scheduler.situation
        guard let expression = subject.needs.constraints?.when,
            expression.value({ situation.value(of: $0, at: now.wall) }) != true
        else { return [] }
        if !expression.canBeTrue { return [correction(of: subject, in: situation, expression, at: now)] }
        let target = WhenTarget(of: expression, for: subject, in: situation, at: now)
        return target.time == nil
            ? repairs(of: subject, in: situation, expression, at: now) : target.steps
    }

    /// What the facts of the expression must be; `nil` if there is no expression that can be true.
    func target(of subject: Subject, in situation: Situation, at now: Moment) -> WhenTarget? {
        guard let expression = subject.needs.constraints?.when, expression.canBeTrue else { return nil }
        return WhenTarget(of: expression, for: subject, in: situation, at: now)
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
        let asksForCharge =
            subject.needs.constraints?.battery != nil
            || expression.tests.contains { $0.fact == .machine(.battery) }
        if hasNoBattery, asksForCharge,
            needed.contains(where: { $0.test.fact == .machine(.externalPower) })
        {
            return [
                .correcting(
                    subject, because: "without the charger, this machine, which has no battery, has no charge"
                )
            ]
        }
        // People can't change these facts at will.
        let others = needed.filter { !$0.isOfPayload }
        let observed = others.map { $0.observed.replacingPart(" is ", by: " is now ") }
        return [
            PossibleAct(
                text: "Only time can help: wait until \(others.map(\.text).inSentence) "
                    + "(\(observed.unique.inSentence))",
                state: "'when' is true (\(others.map(\.text).inSentence))", effect: .unknown)
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
