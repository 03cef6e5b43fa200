import TaskModel

// Acts about the facts that an expression of `when` tests.

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
                + (reason.map { " (\($0))" } ?? ""), effect: .unknown)
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
        act.comesFirst = true
        return act
    }

    /// A battery that is full, so that it does not charge any more.
    static var chargingFully: PossibleAct {
        var act = PossibleAct.changing(
            "Leave the charger plugged in until the battery is full", takesTime: true,
            state: "the battery is full"
        ) {
            $0.power = .known(
                PowerCondition(externalPower: true, isCharging: false, batteryPercent: 100))
        }
        act.comesFirst = true
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
    static func warming(to state: ThermalCondition) -> PossibleAct {
        .changing(
            "Let the machine work until it is warm (thermal: \(state.rawValue))", takesTime: true,
            state: "the machine is warm (thermal: \(state.rawValue))"
        ) { $0.thermal = .known(state) }
    }

    /// A resource under pressure, for a task that asks for that.
    static func busying(_ fact: MachineFact) -> PossibleAct {
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
    static func filling(below size: ByteCount) -> PossibleAct {
        .changing("Fill the disk until less than \(size) are free") {
            $0.storage = .known(ByteCount(bytes: size.bytes - 1))
        }
    }

    /// Another network than an unmetered one, for a task that asks for that.
    static func reaching(_ network: NetworkCondition) -> PossibleAct {
        let text =
            switch network {
            case .none: "Disconnect from the network"
            case .constrained: "Turn low-data mode on"
            case .metered: "Connect to a metered network"
            case .unmetered: "Connect to an unmetered network"
            }
        return .changing(text) { $0.network = .known(network) }
    }

    /// The act as one that people do before those that change the power supply.
    var beforeOthers: PossibleAct {
        var act = self
        act.comesFirst = true
        return act
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
