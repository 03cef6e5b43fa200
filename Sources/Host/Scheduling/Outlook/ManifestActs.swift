import TaskModel

// What people can do about the constraints of manifests.

extension Storage {
    var awaited: String { "free space" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        guard let required = subject.needs.constraints?.storage else { return [] }
        guard let free = scheduler.situation.conditions.storage.value else {
            return [
                PossibleAct(
                    text: "Check the file system of the host's state directory, which does not report it",
                    effect: .unknown)
            ]
        }
        return free < required ? [.freeing(required, from: free)] : []
    }
}

extension Between {
    var awaited: String { "the hours of 'between'" }
}

extension Conflicts {
    var awaited: String { "a conflicting task to end" }

    func awaited(by subject: Subject, in situation: Situation, at now: Moment) -> String {
        guard case .launch(let other) = answer(for: subject, in: situation, at: now).fact else {
            return awaited
        }
        return situation.occupancy.requests[other] == nil
            ? "the conflicting task \(other), which has waited longer" : awaited
    }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        guard
            case .launch(let other) = answer(for: subject, in: scheduler.situation, at: now).fact,
            let id = scheduler.situation.occupancy.requests[other], let launch = scheduler.launches[id],
            let launchID = launch.id, !launch.isExpiring
        else { return [] }
        var act = PossibleAct.stopping(launch, launchID, at: now)
        // Several conflicting tasks can run.
        act.isStep = true
        return [act]
    }
}

extension When {
    var awaited: String { "what 'when' asks for" }

    /// The acts of the smallest set of changes that makes the expression true, now or at an hour of the
    /// clock; or each act that alone is enough.
    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        let situation = scheduler.situation
        guard let expression = subject.needs.constraints?.when else { return [] }
        func isEnough(_ acts: [PossibleAct]) -> Bool {
            var changed = situation
            var conditions = situation.conditions
            for case .conditions(let change) in acts.map(\.effect) { change(&conditions) }
            _ = changed.replaceConditions(conditions, at: now)
            return expression.value { changed.value(of: $0, at: now.wall) } == true
                || (!acts.isEmpty && changed.nextTime(of: expression, after: now.wall) != nil)
        }
        if isEnough([]) { return [] }
        let acts = Self.changes(for: expression, in: situation.conditions)
        let single = acts.filter { isEnough([$0]) }
        if !single.isEmpty { return single }
        for (first, one) in acts.enumerated() {
            for other in acts.dropFirst(first + 1) where isEnough([one, other]) { return [one, other] }
        }
        // A smallest set: no act of it can be left out.
        if isEnough(acts) {
            var set = acts
            for index in acts.indices.reversed() {
                var fewer = set
                fewer.remove(at: index)
                if isEnough(fewer) { set = fewer }
            }
            return set
        }
        if situation.nextTime(of: expression, after: now.wall) != nil { return [] }
        let needed = WhenAnalysis(expression) { situation.value(of: $0, at: now.wall) }.needed
        if needed.isEmpty { return [] }
        return [
            PossibleAct(
                text: "Make sure that this is true: \(needed.map(\.text).inSentence)", effect: .unknown)
        ]
    }

    /// What people can change about the facts that an expression tests.
    private static func changes(
        for expression: WhenExpression, in conditions: Conditions
    ) -> [PossibleAct] {
        var acts: [PossibleAct] = []
        func add(_ act: PossibleAct) {
            var act = act
            act.isStep = true
            if !acts.contains(where: { $0.key == act.key }) { acts.append(act) }
        }
        for test in expression.tests {
            switch test.fact {
            case .condition(let name): add(.turning(name, on: conditions.custom[name] != .known(true)))
            case .payload: break
            case .machine(let fact):
                switch fact {
                case .externalPower, .charging:
                    if conditions.power.value?.externalPower == false { add(.plugIn) }
                case .battery:
                    guard let power = conditions.power.value, case .number(let level) = test.literal else {
                        continue
                    }
                    let percent = Int(level / 1_000_000) + (test.comparison == .above ? 1 : 0)
                    if let charge = power.batteryPercent, charge < percent, percent <= 100 {
                        add(.charging(to: percent))
                    }
                case .lowPower:
                    if conditions.lowPowerMode == .known(true) { add(.lowPowerOff) }
                case .network:
                    if conditions.network.value != nil, conditions.network != .known(.unmetered) {
                        add(.connectUnmetered)
                    }
                case .thermal:
                    if conditions.thermal.value != nil, conditions.thermal != .known(.nominal) {
                        add(.coolDown)
                    }
                case .idle: if conditions.user == .known(.active) { add(.leaveAlone) }
                case .cpuPressure, .memoryPressure, .ioPressure:
                    if let pressure = conditions.pressure.value, pressure != .none { add(.closing(pressure)) }
                case .storage:
                    guard let free = conditions.storage.value, case .size(let size) = test.literal,
                        free <= size
                    else { continue }
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

extension PossibleAct {
    /// More free space, as much as is required.
    static func freeing(_ required: ByteCount, from free: ByteCount) -> PossibleAct {
        var act = PossibleAct.changing("Free \(free.missing(to: required)) more") {
            $0.storage = .known(max(required, free))
        }
        act.state = "\(required) are free"
        return act
    }

    /// A custom condition on or off.
    static func turning(_ name: String, on isOn: Bool) -> PossibleAct {
        .command(
            "Turn \(isOn ? "on" : "off") \(name)",
            ["conditions", "set", "\(name)=\(isOn ? "on" : "off")"],
            .conditions { $0.custom[name] = .known(isOn) })
    }

    /// The battery is charged to this percentage, on external power that stays connected.
    static func charging(to percent: Int) -> PossibleAct {
        .changing("Charge the battery to \(percent) %", takesTime: true) {
            $0.power = .known(
                PowerCondition(externalPower: true, isCharging: true, batteryPercent: percent))
        }
    }
}

extension ByteCount {
    /// How much more space must be freed to have an amount, for people: rounded up to MiB or tenths of GiB.
    fileprivate func missing(to required: ByteCount) -> String {
        let bytes = max(0, required.bytes - self.bytes)
        let (tenth, mebi) = (Int64(1) << 30, Int64(1) << 20)
        if bytes >= tenth {
            let tenths = (bytes / tenth) * 10 + ((bytes % tenth) * 10 + tenth - 1) / tenth
            return tenths % 10 == 0 ? "\(tenths / 10) GiB" : "\(tenths / 10).\(tenths % 10) GiB"
        }
        return "\((bytes + mebi - 1) / mebi) MiB"
    }
}
