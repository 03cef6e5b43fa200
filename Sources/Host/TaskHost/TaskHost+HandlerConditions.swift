import Launching
import Scheduling
import SystemConditions
import TaskModel

/// What running handlers are told of the machine.
extension TaskHost {
    /// What a handler of a bundle may know now.
    func handlerConditions(of bundle: BundleIdentifier) -> HandlerConditions {
        HandlerConditions(sensors.snapshot(), refresh: scheduler.refreshPermission(of: bundle))
    }

    /// Tells what runs, if an event may have changed what it was told; only what differs is sent.
    func tellConditions(after event: SchedulerEvent) {
        guard !running.isEmpty else { return }
        switch event {
        case .conditionsChanged, .settingsChanged, .refreshSwitched:
            for id in running.keys { tellConditions(to: id) }
        default:
            return
        }
    }

    /// Tells one launch what it does not know yet.
    func tellConditions(to id: LaunchID) {
        guard let launch = running[id], let before = launch.conditions else { return }
        var conditions = handlerConditions(of: launch.record.bundle)
        conditions.shouldDefer = launch.shouldDefer
        guard conditions != before else { return }
        running[id]?.conditions = conditions
        launcher.setConditions(id, conditions)
    }
}
