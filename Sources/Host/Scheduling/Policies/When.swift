import TaskModel

/// Holds a request until the expression of its manifest (`when`) is true, and stops its launch when it is not
/// true any more.
///
/// An expression whose value is unknown counts as not true.
struct When: Policy {
    let name = "When"
    let reach = Reach.machine
    let endReason: Reason? = .conditionLost

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard let expression = subject.needs.constraints?.when else { return subject.proceed() }
        let isTrue = expression.value { situation.value(of: $0, at: now.wall) } == true
        if isTrue {
            return subject.proceed(
                Rationale(
                    quantity: "when", required: told(subject, situation, expression).text, observed: "true"))
        }
        let date = situation.nextTime(of: expression, after: now.wall)
        guard subject.isTelling else {
            return subject.stop(
                until: .conditions, orDate: date, Rationale(quantity: "", required: "", observed: ""))
        }
        let (whole, analysis) = analysis(
            of: subject, in: situation, expression, avoiding: subject.requirements(situation.settings),
            at: now.wall)
        if !expression.canBeTrue {
            let isAlways = !whole.canBeTrue
            return subject.stop(
                until: .conditions, since: nil,
                Rationale(
                    quantity: "when", required: whole.text,
                    observed: "false, and it can never be true" + (isAlways ? "" : " with this payload"),
                    remedy: situation.remedy(
                        isAlways
                            ? "Correct the expression in the manifest of \(subject.request.bundle)"
                            : situation.advice(analysis), orLaunch: subject)))
        }
        return subject.stop(
            until: .conditions, orDate: date, since: nil,
            Rationale(
                quantity: "when", required: whole.text,
                observed: (analysis.value == nil ? "unknown" : "false") + Self.cause(analysis),
                earliestChange: date,
                remedy: situation.remedy(situation.advice(analysis), orLaunch: subject)),
            details: analysis.failing.count < 2
                ? []
                : analysis.failing.map { clause in
                    Rationale(
                        quantity: "clause",
                        required: clause.text + Self.rank(of: clause),
                        observed: clause.observed)
                })
    }

    /// The expression as the manifest contains it; in the needs' expression, values of the payload have
    /// replaced its keys, which people should see.
    func told(
        _ subject: Subject, _ situation: Situation, _ expression: WhenExpression
    ) -> WhenExpression {
        let request = subject.request
        return situation.permits.declaration(for: request.identifier, of: request.bundle)?.constraints?.when
            ?? expression
    }

    /// The expression as the manifest contains it, and why it is not true.
    ///
    /// Of several sets of clauses that would be enough, one is named that doesn't contradict the requirements
    /// to avoid, if there is one.
    func analysis(
        of subject: Subject, in situation: Situation, _ expression: WhenExpression,
        avoiding requirements: [WhenRequirement] = [], at time: WallTime
    ) -> (whole: WhenExpression, WhenAnalysis) {
        let whole = told(subject, situation, expression)
        let payload = PayloadFacts(subject.request.submission.payload, keys: whole.payloadKeys)
        func cost(_ test: WhenTest, _ wanted: Bool) -> Int {
            let related = requirements.filter { $0.concerns(test.fact) }
            if !related.isEmpty {
                let clause = WhenExpression(root: wanted ? .test(test) : .not(.test(test)))
                if !clause.contradictions(with: related).isEmpty
                    || related.contains(where: { situation.excludes(clause, besides: test.fact, $0, time) })
                {
                    return WhenAnalysis.excluded
                }
            }
            return situation.wait(for: test, toBe: wanted, after: time)
        }
        let analysis = WhenAnalysis(whole, cost: cost) { fact in
            if case .payload(let key, _) = fact { payload[key] } else { situation.value(of: fact, at: time) }
        }
        return (whole, analysis)
    }

    /// What a clause alone would do, after its text.
    private static func rank(of clause: WhenAnalysis.Clause) -> String {
        if clause.isExcluded { return ", which another requirement excludes" }
        return clause.isEnough ? ", which alone would be enough" : ""
    }

    /// Why the expression is not true, if one clause is the cause.
    private static func cause(_ analysis: WhenAnalysis) -> String {
        switch analysis.failing.count {
        case 0: ""
        case 1: ", because \(analysis.failing[0].observed)"
        case let count: ", because \(count) clauses fail"
        }
    }
}

extension Situation {
    /// What the user can do about an expression that is not true.
    fileprivate func advice(_ analysis: WhenAnalysis) -> String {
        func list(_ clauses: [WhenAnalysis.Clause]) -> String {
            clauses.map { $0.text + hint($0) }.joined(separator: "; ")
        }
        func again(_ clauses: [WhenAnalysis.Clause]) -> String {
            "ubmit the request again with " + clauses.map(\.text).joined(separator: ", ")
        }
        let enough = analysis.failing.filter { $0.isEnough && !$0.isOfPayload && !$0.isExcluded }
        // A pending request keeps its payload.
        let payloads = analysis.failing.filter { $0.isEnough && $0.isOfPayload }
        let others = payloads.isEmpty ? "" : ". Or s" + again(Array(payloads.prefix(1)))
        if enough.count > 1 { return "One of these is enough: \(list(enough))\(others)" }
        if let only = enough.first { return "This is enough: \(list([only]))\(others)" }
        if analysis.needed.isEmpty { return "Correct the expression" }
        let fixed = analysis.needed.filter(\.isOfPayload)
        let changing = analysis.needed.filter { !$0.isOfPayload }
        if changing.isEmpty { return "S" + again(fixed) }
        if !fixed.isEmpty { return "S" + again(fixed) + ". This is needed, too: \(list(changing))" }
        let start = analysis.hasChoice ? "Together, these are enough" : "All of these are needed"
        return "\(start): \(list(changing))\(others)"
    }

    /// How to change a custom condition, in parentheses; empty for other facts.
    private func hint(_ clause: WhenAnalysis.Clause) -> String {
        guard case .condition(let name) = clause.test.fact else { return "" }
        guard conditions.custom[name] != nil else { return " (define it in conditions.d)" }
        let value = clause.test.holds(.boolean(true)) == clause.wanted ? "on" : "off"
        return " (to try it: bgtask conditions set \(name)=\(value))"
    }

    /// Whether a requirement can't be fulfilled together with a clause about a fact, as long as all other
    /// facts stay as they are.
    fileprivate func excludes(
        _ clause: WhenExpression, besides fact: WhenFact, _ requirement: WhenRequirement, _ time: WallTime
    ) -> Bool {
        let others = requirement.expression.tests.filter { $0.fact != fact }
        let present = others.compactMap { test -> WhenExpression.Node? in
            guard let value = value(of: test.fact, at: time), let holds = test.holds(value) else {
                return nil
            }
            return holds ? .test(test) : .not(.test(test))
        }
        let together = WhenExpression(root: .and([clause.root, requirement.expression.root] + present))
        return !together.canBeTrue
    }

    /// In how many hours the clock changes a test to a value: at most 8 days; 0 for facts of the machine.
    fileprivate func wait(for test: WhenTest, toBe wanted: Bool, after time: WallTime) -> Int {
        guard case .machine(let fact) = test.fact, fact.isOfClock else { return 0 }
        var next = time
        for hours in 1...(8 * 24) {
            next = nextLocalHour(after: next)
            if test.holds(value(of: test.fact, at: next)) == wanted { return hours }
        }
        return 8 * 24 + 1
    }

    /// The value of a fact of the machine or the clock; `nil` if it is unknown.
    func value(of fact: WhenFact, at time: WallTime) -> WhenValue? {
        value(of: fact, in: conditions, at: time)
    }

    /// The value of a fact under some conditions; `nil` if it is unknown.
    func value(of fact: WhenFact, in conditions: Conditions, at time: WallTime) -> WhenValue? {
        switch fact {
        case .machine(let fact): value(of: fact, in: conditions, at: time)
        // A condition that no file defines is unknown, too.
        case .condition(let name): conditions.custom[name]?.value.map(WhenValue.boolean)
        // The payload's values are part of the expression.
        case .payload: nil
        }
    }

    private func value(
        of fact: MachineFact, in conditions: Conditions, at time: WallTime
    ) -> WhenValue? {
        let power = conditions.power.value
        let pressure = conditions.pressure.value
        switch fact {
        case .battery:
            guard let power else { return nil }
            // A machine without a battery is as good as one with a full battery.
            return (power.batteryPercent ?? (power.externalPower ? 100 : nil)).map { .number(Double($0)) }
        case .charging: return power.map { .boolean($0.isCharging) }
        case .externalPower: return power.map { .boolean($0.externalPower) }
        case .lowPower: return conditions.lowPowerMode.value.map(WhenValue.boolean)
        case .network: return conditions.network.value.map { .text($0.rawValue) }
        case .thermal: return conditions.thermal.value.map { .text($0.rawValue) }
        case .idle: return conditions.user.value.map { .boolean($0 == .idle) }
        case .cpuPressure: return pressure.map { .boolean($0.cpu) }
        case .memoryPressure: return pressure.map { .boolean($0.memory) }
        case .ioPressure: return pressure.map { .boolean($0.io) }
        case .gpu: return conditions.gpu.value.map(WhenValue.boolean)
        case .storage: return conditions.storage.value.map { .number(Double($0.bytes)) }
        case .hour: return .number(Double(localMinute(time) / 60))
        case .weekday:
            let day = (time + offset(at: time)).wholeSeconds.floorDivided(by: 86_400)
            // 1970-01-01 was a Thursday.
            return .text(MachineFact.weekdays[Int((day + 3).floorRemainder(by: 7))])
        }
    }

    /// When the clock alone makes an expression true; `nil` if it does not within the next eight days.
    ///
    /// Each hour of these days is tried, but only for expressions that the clock can make true.
    func nextTime(of expression: WhenExpression, after time: WallTime) -> WallTime? {
        guard expression.dependsOnClock else { return nil }
        let withoutClock = expression.value { fact in
            if case .machine(let machine) = fact, machine.isOfClock { nil } else { value(of: fact, at: time) }
        }
        if withoutClock == false { return nil }
        var next = time
        for _ in 0..<(8 * 24) {
            next = nextLocalHour(after: next)
            if expression.value({ value(of: $0, at: next) }) == true { return next }
        }
        return nil
    }

    /// The expression as the clock makes it at a time, with the tests of all other facts.
    private func clockPart(of expression: WhenExpression, at time: WallTime) -> WhenExpression {
        expression.resolvedForClock { value(of: .machine($0), at: time) }
    }

    /// The alarm for a request whose expression depends on the clock, so that it can start before the clock
    /// makes the expression false or harder to fulfil.
    ///
    /// - Parameters:
    ///   - expression: The expression.
    ///   - date: When the request can start for all other reasons.
    ///   - usual: The alarm that the request would have without the expression.
    ///   - margin: How long before such a change the host wakes.
    /// - Returns: The alarm, not before the date; the date if the expression can't become true within eight
    ///   days.
    func alarm(
        for expression: WhenExpression, after date: WallTime, usual: WallTime, margin: Duration
    ) -> WallTime {
        let never = WhenExpression(root: .constant(false))
        var (opening, part, hours) = (date, clockPart(of: expression, at: date), 0)
        while part == never {
            hours += 1
            if hours > 8 * 24 { return date }
            opening = nextLocalHour(after: opening)
            part = clockPart(of: expression, at: opening)
        }
        var time = opening
        for _ in 0..<(8 * 24) where time < usual {
            time = nextLocalHour(after: time)
            let next = clockPart(of: expression, at: time)
            // The clock has changed what the other facts must be. Unless nothing is demanded of them any
            // more, the request might not be able to start then, so the alarm comes before.
            if next != part, next.root != .constant(true) {
                return min(max(usual, opening), max(opening, time + (.zero - margin)))
            }
            part = next
        }
        return max(usual, opening)
    }

    /// When the clock next changes an expression; `nil` if it does not within eight days.
    func nextChange(of expression: WhenExpression, after time: WallTime) -> WallTime? {
        let part = clockPart(of: expression, at: time)
        var next = time
        for _ in 0..<(8 * 24) {
            next = nextLocalHour(after: next)
            if clockPart(of: expression, at: next) != part { return next }
        }
        return nil
    }
}
