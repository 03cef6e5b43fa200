import TaskModel

// What people can change about the facts that an expression of `when` tests.

extension WhenExpression {
    /// The acts that can make a test of the expression true, in the order in which people do them.
    func changes(in conditions: Conditions) -> [PossibleAct] {
        var acts: [PossibleAct] = []
        for test in withoutNegations.tests {
            for act in test.changes(in: conditions) where !acts.contains(where: { $0.key == act.key }) {
                var act = act
                act.isStep = true
                // A headline with an expression has not named the subject of the act.
                act.short = nil
                acts.append(act)
            }
        }
        return acts
    }
}

extension WhenTest {
    fileprivate func changes(in conditions: Conditions) -> [PossibleAct] {
        switch fact {
        case .condition(let name):
            // Nothing can set a condition that no file defines.
            return conditions.custom[name].map { [.turning(name, on: $0 != .known(true))] } ?? []
        case .payload: return []
        case .machine(let fact):
            switch fact {
            case .externalPower:
                return conditions.power.value.map { [$0.externalPower ? .unplug : .plugIn] } ?? []
            case .charging: return conditions.power.value.map(chargingChanges) ?? []
            case .battery: return conditions.power.value.map(batteryChanges) ?? []
            case .lowPower:
                return conditions.lowPowerMode.value.map { [$0 ? .lowPowerOff : .lowPowerOn] } ?? []
            case .network: return conditions.network.value.map(networkChanges) ?? []
            case .thermal: return conditions.thermal.value.map(thermalChanges) ?? []
            case .idle: return conditions.user.value.map { [$0 == .active ? .leaveAlone : .useDevice] } ?? []
            case .cpuPressure, .memoryPressure, .ioPressure:
                return conditions.pressure.value.map(pressureChanges) ?? []
            case .storage: return conditions.storage.value.map(storageChanges) ?? []
            case .gpu, .hour, .weekday: return []
            }
        }
    }

    /// Only the plug changes whether the battery charges, except that a full one does not.
    private func chargingChanges(_ power: PowerCondition) -> [PossibleAct] {
        if !power.externalPower { return power.batteryPercent == nil ? [] : [.plugIn] }
        guard let charge = power.batteryPercent else { return [] }
        if power.isCharging { return [.unplug, .chargingFully] }
        return charge > 0 ? [.discharging(to: charge - 1, power)] : []
    }

    private func batteryChanges(_ power: PowerCondition) -> [PossibleAct] {
        guard case .number(let millionths) = literal, let charge = power.batteryPercent else { return [] }
        let (whole, isWhole) = (Int(millionths / 1_000_000), millionths % 1_000_000 == 0)
        func reaching(_ percent: Int) -> [PossibleAct] {
            if percent == charge || !(0...100).contains(percent) { return [] }
            return [percent > charge ? .charging(to: percent) : .discharging(to: percent, power)]
        }
        switch comparison {
        case .atLeast: return charge < whole + (isWhole ? 0 : 1) ? reaching(whole + (isWhole ? 0 : 1)) : []
        case .above: return charge <= whole ? reaching(whole + 1) : []
        case .atMost: return charge > whole ? reaching(whole) : []
        case .below:
            let most = whole - (isWhole ? 1 : 0)
            return charge > most ? reaching(most) : []
        case .equal: return isWhole ? reaching(whole) : []
        case .notEqual:
            guard isWhole, charge == whole else { return [] }
            // With the charger, the charge rises by itself; without it, it falls.
            let (higher, lower) = (reaching(whole + 1), reaching(whole - 1))
            return power.externalPower && !higher.isEmpty ? higher : lower + higher
        }
    }

    private func networkChanges(_ network: NetworkCondition) -> [PossibleAct] {
        let other =
            literal != .word(network.rawValue) || comparison == .notEqual
            ? PossibleAct.connecting(for: self, unlike: network) : nil
        return (network == .unmetered ? [] : [.connectUnmetered]) + [other].compactMap(\.self)
    }

    /// The nearest colder and warmer states in which the test is true.
    private func thermalChanges(_ thermal: ThermalCondition) -> [PossibleAct] {
        let all = ThermalCondition.allCases
        guard let present = all.firstIndex(of: thermal) else { return [] }
        func isTrue(_ index: Int) -> Bool { holds(.text(all[index].rawValue)) == true }
        var acts: [PossibleAct] = []
        if isTrue(0), present > 0 {
            acts.append(.coolDown)
        } else if let colder = all[..<present].indices.last(where: isTrue) {
            acts.append(.cooling(to: all[colder]))
        }
        if let warmer = all[(present + 1)...].indices.first(where: isTrue) {
            acts.append(.warming(to: all[warmer]))
        }
        return acts
    }

    private func pressureChanges(_ pressure: PressureCondition) -> [PossibleAct] {
        guard case .machine(let resource) = fact else { return [] }
        let isBusy =
            switch resource {
            case .cpuPressure: pressure.cpu
            case .memoryPressure: pressure.memory
            default: pressure.io
            }
        let closing: [PossibleAct] = pressure == .none ? [] : [.closing(pressure)]
        return closing + (isBusy ? [] : [.busying(resource)])
    }

    private func storageChanges(_ free: ByteCount) -> [PossibleAct] {
        guard case .size(let size) = literal else { return [] }
        var acts: [PossibleAct] = []
        let isBelow = comparison == .below || comparison == .atMost
        if isBelow, free >= size, size.bytes > 0 { acts.append(.filling(below: size)) }
        if !isBelow, free <= size {
            acts.append(
                .freeing(ByteCount(bytes: size.bytes + (comparison == .above ? 1 : 0)), from: free))
        }
        return acts
    }
}

extension WhenAnalysis.Clause {
    /// Whether the clause needs a battery.
    var isOfBattery: Bool { [.machine(.battery), .machine(.charging)].contains(test.fact) }

    /// The value with which the key of the payload makes the clause true; `nil` if the clause is about
    /// something else, or if the values can't be counted.
    var wantedValue: WhenValue? {
        guard case .payload = test.fact else { return nil }
        let comparison = wanted ? test.comparison : test.comparison.opposite
        switch test.literal {
        case .boolean(let flag): return .boolean(flag == (comparison == .equal))
        case .text(let text), .word(let text): return comparison == .equal ? .text(text) : nil
        case .size: return nil
        case .number(let millionths):
            let number = Double(millionths) / 1_000_000
            return switch comparison {
            case .equal, .atLeast, .atMost: .number(number)
            case .above, .notEqual: .number(number.rounded(.down) + 1)
            case .below: .number(number.rounded(.up) - 1)
            }
        }
    }
}

extension PossibleAct {
    /// The manifest's expression can't be true.
    static func correcting(_ subject: Subject, because reason: String? = nil) -> PossibleAct {
        PossibleAct(
            text: "Correct 'when' in the manifest of \(subject.request.bundle)"
                + (reason.map { "; \($0)" } ?? ""), effect: .unknown)
    }

    /// The longest payload in a command that people paste, in bytes; our choice.
    private static let longestPayload = 200

    /// The request is submitted again, with a payload that fulfils clauses.
    ///
    /// - Parameters:
    ///   - subject: The request.
    ///   - clauses: The clauses about keys of the payload.
    /// - Returns: The act; it has a command if values are known that fulfil all clauses.
    static func submitting(_ subject: Subject, _ clauses: [WhenAnalysis.Clause]) -> PossibleAct {
        let text = "Submit it again with \(clauses.map(\.text).inSentence)"
        var values: [(key: String, value: WhenValue)] = []
        for clause in clauses {
            guard case .payload(let key, _) = clause.test.fact, let value = clause.wantedValue else {
                return PossibleAct(text: text, effect: .unknown)
            }
            values.append((key, value))
        }
        var request = subject.request
        let payload = PayloadFacts.text(request.submission.payload, setting: values)
        guard payload.utf8.count <= longestPayload else { return PossibleAct(text: text, effect: .unknown) }
        request.submission.payload = payload
        var act = PossibleAct.command(text, request.submission.command, .event(.submitted(request)))
        act.isStep = true
        return act
    }

    /// A battery that has lost its charge down to so many percent.
    static func discharging(to percent: Int, _ power: PowerCondition) -> PossibleAct {
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

    /// A battery that is full, so that it does not charge any more.
    fileprivate static var chargingFully: PossibleAct {
        var act = PossibleAct.changing(
            "Leave the charger plugged in until the battery is full", takesTime: true,
            state: "the battery is full"
        ) {
            $0.power = .known(
                PowerCondition(externalPower: true, isCharging: false, batteryPercent: 100))
        }
        act.isCharging = true
        return act
    }

    /// A machine that is still warm, but less.
    static func cooling(to state: ThermalCondition) -> PossibleAct {
        .changing(
            "Let the machine cool down to \(state.rawValue)", takesTime: true,
            state: "the machine has cooled down to \(state.rawValue)"
        ) { $0.thermal = .known(state) }
    }

    /// A warmer machine, for a task that asks for that.
    fileprivate static func warming(to state: ThermalCondition) -> PossibleAct {
        .changing(
            "Let the machine work until it is warm (thermal: \(state.rawValue))", takesTime: true,
            state: "the machine is warm (thermal: \(state.rawValue))"
        ) { $0.thermal = .known(state) }
    }

    /// A resource under pressure, for a task that asks for that.
    fileprivate static func busying(_ fact: MachineFact) -> PossibleAct {
        let words =
            switch fact {
            case .cpuPressure: "the processor busy"
            case .memoryPressure: "the memory full"
            default: "the disks busy"
            }
        var act = PossibleAct.changing("Run something that keeps \(words)", takesTime: true) {
            var pressure = $0.pressure.value ?? .none
            switch fact {
            case .cpuPressure: pressure.cpu = true
            case .memoryPressure: pressure.memory = true
            default: pressure.io = true
            }
            $0.pressure = .known(pressure)
        }
        act.isPressing = true
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

extension TaskSubmission {
    /// The arguments of the `bgtask` command that submits the same again, without what is over.
    fileprivate var command: [String] {
        var command = ["submit", "\(identifier)"]
        if let payload { command += ["--payload", payload] }
        if requiresExternalPower { command.append("--external-power") }
        if let network {
            command += ["--network", network.rawValue]
        } else if requiresNetworkConnectivity {
            command.append("--network")
        }
        if requiresGPU { command.append("--gpu") }
        for tag in tags { command += ["--tag", "\(tag)"] }
        if !title.isEmpty { command += ["--title", title] }
        if !subtitle.isEmpty { command += ["--subtitle", subtitle] }
        return command
    }
}

extension String {
    /// The text with the first occurrence of a part replaced.
    func replacingPart(_ part: String, by other: String) -> String {
        guard let start = indices.first(where: { self[$0...].hasPrefix(part) }) else { return self }
        return self[..<start] + other + self[start...].dropFirst(part.count)
    }
}
