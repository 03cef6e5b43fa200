import TaskModel

/// Holds deferrable work while the battery is low and there is no external power.
///
/// Below ``SchedulerSettings/batteryStartPercent`` (20 %), no deferrable request starts. Below
/// ``SchedulerSettings/batteryEndPercent`` (10 %), deferrable launches expire.
///
/// A manifest can require a higher charge (`battery: 40%`), which then also counts for tasks that are not
/// deferrable. Its launches expire as soon as the charge is lower.
///
/// An unknown charge holds no request whose manifest requires none; it has the score of a low battery.
struct BatteryLevel: Policy {
    let name = "BatteryLevel"
    let reach = Reach.machine
    let endReason: Reason? = .lowBattery

    func weight(_ weights: PolicyWeights) -> Double { weights.batteryLevel }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        if let required = subject.needs.constraints?.battery,
            let veto = veto(of: required, for: subject, in: situation)
        {
            return veto
        }
        guard subject.isDiscretionary else { return subject.proceed() }
        let settings = situation.settings
        let since = situation.since.power
        guard let power = situation.conditions.power.value else {
            return subject.proceed(
                score: settings.scores.batteryUnknown, since: since,
                Rationale(
                    quantity: "batteryLevel",
                    required: "\(settings.batteryStartPercent) % or more without external power",
                    observed: "unknown (its source does not answer)"))
        }
        if power.externalPower { return subject.proceed() }
        guard let percent = power.batteryPercent else {
            return subject.proceed(
                score: settings.scores.batteryUnknown, since: since,
                Rationale(
                    quantity: "batteryLevel",
                    required: "\(settings.batteryStartPercent) % or more without external power",
                    observed: "unknown (the battery does not report it)"))
        }
        func rationale(_ limit: Int) -> Rationale {
            Rationale(
                quantity: "batteryLevel", required: "\(limit) % or more without external power",
                observed: "\(percent) %",
                remedy: percent < settings.batteryStartPercent ? "Plug in the charger" : nil)
        }
        if percent < settings.batteryEndPercent {
            return subject.stop(
                until: .lane, since: since,
                rationale(subject.isRunning ? settings.batteryEndPercent : settings.batteryStartPercent))
        }
        if percent < settings.batteryStartPercent {
            return subject.wait(for: .lane, since: since, rationale(settings.batteryStartPercent))
        }
        return subject.proceed(
            score: Double(power.chargeBand) / 10, since: since, rationale(settings.batteryStartPercent))
    }
}

extension BatteryLevel {
    /// The veto of a manifest that requires a charge; `nil` if it is high enough, or if the host's setting
    /// requires more, which then decides.
    private func veto(of required: Int, for subject: Subject, in situation: Situation) -> Answer? {
        let power = situation.conditions.power.value
        if power?.externalPower == true { return nil }
        let percent = power?.batteryPercent
        let limit =
            subject.isRunning
            ? situation.settings.batteryEndPercent : situation.settings.batteryStartPercent
        if let percent, percent >= required || (subject.isDiscretionary && percent < limit) { return nil }
        return subject.stop(
            until: .charge, since: situation.since.power,
            Rationale(
                quantity: "batteryLevel",
                required: "\(required) % or more without external power, as its manifest requires",
                observed: percent.map { "\($0) %" } ?? "unknown (its source does not answer)",
                remedy: situation.remedy("Plug in the charger", orLaunch: subject)))
    }
}

extension PowerCondition {
    /// The charge in tenths, 0 through 10, rounded down; an unknown charge counts as 0.
    ///
    /// Scores use these steps, so that the scheduler need not judge all requests again at each percent.
    var chargeBand: Int { (batteryPercent ?? 0) / 10 }
}
