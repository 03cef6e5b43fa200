import TaskModel

/// Holds requests whose manifest is gone or no longer permits them; they wait rather than vanish.
struct Permission: Policy {
    let name = "Permission"
    let bindsSimulatedLaunches = true

    func awaits(_ request: TaskRequest) -> Fact { .handlers }

    func verdict(for request: TaskRequest, in situation: Situation, at now: Moment) -> Verdict {
        let refusal = situation.permits.refusal(
            of: request.identifier, kind: request.kind, bundle: request.bundle)
        guard let refusal else { return proceed() }
        return veto(
            Rationale(
                quantity: "manifest", required: refusal.required, observed: refusal.observed,
                remedy: refusal.remedy))
    }
}
