import TaskModel

/// Limits the launches on a hot machine.
///
/// In the state `fair`, the number of deferrable launches is ``SchedulerSettings/discretionarySlotsWhenFair``
/// (1). In the state `serious`, no deferrable request starts, and processing launches and activities stop. In
/// the state `critical`, no request starts and all launches stop.
///
/// An unknown state counts as `fair`, so that requests neither wait forever nor use all slots.
struct Thermal: Policy {
    let name = "Thermal"
    let endReason: Reason? = .thermal

    func weight(_ weights: PolicyWeights) -> Double { weights.thermal }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let since = situation.since.thermal
        let thermal = situation.conditions.thermal
        func rationale(_ required: String, _ remedy: String? = nil) -> Rationale {
            Rationale(
                quantity: "thermal", required: required,
                observed: thermal.value?.rawValue ?? "unknown (its source does not answer)", remedy: remedy)
        }
        let helps = "Let the machine cool down"
        if thermal.value == .critical {
            return subject.stop(until: .lane, since: since, rationale("below critical", helps))
        }
        guard subject.isDiscretionary else { return subject.proceed() }
        switch thermal {
        case .known(.serious), .known(.critical):
            return [.processing, .activity].contains(subject.request.kind)
                ? subject.stop(until: .lane, since: since, rationale("below serious", helps))
                : subject.wait(for: .lane, since: since, rationale("below serious", helps))
        case .known(.fair), .unknown:
            let (slots, settings) = (situation.deferrableSlots, situation.settings)
            let running = situation.occupancy.discretionary
            if running >= slots {
                return subject.wait(
                    for: .slot, since: since,
                    Rationale(
                        quantity: "deferrableLaunches",
                        required: "less than \(slots) while the thermal state is not nominal",
                        observed:
                            "\(running), and the thermal state is \(thermal.value?.rawValue ?? "unknown")",
                        remedy: slots > 0
                            ? "Let the machine cool down, or wait until a launch ends"
                            : "Let the machine cool down"))
            }
            return subject.proceed(
                score: settings.scores.thermalFair, since: since, rationale("nominal, by preference"))
        case .known(.nominal): return subject.proceed(score: 1, since: since, rationale("nominal"))
        }
    }
}
