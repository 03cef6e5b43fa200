public import TaskModel

/// Something that the scheduler wants done; each action is given once.
public enum SchedulerAction: Equatable, Sendable, Codable {
    /// Launch this pending request, at this priority. Answer with ``SchedulerEvent/launchStarted(_:_:)`` or
    /// ``SchedulerEvent/launchNotStarted(_:retry:)``; until then the request holds its slot.
    case launch(RequestID, isSimulated: Bool, priority: LaunchPriority, because: Explanation)
    /// Tell the launch to stop; said once per launch. The record says what decided; `nil` where it was asked
    /// for.
    case expire(LaunchID, Reason, because: Explanation? = nil)
    /// Lift the launch's CPU limit (true) or put it into force again (false, with a fresh window).
    case setCPULimitRelaxed(LaunchID, Bool)
    /// Ask what CPU time the launch has used: its lease is due, and use renews it. Answer with
    /// ``SchedulerEvent/cpuMeasured(_:_:)``; until then its lease stands.
    case measureCPU(LaunchID)
    /// Give the launch this priority from now on.
    case setPriority(LaunchID, LaunchPriority)
    /// Tell the launch, an activity, that the host would rather have it stop (true) or go on after all
    /// (false).
    case setShouldDefer(LaunchID, Bool)
    /// Ask the user whether this launch, which has stalled or is slow, should keep going; no answer means
    /// yes.
    case ask(LaunchID, because: Rationale)
    /// Store a request of origin `schedule` with these dates. It replaces a pending one of the same origin;
    /// where a request of another origin is pending by now, leave that and do nothing. Answer with
    /// ``SchedulerEvent/submitted(_:)`` or ``SchedulerEvent/scheduleNotStored(_:)``.
    case submitScheduled(TaskIdentifier, BundleIdentifier, earliest: WallTime, deadline: WallTime)
    /// Find the first date after `after` of a calendar schedule, in its zone or, for `nil`, the machine's.
    /// Answer with ``SchedulerEvent/scheduleDated(_:after:next:)``.
    case findDate(TaskIdentifier, expression: String, timeZone: String?, after: WallTime)
    /// Cancel a pending request in the store. The scheduler has forgotten it already.
    case cancelRequest(RequestID, Reason)
    /// Store this in place of what was stored of the bundle before; the newest wins, at most one per event
    /// and bundle.
    case saveBundleState(BundleIdentifier, BundleState)
    /// Send ``SchedulerEvent/timePassed`` at these instants, in place of the ones asked for before.
    case wake(Wake)
}

/// When the scheduler wants to look again; both `nil` while only events can change its mind.
public struct Wake: Equatable, Hashable, Sendable, Codable {
    /// On CLOCK_BOOTTIME: a lease or a stall.
    public var boot: Duration?
    /// On CLOCK_REALTIME: an earliest begin date.
    ///
    /// Fires early or late when that clock is set, which is right.
    public var wall: WallTime?
    /// On CLOCK_REALTIME, and the machine is to be awake then: the first date of a schedule with `wake:
    /// true`.
    public var machine: WallTime?

    /// Makes a pair of instants.
    public init(boot: Duration? = nil, wall: WallTime? = nil, machine: WallTime? = nil) {
        self.boot = boot
        self.wall = wall
        self.machine = machine
    }
}
