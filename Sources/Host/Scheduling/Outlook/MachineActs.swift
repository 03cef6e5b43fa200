import TaskModel

// What people can do about the policies that look at the machine. A new policy has its words and acts in its
// own file.

extension PossibleAct {
    /// The charger is plugged in; the charge stays.
    static let plugIn = PossibleAct.changing("Plug in") { conditions in
        let power = conditions.power.value
        conditions.power = .known(
            PowerCondition(
                externalPower: true, isCharging: power?.batteryPercent != nil,
                batteryPercent: power?.batteryPercent))
    }

    /// A source of conditions does not answer, and nobody knows what it will report after its repair.
    static func repair(_ source: String, _ unit: String? = nil) -> PossibleAct {
        let example = unit.map { ", for example with systemctl restart \($0)" } ?? ""
        return PossibleAct(
            text: "Restart the source of '\(source)', which bgtask conditions names\(example)",
            effect: .unknown)
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
        scheduler.situation.conditions.power.value?.externalPower == false ? [.plugIn] : []
    }
}

extension Network {
    var awaited: String { "a network" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        guard subject.needs.network != nil else { return [] }
        let connect = PossibleAct.changing("Connect to an unmetered network") {
            $0.network = .known(.unmetered)
        }
        switch scheduler.situation.conditions.network {
        case .unknown: return [.repair("network", "NetworkManager")]
        case .known(.unmetered): return []
        case .known(.constrained):
            return [.changing("Turn low-data mode off") { $0.network = .known(.unmetered) }]
        case .known(.none) where subject.needs.network == .any:
            return [.changing("Connect to a network") { $0.network = .known(.unmetered) }]
        case .known(.none), .known(.metered): return [connect]
        }
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

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        let readings = scheduler.situation.conditions.custom
        let missing = subject.needs.conditions.filter { readings[$0] != .known(true) }
        if missing.isEmpty { return [] }
        if let undefined = missing.first(where: { readings[$0] == nil }) {
            return [
                PossibleAct(
                    text: "Define \(undefined) in a file in conditions.d with 'condition: \(undefined)'",
                    effect: .unknown)
            ]
        }
        if let silent = missing.first(where: { readings[$0] == .unknown }) {
            return [
                PossibleAct(
                    text: "Find out why the source of \(silent) has no value", command: ["logs"],
                    effect: .unknown)
            ]
        }
        return [
            .command(
                "Turn on \(missing.inSentence)", ["conditions", "set"] + missing.map { "\($0)=on" },
                .conditions { for name in missing { $0.custom[name] = .known(true) } })
        ]
    }
}

extension LowPowerMode {
    var awaited: String { "low-power mode to end" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        scheduler.situation.conditions.lowPowerMode == .known(true)
            ? [.changing("Turn low-power mode off") { $0.lowPowerMode = .known(false) }] : []
    }
}

extension Pressure {
    var awaited: String { "a less busy machine" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        guard let pressure = scheduler.situation.conditions.pressure.value, pressure != .none else {
            return []
        }
        let resource = pressure.memory ? "memory" : pressure.cpu ? "processor" : "disks"
        return [.changing("Close what uses the \(resource)") { $0.pressure = .known(.none) }]
    }
}

extension Thermal {
    var awaited: String { "a cooler machine" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        switch scheduler.situation.conditions.thermal {
        case .known(.nominal): []
        case .unknown: [.repair("thermal")]
        case .known:
            [.changing("Let the machine cool down", takesTime: true) { $0.thermal = .known(.nominal) }]
        }
    }
}

extension DeviceActivity {
    var awaited: String { "an idle device" }

    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] {
        switch scheduler.situation.conditions.user {
        case .known(.idle): []
        case .unknown: [.repair("user", "systemd-logind")]
        case .known(.active):
            [.changing("Leave the device alone for 5 min", takesTime: true) { $0.user = .known(.idle) }]
        }
    }
}

extension SystemSleep {
    var awaited: String { "the machine to sleep and wake" }
}
