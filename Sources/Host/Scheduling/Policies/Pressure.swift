import TaskModel

/// Holds deferrable requests while CPU, memory or disks are under pressure.
///
/// Unknown pressure holds no request; it only has a lower score.
struct Pressure: Policy {
    let name = "Pressure"
    let deferralReason: Reason? = .pressure

    func weight(_ weights: PolicyWeights) -> Double { weights.pressure }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard subject.isDiscretionary else { return subject.proceed() }
        let since = situation.since.pressure
        func rationale(_ observed: String, _ remedy: String? = nil) -> Rationale {
            Rationale(quantity: "pressure", required: "free of pressure", observed: observed, remedy: remedy)
        }
        guard let pressure = situation.conditions.pressure.value else {
            return subject.proceed(
                score: situation.settings.scores.pressureUnknown, since: since,
                rationale("in an unknown state (the source of pressure does not answer)"))
        }
        if pressure == .none { return subject.proceed(score: 1, since: since, rationale("free of pressure")) }
        return subject.wait(
            for: .lane, since: since,
            rationale(
                "under pressure (\(pressure.text))",
                "Close what uses the \(pressure.memory ? "memory" : pressure.cpu ? "processor" : "disks"), or wait"
            ))
    }
}

extension PressureCondition {
    /// The resources under pressure, for people: `cpu, io`.
    var text: String {
        [(cpu, "cpu"), (memory, "memory"), (io, "io")].filter(\.0).map(\.1).joined(separator: ", ")
    }
}
