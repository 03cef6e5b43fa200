import TaskModel

/// One rule about starting a request.
///
/// A new policy is one file in `Policies/` and one line in ``Scheduler/policies``. It is pure: the same request,
/// situation and moment give the same verdict, which is what `handle` obeys and `explain` prints.
protocol Policy: Sendable {
    /// As `explain` prints it.
    var name: String { get }
    /// How much its score counts among the others'.
    var weight: Double { get }
    /// Whether a simulated launch heeds it: permissions yes, policies no.
    var bindsSimulatedLaunches: Bool { get }
    /// What has to change before a veto can fall, besides the time that its rationale names.
    func awaits(_ request: TaskRequest) -> Fact
    /// Its answer about starting the request now.
    func verdict(for request: TaskRequest, in situation: Situation, at now: Moment) -> Verdict
}

extension Policy {
    var weight: Double { 1 }
    var bindsSimulatedLaunches: Bool { false }

    /// It has nothing against it.
    func proceed(_ rationale: Rationale...) -> Verdict {
        Verdict(policy: name, decision: .proceed, score: 1, weight: weight, rationale: rationale)
    }

    /// Not now.
    func veto(_ rationale: Rationale...) -> Verdict {
        Verdict(policy: name, decision: .mustNotProceed, score: 0, weight: weight, rationale: rationale)
    }
}

/// What a vetoed request waits for.
///
/// A request is looked at again only when its fact changes.
enum Fact: Hashable, Sendable {
    /// Which manifests are in force.
    case handlers
    /// The end of the launch of this identifier.
    case launch(TaskIdentifier)
    /// Whether external power is connected.
    case externalPower
    /// The network.
    case network
    /// Whether a GPU is offered.
    case gpu
    /// The wall clock, up to the time that the rationale names.
    case time
    /// A free slot.
    case slot

    /// The facts that differ between two snapshots.
    static func changed(from old: Conditions, to new: Conditions) -> [Fact] {
        var facts: [Fact] = []
        if old.isExternalPowerConnected != new.isExternalPowerConnected { facts.append(.externalPower) }
        if old.network != new.network { facts.append(.network) }
        if old.gpu != new.gpu { facts.append(.gpu) }
        return facts
    }

    /// The order in which a request with several vetoes waits: for the machine first, so that no clock wakes the host for a
    /// request that could not start anyway; for a slot last.
    var rank: Int {
        switch self {
        case .handlers, .launch, .externalPower, .network, .gpu: 0
        case .time: 1
        case .slot: 2
        }
    }
}
