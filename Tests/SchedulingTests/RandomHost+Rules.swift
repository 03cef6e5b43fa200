import TaskModel

@testable import Scheduling

extension RandomHost {
    /// Checks the rules of the policies with code of its own.
    func checkPolicies(_ request: TaskRequest, _ others: [TaskRequest], _ now: Moment) {
        let name = request.identifier.rawValue
        if let date = request.submission.earliestBeginDate, request.kind != .continuedProcessing,
            date > now.wall
        {
            faults.append("\(name) began early")
        }
        if request.submission.requiresExternalPower || name.hasSuffix(".powered"),
            conditions.power.value?.externalPower != true
        {
            faults.append("\(name) began without power")
        }
        if name.hasSuffix(".networked"),
            conditions.network.value == nil || conditions.network == .known(.none)
        {
            faults.append("\(name) began without network")
        }
        if request.submission.network == .unmetered
            || name.hasSuffix(".networked") && request.submission.network == nil,
            conditions.network != .known(.unmetered)
        {
            faults.append("\(name) began on a metered network")
        }
        if request.submission.requiresGPU, conditions.gpu != .known(true) {
            faults.append("\(name) began without GPU")
        }
        if conditions.thermal == .known(.critical) { faults.append("\(name) began in critical heat") }
        checkRate(request, now)
        let peers = others.filter { $0.lane == request.lane }.count
        guard request.isDiscretionary else {
            if peers >= (request.kind == .continuedProcessing ? 3 : 2) {
                faults.append("\(name) found no slot")
            }
            return
        }
        if peers >= (conditions.thermal == .known(.nominal) ? 2 : 1) {
            faults.append("\(name) found no slot")
        }
        if conditions.thermal == .known(.serious) { faults.append("\(name) began in heat") }
        if conditions.lowPowerMode == .known(true) { faults.append("\(name) began in low-power mode") }
        if let pressure = conditions.pressure.value, pressure != .none {
            let hasLasted = pressureSince.map { now.wall >= $0 + settings.pressureLimit } ?? false
            if pressure.memory || !hasLasted { faults.append("\(name) began under pressure") }
            if peers > 0 { faults.append("\(name) began beside another launch under pressure") }
        }
        if let power = conditions.power.value, !power.externalPower, (power.batteryPercent ?? 100) < 20 {
            faults.append("\(name) began on a low battery")
        }
        if request.kind == .processing, conditions.user != .known(.idle) {
            faults.append("\(name) began beside a user")
        }
        checkBundle(request, now)
    }

    /// Checks rates: launches of an identifier, or of a kind in a bundle, begin no more often than their rate
    /// permits.
    ///
    /// Requests that were put back have a back-off instead of a rate.
    private func checkRate(_ request: TaskRequest, _ now: Moment) {
        guard request.attempt == 1, let key = Self.rateKeys(request).first else { return }
        if let last = begins[key]?.last, now.wall - last < settings.launchSpacing {
            faults.append("\(key) began \(now.wall - last) after its last launch")
        }
        for key in Self.rateKeys(request).dropFirst() {
            let count = begins[key, default: []].count { now.wall - $0 < .seconds(3600) }
            if count >= settings.launchesPerHour {
                faults.append("\(key) began \(count + 1) times within an hour")
            }
        }
    }

    /// Checks the rules about bundles, with the state from before the launch.
    private func checkBundle(_ request: TaskRequest, _ now: Moment) {
        let name = request.identifier.rawValue
        let state = scheduler.bundleState(request.bundle)
        if [.appRefresh, .processing, .push].contains(request.kind), state.refresh != .available {
            faults.append("\(name) began though its switch is off")
        }
        if [.appRefresh, .push].contains(request.kind), state.dismissedAt != nil {
            faults.append("\(name) began though it is dismissed")
        }
        let limit = state.budget.launchLimit ?? 48
        if request.kind == .appRefresh, state.budget.launches > limit {
            faults.append("\(name) is over budget")
        }
    }
}
