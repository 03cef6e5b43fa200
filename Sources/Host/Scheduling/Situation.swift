import TaskModel

/// Everything that policies may look at besides the request and the time.
struct Situation: Sendable {
    var settings: SchedulerSettings
    var conditions = Conditions(
        power: .unknown, lowPowerMode: .unknown, network: .unknown, thermal: .unknown, user: .unknown,
        pressure: .unknown, gpu: .unknown)
    var permits = Permits([])
    var occupancy = Occupancy()

    /// What a request needs of the machine: what it says itself, and what its manifest adds.
    func needs(of request: TaskRequest) -> Needs {
        let declaration = permits.declaration(for: request.identifier, of: request.bundle)
        let submission = request.submission
        return Needs(
            externalPower: submission.requiresExternalPower || declaration?.requiresExternalPower == true,
            network: submission.requiresNetworkConnectivity
                || declaration?.requiresNetworkConnectivity == true,
            gpu: submission.requiresGPU)
    }
}

/// What a request needs of the machine.
struct Needs: Equatable, Sendable {
    var externalPower: Bool
    var network: Bool
    var gpu: Bool
}

extension Conditions {
    /// Whether external power is known to be connected.
    var isExternalPowerConnected: Bool { power.value?.externalPower == true }

    /// Whether a network is known to be there.
    var isNetworkThere: Bool { network.value.map { $0 != .none } ?? false }
}
