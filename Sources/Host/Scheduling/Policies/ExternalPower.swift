import TaskModel

/// The request's constraint on external power; unknown power does not satisfy it.
struct ExternalPower: Policy {
    let name = "ExternalPower"

    func awaits(_ request: TaskRequest) -> Fact { .externalPower }

    func verdict(for request: TaskRequest, in situation: Situation, at now: Moment) -> Verdict {
        guard situation.needs(of: request).externalPower else { return proceed() }
        let power = situation.conditions.power
        let rationale = Rationale(
            quantity: "externalPower", required: "connected", observed: Self.text(of: power),
            remedy: power.value?.externalPower == true ? nil : "Plug in external power")
        return situation.conditions.isExternalPowerConnected ? proceed(rationale) : veto(rationale)
    }

    private static func text(of power: Reading<PowerCondition>) -> String {
        guard let power = power.value else { return "unknown: its source does not answer" }
        if power.externalPower { return "connected" }
        return power.batteryPercent.map { "on battery, \($0) %" } ?? "on battery"
    }
}
