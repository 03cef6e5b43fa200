/// A change that a user, a client or an operator makes to one bundle.
public enum BundleChange: Equatable, Sendable {
    /// The user used it; lifts a dismissal.
    case used
    /// Its client came to the foreground, which is a use too, or left it.
    case foreground(Bool)
    /// The user dismissed it: no refresh and no push until it is used again.
    case dismissed
    /// Its switch for background refresh.
    case refresh(RefreshPermission)
    /// Its limits per day; `nil` is the standard.
    case budget(launches: Int?, cpu: Duration?)
}

/// One bundle, for listings: what is remembered of it, and what it may spend.
public struct BundleFacts: Equatable, Sendable {
    /// The bundle.
    public var bundle: BundleIdentifier
    /// Whether a manifest in force has it.
    public var isInstalled: Bool
    /// What is remembered.
    public var state: BundleState
    /// Refresh launches begun today, of ``launchLimit``.
    public var launchesToday: Int
    /// Refresh launches a day.
    public var launchLimit: Int
    /// CPU time spent today, of ``cpuLimit``.
    public var cpuToday: Duration
    /// CPU time a day.
    public var cpuLimit: Duration

    public init(
        bundle: BundleIdentifier, isInstalled: Bool, state: BundleState, launchesToday: Int, launchLimit: Int,
        cpuToday: Duration, cpuLimit: Duration
    ) {
        self.bundle = bundle
        self.isInstalled = isInstalled
        self.state = state
        self.launchesToday = launchesToday
        self.launchLimit = launchLimit
        self.cpuToday = cpuToday
        self.cpuLimit = cpuLimit
    }
}

/// Why a task runs, waits, or would wait.
public struct TaskExplanation: Equatable, Sendable {
    /// The task.
    public var identifier: TaskIdentifier
    /// Its kind.
    public var kind: TaskKind
    /// The request that waits; `nil` if the answer is about a request that was not submitted.
    public var pending: RequestID?
    /// The launch that runs.
    public var running: LaunchID?
    /// Every policy's answer about starting it now.
    public var explanation: Explanation
    /// When it would likely start; `nil` where it may start now.
    public var forecast: Forecast?

    public init(
        identifier: TaskIdentifier, kind: TaskKind, pending: RequestID?, running: LaunchID?,
        explanation: Explanation, forecast: Forecast? = nil
    ) {
        self.identifier = identifier
        self.kind = kind
        self.pending = pending
        self.running = running
        self.explanation = explanation
        self.forecast = forecast
    }
}

/// What was recorded of a launch's decisions.
public struct LaunchExplanation: Equatable, Sendable {
    /// The launch.
    public var record: LaunchRecord
    /// Why it started when it did; `nil` for launches of hosts that did not record it.
    public var start: Explanation?
    /// Why it was asked to stop; `nil` if it was not, or if someone requested it by name.
    public var stop: Explanation?

    public init(record: LaunchRecord, start: Explanation?, stop: Explanation?) {
        self.record = record
        self.start = start
        self.stop = stop
    }
}
