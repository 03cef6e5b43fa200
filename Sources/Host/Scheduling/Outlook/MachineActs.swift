import TaskModel

// What people can do about the policies that look at the machine. They are together in this file, because
// several of these policies share acts. A new policy has its words and acts in its own file.

extension PossibleAct {
    /// The charger is plugged in; the charge stays.
    static let plugIn = PossibleAct.changing("Plug in") { conditions in
        let power = conditions.power.value
        conditions.power = .known(
            PowerCondition(
                externalPower: true, isCharging: power?.batteryPercent != nil,
                batteryPercent: power?.batteryPercent))
    }

    /// The charger is unplugged, for a task that asks for that.
    static let unplug = PossibleAct.changing("Unplug the charger") { conditions in
        let power = conditions.power.value
        conditions.power = .known(
            PowerCondition(
                externalPower: false, isCharging: false, batteryPercent: power?.batteryPercent))
    }

    /// The user is active, for a task that asks for that.
    static let useDevice = PossibleAct.changing("Use the device") { $0.user = .known(.active) }

    /// The machine is in low-power mode, for a task that asks for that.
    static let lowPowerOn = PossibleAct.changing("Turn low-power mode on") {
        $0.lowPowerMode = .known(true)
    }

    /// A custom condition has no file.
    static func defining(_ name: String) -> PossibleAct {
        PossibleAct(
            text: "Define \(name) in a file in conditions.d, with 'condition: \(name)'", effect: .unknown)
    }

    /// A custom condition has no value.
    static func findingSource(of name: String) -> PossibleAct {
        PossibleAct(
            text: "Find out why the source of \(name) has no value", command: ["logs"], effect: .unknown)
    }

    /// An unmetered network is there.
    static let connectUnmetered = PossibleAct.changing(
        "Connect to an unmetered network", short: "Connect to one"
    ) { $0.network = .known(.unmetered) }

    /// The machine is not in low-power mode.
    static let lowPowerOff = PossibleAct.changing("Turn low-power mode off", short: "Turn it off") {
        $0.lowPowerMode = .known(false)
    }

    /// The machine is not warm.
    static let coolDown = PossibleAct.changing(
        "Let the machine cool down", short: "Let it cool down", takesTime: true,
        state: "the machine has cooled down"
    ) { $0.thermal = .known(.nominal) }

    /// The user is idle.
    static let leaveAlone = PossibleAct.changing(
        "Leave the device alone for 5 min", short: "Leave it alone for 5 min", takesTime: true,
        state: "the device is idle"
    ) { $0.user = .known(.idle) }

    /// Some resources are not under pressure any more.
    static func closing(_ part: PressureCondition) -> PossibleAct {
        .changing("Close what uses \(part.resources)", state: "the machine is less busy") {
            guard var pressure = $0.pressure.value else { return }
            if part.cpu { pressure.cpu = false }
            if part.memory { pressure.memory = false }
            if part.io { pressure.io = false }
            $0.pressure = .known(pressure)
        }
    }

    /// The machine is not in low-data mode.
    static let lowDataOff = PossibleAct.changing("Turn low-data mode off") {
        $0.network = .known(.unmetered)
    }

    /// A source of conditions does not answer, and its value after the repair is not known in advance.
    static func repair(_ source: String, _ unit: String? = nil) -> PossibleAct {
        let how = unit.map { "systemctl restart \($0)" } ?? "see bgtask conditions"
        return PossibleAct(
            text: "Restart the source of \(source), which does not answer (\(how))", effect: .unknown)
    }
}

extension ExternalPower {
    var awaited: String { "power" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        let power = scheduler.situation.conditions.power
        if power == .unknown { return [.repair("power", "upower")] }
        return scheduler.situation.conditions.isExternalPowerConnected ? [] : [.plugIn]
    }
}

extension BatteryLevel {
    var awaited: String { "a charged battery" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        let power = scheduler.situation.conditions.power
        if power == .unknown, subject.needs.constraints?.battery != nil {
            return [.repair("power", "upower")]
        }
        return power.value?.externalPower == false ? [.plugIn] : []
    }
}

extension Network {
    var awaited: String { "a network" }

    func awaited(by subject: Subject, in situation: Situation, at now: Moment) -> String {
        let isMissing = !situation.conditions.isNetworkThere
        return subject.needs.network == .unmetered && !isMissing ? "an unmetered network" : awaited
    }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        guard subject.needs.network != nil else { return [] }
        let connect = PossibleAct.connectUnmetered
        switch scheduler.situation.conditions.network {
        case .unknown: return [.repair("the network", "NetworkManager")]
        case .known(.unmetered): return []
        case .known(.constrained):
            return [.lowDataOff]
        case .known(.none)
        where subject.needs.network == .any && !isRefusedWhenMetered(subject, in: scheduler, at: now):
            return [
                .changing("Connect to a network", short: "Connect to one") { $0.network = .known(.unmetered) }
            ]
        case .known(.metered): return [connect]
        case .known(.none):
            var act = connect
            act.short = "Connect to an unmetered one"
            return [act]
        }
    }

    /// Whether the expression of the task would refuse a metered network.
    ///
    /// A user whom the host asks for a network may connect to a metered one.
    private func isRefusedWhenMetered(_ subject: Subject, in scheduler: Scheduler, at now: Moment) -> Bool {
        let tests = subject.needs.constraints?.when?.tests ?? []
        guard tests.contains(where: { $0.fact == .machine(.network) }) else { return false }
        var situation = scheduler.situation
        var conditions = situation.conditions
        conditions.network = .known(.metered)
        _ = situation.replaceConditions(conditions, at: now)
        return When().answer(for: subject, in: situation, at: now).isVeto
    }
}

extension Resources {
    var awaited: String { "a GPU" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        guard subject.needs.gpu, scheduler.situation.conditions.gpu != .known(true) else { return [] }
        return [PossibleAct(text: "Submit it without the GPU", effect: .unknown)]
    }
}

extension RequiredConditions {
    var awaited: String { "conditions that its manifest names" }

    func awaited(by subject: Subject, in situation: Situation, at now: Moment) -> String {
        let missing = subject.needs.conditions.filter { situation.conditions.custom[$0] != .known(true) }
        return "the condition\(missing.count == 1 ? "" : "s") \(missing.inSentence)"
    }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        let readings = scheduler.situation.conditions.custom
        let missing = subject.needs.conditions.filter { readings[$0] != .known(true) }
        if missing.isEmpty { return [] }
        if let undefined = missing.first(where: { readings[$0] == nil }) {
            return [.defining(undefined)]
        }
        if let silent = missing.first(where: { readings[$0] == .unknown }) {
            return [.findingSource(of: silent)]
        }
        return [
            .command(
                "Turn on \(missing.inSentence)", short: missing.count == 1 ? "Turn it on" : "Turn them on",
                ["conditions", "set"] + missing.map { "\($0)=on" },
                .conditions { for name in missing { $0.custom[name] = .known(true) } })
        ]
    }
}

extension LowPowerMode {
    var awaited: String { "the end of low-power mode" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        scheduler.situation.conditions.lowPowerMode == .known(true)
            ? [.lowPowerOff] : []
    }
}

extension Pressure {
    var awaited: String { "a less busy machine" }

    func awaited(by subject: Subject, in situation: Situation, at now: Moment) -> String {
        answer(for: subject, in: situation, at: now).fact == .slot
            ? "a free slot on the busy machine" : awaited
    }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        guard let pressure = scheduler.situation.conditions.pressure.value, pressure != .none else {
            return []
        }
        return [.closing(pressure)] + scheduler.stops(for: self, subject, at: now)
    }
}

extension Thermal {
    var awaited: String { "a cooler machine" }

    func awaited(by subject: Subject, in situation: Situation, at now: Moment) -> String {
        guard answer(for: subject, in: situation, at: now).fact == .slot else { return awaited }
        return situation.conditions.thermal == .unknown
            ? "one of the few slots while the heat is unknown"
            : "one of the few slots of a warm machine"
    }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        let stops = scheduler.stops(for: self, subject, at: now)
        switch scheduler.situation.conditions.thermal {
        case .known(.nominal): return []
        case .unknown: return stops + [.repair("heat")]
        case .known: return [cooling(for: subject, in: scheduler.situation, at: now)] + stops
        }
    }

    /// The coolest state that this policy allows and that the expression of the task does not exclude.
    ///
    /// `thermal != nominal` is true on a hot machine; a cold one would only exchange one veto for another.
    private func cooling(for subject: Subject, in situation: Situation, at now: Moment) -> PossibleAct {
        guard let expression = subject.needs.constraints?.when,
            expression.tests.contains(where: { $0.fact == .machine(.thermal) })
        else { return .coolDown }
        func after(_ state: ThermalCondition) -> Situation {
            var changed = situation
            var conditions = situation.conditions
            conditions.thermal = .known(state)
            _ = changed.replaceConditions(conditions, at: now)
            return changed
        }
        let allowed = ThermalCondition.allCases.filter {
            .known($0) != situation.conditions.thermal
                && !answer(for: subject, in: after($0), at: now).isVeto
        }
        let state =
            allowed.first { !When().answer(for: subject, in: after($0), at: now).isVeto }
            ?? allowed.first { state in
                expression.value { $0 == .machine(.thermal) ? .text(state.rawValue) : nil } != false
            }
        guard let state, state != .nominal else { return .coolDown }
        return .cooling(to: state)
    }
}

extension DeviceActivity {
    var awaited: String { "an idle device" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        switch scheduler.situation.conditions.user {
        case .known(.idle): []
        case .unknown: [.repair("user activity")]
        case .known(.active):
            [.leaveAlone]
        }
    }
}

extension SystemSleep {
    var awaited: String { "the machine to sleep and wake" }
}
