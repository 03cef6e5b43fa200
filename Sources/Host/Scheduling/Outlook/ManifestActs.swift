import TaskModel

// What people can do about the constraints of manifests, except about `when`.

extension Storage {
    var awaited: String { "free space" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        guard let required = subject.needs.constraints?.storage else { return [] }
        guard let free = scheduler.situation.conditions.storage.value else {
            return [
                PossibleAct(
                    text: "Find out why the free space of the host's state directory is unknown",
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
        guard case .launch(let other) = answer(for: subject, in: scheduler.situation, at: now).fact
        else { return [] }
        if scheduler.situation.occupancy.requests[other] == nil {
            return [
                PossibleAct(
                    text: "See what that one waits for", command: ["explain", "\(other)"], effect: .unknown)
            ]
        }
        guard
            let id = scheduler.situation.occupancy.requests[other], let launch = scheduler.launches[id],
            let launchID = launch.id, !launch.isExpiring
        else { return [] }
        var act = PossibleAct.stopping(launch, launchID, at: now)
        // Several conflicting tasks can run.
        act.isStep = true
        return [act]
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
        var act = PossibleAct.changing("Charge the battery to \(percent) %", takesTime: true) {
            $0.power = .known(
                PowerCondition(externalPower: true, isCharging: true, batteryPercent: percent))
        }
        act.comesFirst = true
        return act
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
