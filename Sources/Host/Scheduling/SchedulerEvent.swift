public import TaskModel

/// Something that happened, as the scheduler gets it.
///
/// Before ``started`` the scheduler only remembers: its host sends the settings, the manifests, the
/// conditions, what is stored of each bundle, the last launches and every pending request, in any order, and
/// then ``started``. Events about requests or launches that it does not know are ignored.
public enum SchedulerEvent: Equatable, Sendable, Codable {
    /// All stored state has been sent; decisions begin.
    case started
    /// These numbers are in force now.
    case settingsChanged(SchedulerSettings)
    /// These manifests are in force now, all of them. No two of them share a bundle.
    case handlersChanged([Manifest])
    /// The machine's conditions are these now.
    case conditionsChanged(Conditions)
    /// Local time is this much ahead of UTC now; 0 until it is known. Budgets refill and hours of use count
    /// by local time.
    case localTimeChanged(offset: Duration)
    /// The newest launch of an identifier that earlier runs of the host know of, for the dates of its
    /// schedule.
    case lastLaunched(TaskIdentifier, WallTime)

    // MARK: Bundles
    /// What an earlier run of the host stored for a ``SchedulerAction/saveBundleState(_:_:)``; before
    /// ``started``.
    case bundleRestored(BundleIdentifier, BundleState)
    /// The user used the bundle: `bgtask used`, `bgtask open`. Lifts a dismissal.
    case used(BundleIdentifier)
    /// The user dismissed the bundle.
    case dismissed(BundleIdentifier)
    /// A user or the administrator turned the bundle's switch; check
    /// ``Scheduler/checkRefreshSwitch(of:to:byAdministrator:)`` first.
    case refreshSwitched(BundleIdentifier, RefreshPermission)
    /// The operator set the bundle's limits per day; `nil` is the standard.
    case budgetChanged(BundleIdentifier, launches: Int?, cpu: Duration?)
    /// The bundle's client came to the foreground, which is a use, or left it.
    case foregroundChanged(BundleIdentifier, Bool)

    // MARK: Requests
    /// A request was stored. A pending request of the same identifier is thereby replaced: send no
    /// ``withdrawn`` for it.
    case submitted(TaskRequest)
    /// A pending request was cancelled.
    case withdrawn(RequestID)
    /// A ``SchedulerAction/submitScheduled(_:_:earliest:deadline:)`` could not be stored; it is asked for
    /// again after a minute.
    case scheduleNotStored(TaskIdentifier)
    /// The answer to ``SchedulerAction/findDate(_:expression:timeZone:after:)``: the calendar's first date
    /// after `after`; `nil` if none is left.
    case scheduleDated(TaskIdentifier, after: WallTime, next: WallTime?)
    /// An event of its schedule came that conditions do not tell: the machine was booted, a file changed.
    case scheduleTriggered(TaskIdentifier)
    /// Someone wants a pending request launched without the policies' consent.
    case simulate(RequestID)

    // MARK: Launches
    /// A ``SchedulerAction/launch(_:isSimulated:priority:because:)`` was recorded under this number.
    case launchStarted(LaunchID, RequestID)
    /// A ``SchedulerAction/launch(_:isSimulated:priority:because:)`` could not be recorded; the request is
    /// pending again, not before this.
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
    /// The user's answer to a ``SchedulerAction/ask(_:because:)``; none means yes.
    case answered(LaunchID, keepGoing: Bool)
    /// A debugger holds the launch, or releases it; lease and stall are paused while it does.
    case tracingChanged(LaunchID, isTraced: Bool)
    /// Someone wants the launch to stop: `bgtask expire`, `bgtask cancel`.
    case expireRequested(LaunchID, Reason)
    /// The launch is expiring for a reason that did not come from the scheduler: the CPU monitor.
    case launchExpiring(LaunchID)
    /// The launch is over and nothing of it is left; `putBack` is its request, pending again.
    case launchEnded(LaunchID, putBack: TaskRequest?, ending: LaunchEnding = LaunchEnding())

    /// An instant of ``SchedulerAction/wake(_:)`` came, or the wall clock was set.
    case timePassed
    /// The host stops: nothing starts, and everything that runs expires.
    case shutdown
}

/// How a launch ended, as far as budgets and conduct ask.
public struct LaunchEnding: Equatable, Hashable, Sendable, Codable {
    /// How it ended; `nil` if that is unknown, which counts for nothing.
    public var outcome: Outcome?
    /// CPU time of the launch and all its descendants.
    public var cpuTime: Duration
    /// Assertions that it left behind.
    public var leakedAssertions: Int

    /// Makes an ending.
    public init(outcome: Outcome? = nil, cpuTime: Duration = .zero, leakedAssertions: Int = 0) {
        self.outcome = outcome
        self.cpuTime = cpuTime
        self.leakedAssertions = leakedAssertions
    }
}
