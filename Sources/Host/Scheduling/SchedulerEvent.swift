public import TaskModel

/// An event that the scheduler receives.
///
/// Before ``started``, the scheduler only stores what it receives. The host sends the settings, the
/// manifests, the conditions, the states of bundles, the last launches and all pending requests, in any
/// order, and then ``started``. Events about unknown requests or launches are ignored.
public enum SchedulerEvent: Equatable, Sendable, Codable {
    /// All stored state has been sent, and decisions begin.
    case started
    /// The settings changed to these.
    indirect case settingsChanged(SchedulerSettings)
    /// The manifests changed to these, and there are no others; each must have a different bundle.
    case handlersChanged([Manifest])
    /// The machine's conditions changed to these.
    case conditionsChanged(Conditions)
    /// The history expects these conditions in the next hours; `nil` if it is too short.
    case outlookChanged(ConditionOutlook?)
    /// The machine is about to sleep (true), or it has woken or does not sleep after all (false).
    case preparingForSleep(Bool)
    /// CPU or disks have been under pressure since this time; the conditions say already that they are.
    ///
    /// Only a recording that begins under pressure contains it; see ``Scheduler/recap()``.
    case pressureBegan(WallTime)
    /// Local time minus UTC changed to this value; it is 0 until it is known.
    ///
    /// Budgets and hours of use depend on local time.
    case localTimeChanged(offset: Duration)
    /// The last change of local time against UTC, if it was in the last two days, and the next one within
    /// eight days, as at the beginning of summer time.
    ///
    /// Parts of the day (`between`, `hour`) depend on them. Without this event, the present difference counts
    /// for all times.
    case localTimeChanges([LocalTimeChange])
    /// A user paused the host, or ended its pause (`nil`).
    case pauseChanged(Pause?)
    /// When the identifier was last launched before this start of the host; its schedule needs that.
    case lastLaunched(TaskIdentifier, WallTime)

    // MARK: Bundles
    /// The state of a bundle, stored earlier for a ``SchedulerAction/saveBundleState(_:_:)``; sent before
    /// ``started``.
    case bundleRestored(BundleIdentifier, BundleState)
    /// The user used the bundle, for example with `bgtask used` or `bgtask open`; this ends a dismissal.
    case used(BundleIdentifier)
    /// The user dismissed the bundle.
    case dismissed(BundleIdentifier)
    /// A user or the administrator switched the bundle's background refresh.
    ///
    /// Call ``Scheduler/checkRefreshSwitch(of:to:byAdministrator:)`` first.
    case refreshSwitched(BundleIdentifier, RefreshPermission)
    /// The operator set the bundle's daily limits, and the share of them that is available at midnight; `nil`
    /// means the standard value.
    case budgetChanged(BundleIdentifier, launches: Int?, cpu: Duration?, burst: Double? = nil)
    /// A user paused the bundle; or, with `nil`, ended its pauses, also the one because of crashes.
    case bundlePaused(BundleIdentifier, Pause?)
    /// The bundle has another library than the one that crashed, so the pause because of crashes ends.
    case crashPauseEnded(BundleIdentifier)
    /// The bundle's client came to the foreground (true), which counts as a use, or left it (false).
    case foregroundChanged(BundleIdentifier, Bool)

    // MARK: Requests
    /// A request was stored.
    ///
    /// It replaces a pending request of the same identifier; send no ``withdrawn`` for the replaced one.
    case submitted(TaskRequest)
    /// A pending request was cancelled.
    case withdrawn(RequestID)
    /// The request of a ``SchedulerAction/submitScheduled(_:_:earliest:deadline:)`` could not be stored.
    ///
    /// The scheduler asks for it again after ``SchedulerSettings/scheduleRetryDelay``.
    case scheduleNotStored(TaskIdentifier)
    /// The answer to ``SchedulerAction/findDate(_:expression:timeZone:after:)``.
    ///
    /// It is the first date of the calendar schedule after `after`; `nil` if there are no more dates, or if
    /// the host could not find one.
    case scheduleDated(TaskIdentifier, after: WallTime, next: WallTime?)
    /// An event of a schedule occurred that conditions do not show: the machine was booted, or a file
    /// changed.
    case scheduleTriggered(TaskIdentifier)
    /// A user wants to launch a pending request now; only policies with `isPermission` apply.
    case simulate(RequestID)

    // MARK: Launches
    /// The launch of a ``SchedulerAction/launch(_:isSimulated:priority:because:)`` was stored with this
    /// number.
    case launchStarted(LaunchID, RequestID)
    /// The launch of a ``SchedulerAction/launch(_:isSimulated:priority:because:)`` could not be stored.
    ///
    /// The request is pending again, and must not start before `retry`.
    case launchNotStarted(RequestID, retry: WallTime)
    /// The handler of the launch was called, so its lease begins.
    case launchReady(LaunchID)
    /// The launch reported progress; a report without a change is ignored.
    ///
    /// The host sends this at most once in ``SchedulerSettings/ratePeriod`` for each launch, and whenever a
    /// decision depends on it. `changedAt` is when the progress changed, on CLOCK_MONOTONIC; `nil` means now.
    case progressed(LaunchID, TaskProgress, changedAt: Duration? = nil)
    /// The launch saved a checkpoint.
    case launchActive(LaunchID)
    /// The CPU time of all processes of the launch, in answer to ``SchedulerAction/measureCPU(_:)``.
    case cpuMeasured(LaunchID, Duration)
    /// The user's answer to a ``SchedulerAction/ask(_:because:)``; no answer means yes.
    case answered(LaunchID, keepGoing: Bool)
    /// A debugger stopped the launch or released it; in between, the lease and the stall are paused.
    case tracingChanged(LaunchID, isTraced: Bool)
    /// A user or the host wants the launch to stop, for example with `bgtask expire` or `bgtask cancel`.
    case expireRequested(LaunchID, Reason)
    /// The launch is being stopped for a reason outside the scheduler, such as the CPU monitor.
    case launchExpiring(LaunchID)
    /// The launch and all its processes ended; `putBack` is its request if that is pending again.
    case launchEnded(LaunchID, putBack: TaskRequest?, ending: LaunchEnding = LaunchEnding())

    /// A time of ``SchedulerAction/wake(_:)`` was reached, or the wall clock was set.
    case timePassed
    /// The host is stopping: no launch starts, and all launches expire.
    case shutdown
}

/// The facts about the end of a launch that budgets and conduct need.
public struct LaunchEnding: Equatable, Hashable, Sendable, Codable {
    /// The outcome; `nil` if it is unknown, which does not affect the conduct.
    public var outcome: Outcome?
    /// The reason of the expiration that was sent; `nil` if none was, or it is unknown.
    public var expiration: Reason?
    /// The CPU time of all processes of the launch.
    public var cpuTime: Duration
    /// How many assertions the launch had not ended.
    public var leakedAssertions: Int
    /// The hash of the library that the launch ran; `nil` if it had none, or it is unknown.
    public var libraryHash: String?

    /// Creates an ending; the default one affects neither budgets nor conduct.
    public init(
        outcome: Outcome? = nil, expiration: Reason? = nil, cpuTime: Duration = .zero,
        leakedAssertions: Int = 0, libraryHash: String? = nil
    ) {
        self.outcome = outcome
        self.expiration = expiration
        self.cpuTime = cpuTime
        self.leakedAssertions = leakedAssertions
        self.libraryHash = libraryHash
    }
}
