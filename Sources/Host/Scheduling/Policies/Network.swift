import TaskModel

/// The request's constraint on the network; where the user asked for low data, discretionary work that needs it waits.
struct Network: Policy {
    let name = "Network"

    func awaits(_ request: TaskRequest) -> Fact { .network }

    func verdict(for request: TaskRequest, in situation: Situation, at now: Moment) -> Verdict {
        guard situation.needs(of: request).network else { return proceed() }
        let network = situation.conditions.network
        let observed = network.value?.rawValue ?? "unknown: its source does not answer"
        guard situation.conditions.isNetworkThere else {
            return veto(
                Rationale(
                    quantity: "network", required: "connected", observed: observed,
                    remedy: "Connect to a network"))
        }
        if network.value == .constrained && request.kind.isDiscretionary {
            return veto(
                Rationale(
                    quantity: "network", required: "connected, without the low-data switch",
                    observed: observed,
                    remedy: "Switch low-data mode off, or connect to another network"))
        }
        return proceed(Rationale(quantity: "network", required: "connected", observed: observed))
    }
}
