import Scheduling
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
}
