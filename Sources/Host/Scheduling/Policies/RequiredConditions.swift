import TaskModel

/// Holds a request until all custom conditions that its manifest requires are on, and stops its launch when
/// one is off.
///
/// A condition that is unknown or undefined counts as off.
struct RequiredConditions: Policy {
    let name = "RequiredConditions"
    let reach = Reach.machine
    let endReason: Reason? = .conditionLost

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let names = subject.needs.conditions
        if names.isEmpty { return subject.proceed() }
        let readings = situation.conditions.custom
        let missing = names.first { readings[$0] != .known(true) }
        let since = situation.since.custom[missing ?? names[0]]
        func rationale(_ remedy: String?) -> Rationale {
            Rationale(
                quantity: "conditions", required: names.map { "\($0)=on" }.joined(separator: " "),
                observed: names.map { "\($0)=\(readings[$0]?.text ?? "undefined")" }.joined(separator: " "),
                remedy: remedy)
        }
        guard let missing else { return subject.proceed(since: since, rationale(nil)) }
        return subject.stop(
            until: .condition(missing), since: since, rationale(Self.remedy(missing, readings[missing])))
    }

    private static func remedy(_ name: String, _ reading: Reading<Bool>?) -> String {
        switch reading {
        case nil: "Define \(name) in a file of conditions.d: 'condition: \(name)'"
        case .unknown: "See 'bgtask logs' for why the source of \(name) has no value"
        case .known: "Wait until \(name) holds, or try it out: bgtask conditions set \(name)=on"
        }
    }
}

extension Reading<Bool> {
    /// The value as `bgtask conditions` shows it: `on`, `off` or `unknown`.
    var text: String { value.map { $0 ? "on" : "off" } ?? "unknown" }
}
