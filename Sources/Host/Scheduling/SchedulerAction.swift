public import TaskModel

/// An action that the scheduler wants the host to perform; each action is returned once.
public enum SchedulerAction: Equatable, Sendable, Codable {
    /// Launch this pending request with this priority.
    ///
    /// Answer with ``SchedulerEvent/launchStarted(_:_:)`` or ``SchedulerEvent/launchNotStarted(_:retry:)``;
    /// until then, the request occupies its slot.
    case launch(RequestID, isSimulated: Bool, priority: LaunchPriority, because: Explanation)
    /// Ask the launch to stop; returned once per launch.
    ///
    /// The explanation contains the verdict that decided; it is `nil` if a user or the host requested the
    /// stop.
    case expire(LaunchID, Reason, because: Explanation? = nil)
    /// Remove the launch's CPU limit (true), or set it again with a new window (false).
    case setCPULimitRelaxed(LaunchID, Bool)
    /// Measure the CPU time of a launch whose lease has ended, to decide whether it is renewed.
    ///
    /// Answer with ``SchedulerEvent/cpuMeasured(_:_:)``; until then, the launch continues.
    case measureCPU(LaunchID)
    /// Change the priority of the launch.
    case setPriority(LaunchID, LaunchPriority)
    /// Ask an activity to stop by itself (true), or withdraw that (false).
    case setShouldDefer(LaunchID, Bool)
    /// Ask the user whether this stalled or slow launch should continue; no answer means yes.
    case ask(LaunchID, because: Rationale)
    /// Store a request of origin `schedule` with these dates.
    ///
    /// It replaces a pending request of the same origin. If a request of another origin is pending by now, do
    /// nothing. Answer with ``SchedulerEvent/submitted(_:)`` or ``SchedulerEvent/scheduleNotStored(_:)``.
    case submitScheduled(TaskIdentifier, BundleIdentifier, earliest: WallTime, deadline: WallTime)
    /// Find the first date of a calendar schedule after a time, in its time zone or, with `nil`, the
    /// machine's.
    ///
    /// Answer with ``SchedulerEvent/scheduleDated(_:after:next:)``.
    case findDate(TaskIdentifier, expression: String, timeZone: String?, after: WallTime)
    /// Cancel a pending request in the store; the scheduler has removed it already.
    case cancelRequest(RequestID, Reason)
    /// Store the state of a bundle, replacing the stored one; returned at most once per event and bundle.
    case saveBundleState(BundleIdentifier, BundleState)
    /// Send ``SchedulerEvent/timePassed`` at these times, which replace all earlier ones.
    case wake(Wake)
}

/// When the scheduler wants to check again; `nil` where only another event can change a decision.
public struct Wake: Equatable, Hashable, Sendable, Codable {
    /// The next check on CLOCK_BOOTTIME, for leases and stalls.
    public var boot: Duration?
    /// The next check on CLOCK_REALTIME, for dates such as earliest begin dates.
    ///
    /// If that clock is set, the alarm follows it.
    public var wall: WallTime?
    /// The first date of a schedule with `wake: true`, on CLOCK_REALTIME; it wakes the machine from sleep.
    public var machine: WallTime?

    /// Creates a value from times; those that are omitted are `nil`.
    public init(boot: Duration? = nil, wall: WallTime? = nil, machine: WallTime? = nil) {
        self.boot = boot
        self.wall = wall
        self.machine = machine
    }
}
