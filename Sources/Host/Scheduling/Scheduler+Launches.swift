import TaskModel

extension Scheduler {
    mutating func withLaunch(_ id: LaunchID, _ change: (inout ActiveLaunch) -> Void) {
        guard let request = requestOfLaunch[id], var launch = launches[request] else { return }
        change(&launch)
        launches[request] = launch
    }

    mutating func started(_ id: LaunchID, _ request: RequestID) {
        guard launches[request] != nil, launches[request]?.id == nil else { return }
        launches[request]?.id = id
        requestOfLaunch[id] = request
    }

    mutating func notStarted(_ id: RequestID, retry: WallTime) {
        guard let launch = launches[id], launch.id == nil else { return }
        var request = launch.request
        request.notBefore = request.notBefore.map { max($0, retry) } ?? retry
        finish(request)
        returnToPending(request)
    }

    mutating func ended(_ id: LaunchID, putBack: TaskRequest?) {
        guard let request = requestOfLaunch.removeValue(forKey: id), let launch = launches[request] else {
            return
        }
        finish(launch.request)
        if let putBack { returnToPending(putBack) }
    }

    /// A newer request of the identifier stays in place of one that comes back.
    private mutating func returnToPending(_ request: TaskRequest) {
        if let other = pending.request(of: request.identifier), other.id != request.id { return }
        pending.insert(request, &situation.occupancy)
        pending.makeCandidate(request.id, &situation.occupancy)
    }

    private mutating func finish(_ request: TaskRequest) {
        launches[request.id] = nil
        situation.occupancy.end(request)
        pending.release(.launch(request.identifier), &situation.occupancy)
        schedules.touch(request.identifier)
    }

    mutating func expire(_ id: LaunchID, _ reason: Reason, _ actions: inout [SchedulerAction]) {
        guard let request = requestOfLaunch[id], launches[request]?.isExpiring == false else { return }
        launches[request]?.isExpiring = true
        actions.append(.expire(id, reason))
    }

    /// Puts every launch's CPU limit right and ends those that something speaks against.
    mutating func settleLaunches(at now: Moment, _ actions: inout [SchedulerAction]) {
        for (id, request) in requestOfLaunch.sorted(by: { $0.key < $1.key }) {
            guard var launch = launches[request] else { continue }
            launch.observe(situation.conditions)
            let isRelaxed = launch.needs.externalPower && situation.conditions.isExternalPowerConnected
            if launch.isRelaxed != isRelaxed {
                launch.isRelaxed = isRelaxed
                actions.append(.setCPULimitRelaxed(id, isRelaxed))
            }
            let reason = launch.isExpiring ? nil : reasonToEnd(&launch, at: now)
            if launch.takeMeasurement() { actions.append(.measureCPU(id)) }
            launches[request] = launch
            if let reason { expire(id, reason, &actions) }
        }
    }

    private func reasonToEnd(_ launch: inout ActiveLaunch, at now: Moment) -> Reason? {
        if isShuttingDown { return .hostShutdown }
        let request = launch.request
        if situation.permits.refusal(of: request.identifier, kind: request.kind, bundle: request.bundle)
            != nil
        {
            return .manifestRemoved
        }
        return launch.reasonOfConditions(situation.conditions)
            ?? launch.reasonOfTime(at: now, situation.conditions, settings)
    }
}
