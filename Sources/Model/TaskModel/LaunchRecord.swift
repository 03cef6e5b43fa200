/// Names a launch in the store: `L42`.
public struct LaunchID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The store's number, from 1.
    public let rawValue: Int64
    /// Wraps the store's number.
    public init(rawValue: Int64) { self.rawValue = rawValue }
    /// Parses `L42`; `nil` for anything else.
    public init?(_ text: String) {
        guard text.hasPrefix("L"), let number = Int64(text.dropFirst()), number > 0 else { return nil }
        rawValue = number
    }
    /// `L42`.
    public var description: String { "L\(rawValue)" }
    /// Orders by age.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Where a launch is in its life.
public enum LaunchState: String, Sendable, Codable, CaseIterable {
    /// Recorded and asked of the launcher; its handler does not run yet.
    case starting
    /// Its handler runs under the lease.
    case running
    /// It was asked to stop; the grace period runs.
    case expiring
    /// It is over.
    case ended
}

/// Which part of a launch a crash hit.
public enum LaunchPhase: String, Sendable, Codable, CaseIterable {
    /// Loading the library, its constructors included.
    case load
    /// From the handler's call on.
    case run
}

/// How far a task has come, in its own units.
public struct TaskProgress: Equatable, Hashable, Sendable, Codable {
    /// Units done; may fall.
    public var completed: Int64
    /// All units; 0 is indeterminate.
    public var total: Int64
    /// What it is doing; `nil` if it never said.
    public var message: String?

    public init(completed: Int64, total: Int64, message: String? = nil) {
        self.completed = completed
        self.total = total
        self.message = message
    }

    /// 0 through 1; `nil` when indeterminate.
    public var fraction: Double? {
        total > 0 ? min(1, max(0, Double(completed) / Double(total))) : nil
    }
}

/// How a launch ended, with everything a report needs.
public struct LaunchEnd: Equatable, Sendable {
    /// The word.
    public var outcome: Outcome
    /// Why; `nil` for `succeeded` without an expiration.
    public var reason: Reason?
    /// A sentence for people with the deciding numbers; `nil` if there is nothing to add.
    public var message: String?
    /// Lines for people with what was measured: the samples of a `cpuLimit` and where the time went; `nil`
    /// for none.
    public var report: String?
    /// What the handler completed with; `nil` if it never did.
    ///
    /// Decides whether an expired request is put back.
    public var completion: Bool?
    /// The signal of a crash or kill.
    public var signal: Int32?
    /// The exit status, where it exited.
    public var exitStatus: Int32?
    /// Which part a crash hit.
    public var phase: LaunchPhase?
    /// Apple's code of the end (`0x8badf00d`), where there is one.
    public var code: UInt32?
    /// Processes that outlived the task and were killed.
    public var leftovers = 0
    /// Whether it was asked to stop while it had neither an expiration handler nor asked for the expiration
    /// descriptor.
    ///
    /// Such a launch counts as completed without success, as on iOS: its request is not put back.
    public var neverListened = false

    public init(outcome: Outcome, reason: Reason?, message: String? = nil) {
        self.outcome = outcome
        self.reason = reason
        self.message = message
    }

    /// The end of a launch that stopped when told to: a cancellation has an outcome of its own.
    public static func stopped(_ reason: Reason, message: String? = nil) -> LaunchEnd {
        let isCancelled = reason == .cancelledByUser || reason == .manifestRemoved
        return LaunchEnd(outcome: isCancelled ? .cancelled : .expired, reason: reason, message: message)
    }
}

/// A launch that is over, with what it used: what the launcher reports, the store keeps and listings show.
public struct EndedLaunch: Equatable, Sendable {
    /// Which launch.
    public var id: LaunchID
    /// How it ended.
    public var end: LaunchEnd
    /// When.
    public var at: Moment
    /// CPU time of the launch and all its descendants.
    public var cpuTime: Duration
    /// Whether ``cpuTime`` may be too low, for want of a cgroup.
    public var cpuIsLowerBound: Bool
    /// Peak resident memory; `nil` if unknown.
    public var peakMemory: ByteCount?

    /// Makes an ended launch.
    public init(
        id: LaunchID, end: LaunchEnd, at: Moment, cpuTime: Duration = .zero, cpuIsLowerBound: Bool = false,
        peakMemory: ByteCount? = nil
    ) {
        self.id = id
        self.end = end
        self.at = at
        self.cpuTime = cpuTime
        self.cpuIsLowerBound = cpuIsLowerBound
        self.peakMemory = peakMemory
    }
}

/// One launch, as the store keeps it and every listing shows it.
public struct LaunchRecord: Equatable, Sendable {
    /// Its number.
    public let id: LaunchID
    /// The request it runs.
    public var request: RequestID
    /// The task.
    public var identifier: TaskIdentifier
    /// The bundle.
    public var bundle: BundleIdentifier
    /// The kind.
    public var kind: TaskKind
    /// 1 for the first launch of the request.
    public var attempt: Int
    /// The fencing token: grows with every launch on this host.
    public var token: Int64
    /// Where it is.
    public var state: LaunchState
    /// When it was recorded, before anything was started.
    public var startedAt: WallTime
    /// When the handler was called; `nil` before.
    public var readyAt: WallTime?
    /// When it ended; `nil` before.
    public var endedAt: WallTime?
    /// How it ended; `nil` before.
    public var end: LaunchEnd?
    /// The reason of the expiration that was sent; `nil` if none.
    public var expiration: Reason?
    /// The newest progress.
    public var progress: TaskProgress?
    /// Continued tasks: what the user sees, as submitted or as the handler said last; else empty.
    public var title: String
    /// Its second line.
    public var subtitle: String
    /// CPU time of the launch and all its descendants.
    public var cpuTime: Duration
    /// Whether ``cpuTime`` may be too low, for want of a cgroup.
    public var cpuIsLowerBound: Bool
    /// Peak resident memory; `nil` if unknown.
    public var peakMemory: ByteCount?
    /// What isolated it: `cgroup`, `pidNamespace` or `noFork`, then more words as layers are added.
    public var isolation: String
    /// The hash of the library that ran; `nil` for a `call:`.
    public var libraryHash: String?
    /// Whether a simulated launch skipped the policies.
    public var isSimulated: Bool
    /// Why it was started: the verdicts at that time, as JSON text; `nil` if none were kept.
    public var explanation: String?
    /// Why it was asked to stop, as JSON text; `nil` if it was not, or if someone requested it.
    public var stopExplanation: String?

    /// Makes the record of a launch that is about to start.
    public init(
        id: LaunchID, request: TaskRequest, token: Int64, startedAt: WallTime, isolation: String,
        libraryHash: String?, isSimulated: Bool
    ) {
        self.id = id
        self.request = request.id
        identifier = request.identifier
        bundle = request.bundle
        kind = request.kind
        title = request.submission.title
        subtitle = request.submission.subtitle
        attempt = request.attempt
        self.token = token
        state = .starting
        self.startedAt = startedAt
        cpuTime = .zero
        cpuIsLowerBound = false
        self.isolation = isolation
        self.libraryHash = libraryHash
        self.isSimulated = isSimulated
    }
}
