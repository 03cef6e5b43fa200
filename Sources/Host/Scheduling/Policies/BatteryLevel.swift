import TaskModel

/// Holds deferrable work while the battery is low and there is no external power.
///
/// Below ``SchedulerSettings/batteryStartPercent`` (20 %), no deferrable request starts. Below
/// ``SchedulerSettings/batteryEndPercent`` (10 %), deferrable launches expire.
///
/// An unknown charge holds no request; its score is that of a low battery.
struct BatteryLevel: Policy {
    let name = "BatteryLevel"
    let endReason: Reason? = .lowBattery

    func weight(_ weights: PolicyWeights) -> Double { weights.batteryLevel }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
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

extension PowerCondition {
    /// The charge in tenths, 0 through 10, rounded down; an unknown charge counts as 0.
    ///
    /// Scores use these steps, so that the scheduler need not judge all requests again at each percent.
    var chargeBand: Int { (batteryPercent ?? 0) / 10 }
}
