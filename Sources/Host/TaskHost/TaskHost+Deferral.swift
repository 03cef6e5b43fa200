import Launching
import Scheduling
import SystemConditions
import TaskModel

/// Activities hear of a veto before they are told to stop.
extension TaskHost {
    func askToDefer(_ id: LaunchID, _ isDeferred: Bool) {
        guard let launch = running[id] else { return }
        running[id]?.shouldDefer = isDeferred
        log.append(
            .info,
            isDeferred ? "asked to stop by itself (shouldDefer)" : "may go on (shouldDefer is taken back)",
            launch: id, identifier: launch.record.identifier)
        tellConditions(to: id)
    }

    /// Tells a launch what the machine is like for it.
    func tellConditions(to id: LaunchID) {
        guard let launch = running[id] else { return }
        let facts = scheduler.facts(of: launch.record.bundle, at: moments.now())
        launcher.setConditions(
            id,
            HandlerConditions(
                sensors.snapshot(), refresh: facts.state.refresh, shouldDefer: launch.shouldDefer))
    }
}
