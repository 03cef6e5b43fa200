import TaskModel

/// Holds deferrable requests while CPU, memory or disks are under pressure.
///
/// It also holds continued tasks that were put back while memory is short: the host would soon end them
/// again, because they have the least progress. Unknown pressure holds no request; it only has a lower score.
struct Pressure: Policy {
    let name = "Pressure"
    let deferralReason: Reason? = .pressure

    func weight(_ weights: PolicyWeights) -> Double { weights.pressure }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let since = situation.since.pressure
        guard subject.isDiscretionary else {
            guard subject.request.kind == .continuedProcessing, subject.request.attempt > 1,
                !subject.isRunning, situation.conditions.isShortOfMemory
            else { return subject.proceed() }
            return subject.wait(
                for: .memoryPressure, since: since,
                Rationale(
                    quantity: "pressure",
                    required: "free of memory pressure before a further attempt of a continued task",
                    observed: "under pressure (memory)", remedy: "Close what uses the memory, or wait"))
        }
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
