/// A change that a user, a client or an operator makes to one bundle.
public enum BundleChange: Equatable, Sendable {
    /// The user used the bundle.
    ///
    /// This ends a dismissal.
    case used
    /// A client of the bundle came to the foreground (`true`), which also counts as a use, or left it
    /// (`false`).
    case foreground(Bool)
    /// The user dismissed the bundle: it gets no refresh and no push until the user uses it again, and its
    /// continued tasks that wait are cancelled.
    case dismissed
    /// The bundle's switch for background refresh.
    case refresh(RefreshPermission)
    /// The bundle's limits per day, and the share of them that is available at midnight; `nil` selects the
    /// host's default.
    case budget(launches: Int?, cpu: Duration?, burst: Double? = nil)
    /// Nothing of the bundle starts, and its launches stop, until this time or, with `nil`, until
    /// ``resumed``.
    case paused(until: WallTime?)
    /// The same, but the bundle's launches end by themselves (`bgtask drain`).
    case drained(until: WallTime?)
    /// The bundle's pause ends.
    case resumed
}

/// One bundle in a listing: its stored state, and how much of its daily budget it has used.
public struct BundleFacts: Equatable, Sendable {
    /// The bundle's identifier.
    public var bundle: BundleIdentifier
    /// Whether a valid manifest declares the bundle.
    public var isInstalled: Bool
    /// What the scheduler remembers of the bundle.
    public var state: BundleState
    /// The number of refresh launches that began today; the limit is ``launchLimit``.
    public var launchesToday: Int
    /// The largest number of refresh launches per day.
    public var launchLimit: Int
    /// The CPU time that the bundle used today; the limit is ``cpuLimit``.
    public var cpuToday: Duration
    /// The largest CPU time per day.
    public var cpuLimit: Duration
    /// The share of both limits that is available at midnight, from 0 to 1; the rest is added by day.
    public var burst: Double
    /// The number of refresh launches that may have begun by now.
    public var launchesByNow: Double
    /// The CPU time that the bundle may have used by now.
    public var cpuByNow: Duration
    /// The bundle's weight: a bundle of weight 2 gets free slots as if it had used half as much.
    public var weight: Double
    /// The pause in force, of the bundle or of the host; `nil` if there is none.
    public var pause: Pause?
    /// The bundle's own pauses in force: one by a user, one because of crashes, or both.
    public var ownPauses: [Pause]
    /// The bytes of the bundle's transfers today; `nil` if it has had none in the last weeks.
    public var transferredToday: TransferBytes?

    public init(
        bundle: BundleIdentifier, isInstalled: Bool, state: BundleState, launchesToday: Int, launchLimit: Int,
        cpuToday: Duration, cpuLimit: Duration, burst: Double = 0.25, launchesByNow: Double? = nil,
        cpuByNow: Duration? = nil, weight: Double = 1, pause: Pause? = nil,
        ownPauses: [Pause] = []
    ) {
        self.bundle = bundle
        self.isInstalled = isInstalled
        self.state = state
        self.launchesToday = launchesToday
        self.launchLimit = launchLimit
        self.cpuToday = cpuToday
        self.cpuLimit = cpuLimit
        self.burst = burst
        self.launchesByNow = launchesByNow ?? Double(launchLimit)
        self.cpuByNow = cpuByNow ?? cpuLimit
        self.weight = weight
        self.pause = pause
        self.ownPauses = ownPauses
    }
}

/// Why a task runs, waits, or would wait if it were submitted now.
public struct TaskExplanation: Equatable, Sendable {
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// The task's kind.
    public var kind: TaskKind
    /// The pending request; `nil` if the answer is about a request that was not submitted.
    public var pending: RequestID?
    /// The running launch; `nil` if none is running.
    public var running: LaunchID?
    /// The answer of every policy to the question whether the task may start now.
    public var explanation: Explanation
    /// When the task would probably start; `nil` if it may start now.
    public var forecast: Forecast?
    /// What the request waits for, in one sentence, and what would let it start.
    public var outlook: Outlook

    public init(
        identifier: TaskIdentifier, kind: TaskKind, pending: RequestID?, running: LaunchID?,
        explanation: Explanation, forecast: Forecast? = nil, outlook: Outlook = Outlook(headline: "")
    ) {
        self.outlook = outlook
        self.identifier = identifier
        self.kind = kind
        self.pending = pending
        self.running = running
        self.explanation = explanation
        self.forecast = forecast
    }
}

/// Why a launch started and why it was asked to stop, as the host recorded it.
public struct LaunchExplanation: Equatable, Sendable {
    /// The record of the launch that is explained.
    public var record: LaunchRecord
    /// Why the launch started when it did; `nil` if the host did not record it.
    public var start: Explanation?
    /// Why the launch was asked to stop; `nil` if it was not asked, or if a user or client requested the
    /// stop.
    public var stop: Explanation?

    public init(record: LaunchRecord, start: Explanation?, stop: Explanation?) {
        self.record = record
        self.start = start
        self.stop = stop
    }
}
