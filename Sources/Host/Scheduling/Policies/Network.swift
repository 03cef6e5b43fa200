import TaskModel

/// Enforces the constraint on the network, and gives a lower score to a metered network.
///
/// A request that requires an unmetered network waits on a metered one and in low-data mode, and its launch
/// stops there with ``Reason/networkMetered``. In low-data mode, other deferrable requests that need the
/// network do not start either, but launches under way continue.
///
/// If the network is unknown, it counts as not connected.
struct Network: Policy {
    let name = "Network"
    let reach = Reach.machine
    let endReason: Reason? = .networkLost

    func weight(_ weights: PolicyWeights) -> Double { weights.network }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard let required = subject.needs.network else { return subject.proceed() }
        let since = situation.since.network
        let network = situation.conditions.network
        var observed: String { network.value?.text ?? "unknown (its source does not answer)" }
        guard situation.conditions.isNetworkThere else {
            return subject.stop(
                until: .network, since: since,
                Rationale(
                    quantity: "network", required: required.text, observed: observed,
                    remedy: network == .unknown
                        ? Self.repair : "Connect to \(required == .any ? "a" : "an unmetered") network"))
        }
        if required == .unmetered && network.value != .unmetered {
            return subject.stop(
                until: .network, since: since, because: .networkMetered,
                Rationale(
                    quantity: "network", required: required.text, observed: observed,
                    remedy: situation.remedy(
                        network.value == .constrained
                            ? "Turn low-data mode off, or connect to an unmetered network"
                            : "Connect to an unmetered network", orLaunch: subject)))
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
                quantity: "network", required: isFree ? required.text : "unmetered, by preference",
                observed: observed,
                remedy: isFree ? nil : "Connect to an unmetered network"))
    }

    /// The remedy while the source of the network does not answer.
    static let repair =
        "Restart the source of 'network', which bgtask conditions names, for example: "
        + "systemctl restart NetworkManager"
}

extension NetworkRequirement {
    /// The requirement for people: `connected` or `connected and unmetered`.
    var text: String {
        switch self {
        case .any: "connected"
        case .unmetered: "connected and unmetered"
        }
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
