public import TaskModel

/// Something that happened, as the scheduler is told of it.
///
/// Before ``started`` the scheduler only remembers: whoever starts it sends the manifests, the conditions, the last
/// launches and every pending request, in any order, and then ``started``. Events about requests or launches that it
/// does not know are ignored.
public enum SchedulerEvent: Equatable, Sendable {
    /// Everything that was stored has been told; decisions begin.
    case started
    /// These manifests are in force now, all of them. No two of them share a bundle.
    case handlersChanged([Manifest])
    /// The machine's conditions are these now.
    case conditionsChanged(Conditions)
    /// The newest launch of an identifier that earlier runs of the host know of, for the dates of its schedule.
    case lastLaunched(TaskIdentifier, WallTime)

    /// A request was stored. A pending request of the same identifier is thereby replaced: send no ``withdrawn`` for it.
    case submitted(TaskRequest)
    /// A pending request was cancelled.
    case withdrawn(RequestID)
    /// A ``SchedulerAction/submitScheduled(_:_:earliest:deadline:)`` could not be stored; it is asked for again after a minute.
    case scheduleNotStored(TaskIdentifier)
    /// Someone wants a pending request launched without the policies' consent.
    case simulate(RequestID)

    /// A ``SchedulerAction/launch(_:isSimulated:because:)`` was recorded under this number.
    case launchStarted(LaunchID, RequestID)
    /// A ``SchedulerAction/launch(_:isSimulated:because:)`` could not be recorded; the request is pending again, not before this.
    case launchNotStarted(RequestID, retry: WallTime)
    /// The launch's handler was called: its lease begins.
    case launchReady(LaunchID)
    /// The launch reported progress; a report that changes nothing counts as none.
    case progressed(LaunchID, TaskProgress)
    /// The launch sent a checkpoint.
    case launchActive(LaunchID)
    /// The CPU time that the launch and all that it started have used, in answer to
    /// ``SchedulerAction/measureCPU(_:)``.
    case cpuMeasured(LaunchID, Duration)
    /// A debugger holds the launch, or lets go: lease and stall stand meanwhile.
    case tracingChanged(LaunchID, isTraced: Bool)
    /// Someone wants the launch to stop: `bgtask expire`, `bgtask cancel`.
    case expireRequested(LaunchID, Reason)
    /// The launch is expiring for a reason that did not come from the scheduler: the CPU monitor.
    case launchExpiring(LaunchID)
    /// The launch is over and nothing of it is left; `putBack` is its request, pending again.
    case launchEnded(LaunchID, putBack: TaskRequest?)

    /// An instant of ``SchedulerAction/wake(_:)`` came, or the wall clock was set.
    case timePassed
    /// The host stops: nothing starts, and everything that runs expires.
    case shutdown
}
