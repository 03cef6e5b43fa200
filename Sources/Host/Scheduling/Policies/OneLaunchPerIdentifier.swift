import TaskModel

/// Never two launches of one identifier at once, not even a simulated one.
struct OneLaunchPerIdentifier: Policy {
    let name = "OneLaunchPerIdentifier"
    let bindsSimulatedLaunches = true

    func awaits(_ request: TaskRequest) -> Fact { .launch(request.identifier) }

    func verdict(for request: TaskRequest, in situation: Situation, at now: Moment) -> Verdict {
        guard let other = situation.occupancy.requests[request.identifier] else { return proceed() }
        return veto(
            Rationale(
                quantity: "launchesOfIdentifier", required: "0 under way",
                observed: "1 under way, of request \(other)",
                remedy: "Wait for it, or end it: bgtask expire \(request.identifier)"))
    }
}
