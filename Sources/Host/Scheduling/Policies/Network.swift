import TaskModel

/// Enforces the constraint on the network, and gives a lower score to a metered network.
///
/// In low-data mode, deferrable requests that need the network do not start; launches under way continue.
struct Network: Policy {
    let name = "Network"
    let reach = Reach.machine
    let endReason: Reason? = .networkLost

    func weight(_ weights: PolicyWeights) -> Double { weights.network }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard subject.needs.network else { return subject.proceed() }
        let since = situation.since.network
        let network = situation.conditions.network
        var observed: String { network.value?.text ?? "unknown (its source does not answer)" }
        guard situation.conditions.isNetworkThere else {
            return subject.stop(
                until: .network, since: since,
                Rationale(
                    quantity: "network", required: "connected", observed: observed,
                    remedy: "Connect to a network"))
        }
        if network.value == .constrained && subject.isDiscretionary {
            return subject.wait(
                for: .network, since: since,
                Rationale(
                    quantity: "network", required: "connected and not in low-data mode",
                    observed: observed,
                    remedy: "Turn low-data mode off, or connect to another network"))
        }
        let isFree = network.value == .unmetered
        return subject.proceed(
            score: isFree ? 1 : situation.settings.scores.networkMetered, since: since,
            Rationale(
                quantity: "network", required: isFree ? "connected" : "unmetered, by preference",
                observed: observed,
                remedy: isFree ? nil : "Connect to an unmetered network"))
    }
}

extension NetworkCondition {
    /// The state for people: `not connected`, `in low-data mode`, `metered` or `unmetered`.
    var text: String {
        switch self {
        case .none: "not connected"
        case .constrained: "in low-data mode"
        case .metered, .unmetered: rawValue
        }
    }
}
