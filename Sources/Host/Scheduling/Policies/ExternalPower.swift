import TaskModel

/// Enforces the constraint on external power, and gives deferrable requests a higher score while it is
/// connected.
///
/// If it is unknown whether external power is connected, it counts as not connected.
struct ExternalPower: Policy {
    let name = "ExternalPower"
    let reach = Reach.machine
    let endReason: Reason? = .externalPowerLost

    func weight(_ weights: PolicyWeights) -> Double { weights.externalPower }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let isConnected = situation.conditions.isExternalPowerConnected
        let since = situation.since.power
        if subject.needs.externalPower && !isConnected {
            return subject.stop(
                until: .externalPower, since: since,
                Rationale(
                    quantity: "externalPower", required: "connected",
                    observed: Self.text(of: situation.conditions.power),
                    remedy: Self.remedy(situation.conditions.power)))
        }
        guard subject.isDiscretionary || subject.needs.externalPower else { return subject.proceed() }
        return subject.proceed(
            score: isConnected ? 1 : situation.settings.scores.externalPowerMissing, since: since,
            Rationale(
                quantity: "externalPower",
                required: subject.needs.externalPower ? "connected" : "connected, by preference",
                observed: Self.text(of: situation.conditions.power),
                remedy: isConnected ? nil : Self.remedy(situation.conditions.power)))
    }

    /// How to get external power; while its source does not answer, a plug does not help.
    private static func remedy(_ power: Reading<PowerCondition>) -> String {
        power == .unknown
            ? "Restart the source of 'power', which bgtask conditions names, for example: "
                + "systemctl restart upower"
            : "Plug in the charger"
    }

    private static func text(of power: Reading<PowerCondition>) -> String {
        guard let power = power.value else { return "unknown (its source does not answer)" }
        if power.externalPower { return "connected" }
        return power.batteryPercent.map { "not connected (battery at \($0) %)" } ?? "not connected"
    }
}
