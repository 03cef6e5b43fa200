import TaskModel

/// Holds deferrable requests while low-power mode is on.
///
/// An unknown state holds no request; it has a score between those of on and off.
struct LowPowerMode: Policy {
    let name = "LowPowerMode"
    let deferralReason: Reason? = .lowPowerMode

    func weight(_ weights: PolicyWeights) -> Double { weights.lowPowerMode }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard subject.isDiscretionary else { return subject.proceed() }
        let since = situation.since.lowPowerMode
        func rationale(_ observed: String, _ remedy: String? = nil) -> Rationale {
            Rationale(quantity: "lowPowerMode", required: "off", observed: observed, remedy: remedy)
        }
        switch situation.conditions.lowPowerMode {
        case .known(true):
            return subject.wait(for: .lane, since: since, rationale("on", "Turn low-power mode off"))
        case .known(false): return subject.proceed(score: 1, since: since, rationale("off"))
        case .unknown:
            return subject.proceed(
                score: situation.settings.scores.lowPowerModeUnknown, since: since,
                rationale("unknown (its source does not answer)"))
        }
    }
}
