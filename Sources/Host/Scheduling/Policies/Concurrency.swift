import TaskModel

/// How many launches run at once: of all discretionary ones, of one bundle while others wait, and of continued ones.
struct Concurrency: Policy {
    let name = "Concurrency"

    func awaits(_ request: TaskRequest) -> Fact { .slot }

    func verdict(for request: TaskRequest, in situation: Situation, at now: Moment) -> Verdict {
        let occupancy = situation.occupancy
        let settings = situation.settings
        guard request.kind.isDiscretionary else {
            let rationale = Rationale(
                quantity: "continuedLaunches", required: "fewer than \(settings.continuedSlots)",
                observed: "\(occupancy.continued)")
            return occupancy.hasSlot(in: .continued, settings) ? proceed(rationale) : veto(rationale)
        }
        let rationale = Rationale(
            quantity: "discretionaryLaunches", required: "fewer than \(settings.discretionarySlots)",
            observed: "\(occupancy.discretionary)")
        guard occupancy.hasSlot(in: .discretionary, settings) else { return veto(rationale) }
        let own = occupancy.discretionaryByBundle[request.bundle] ?? 0
        let others =
            occupancy.bundlesWithoutLaunch.count
            - (occupancy.bundlesWithoutLaunch.contains(request.bundle) ? 1 : 0)
        if own >= settings.discretionarySlotsPerBundle && others > 0 {
            return veto(
                Rationale(
                    quantity: "launchesOfBundle",
                    required: "fewer than \(settings.discretionarySlotsPerBundle) while other bundles wait",
                    observed: "\(own), and \(others) other \(others == 1 ? "bundle waits" : "bundles wait")"))
        }
        return proceed(rationale)
    }
}
