/// The number of a launch in the store, written as `L42`.
public struct LaunchID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The store's number, from 1.
    public let rawValue: Int64
    /// Wraps the store's number.
    public init(rawValue: Int64) { self.rawValue = rawValue }
    /// Parses text such as `L42`; returns `nil` for anything else.
    public init?(_ text: String) {
        guard text.hasPrefix("L"), let number = Int64(text.dropFirst()), number > 0 else { return nil }
        rawValue = number
    }
    /// The form `L42`.
    public var description: String { "L\(rawValue)" }
    /// Orders by age: a smaller number began earlier.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The state of a launch.
public enum LaunchState: String, Sendable, Codable, CaseIterable {
    /// The launch is recorded; its handler does not run yet.
    case starting
    /// The handler runs, and the lease counts.
    case running
    /// The host asked the launch to stop; the grace period counts.
    case expiring
    /// The launch is over.
    case ended
}

/// The part of a launch in which a crash happened.
public enum LaunchPhase: String, Sendable, Codable, CaseIterable {
    /// Loading the library, its constructors included.
    case load
    /// From the call of the handler on.
    case run
}

/// How far a task is, in units that it chooses.
public struct TaskProgress: Equatable, Hashable, Sendable, Codable {
    /// Completed units; can become smaller.
    public var completed: Int64
    /// Total units; 0 means that the progress is indeterminate.
    public var total: Int64
    /// What the task is doing; `nil` if it did not say.
    public var message: String?

    public init(completed: Int64, total: Int64, message: String? = nil) {
        self.completed = completed
        self.total = total
        self.message = message
    }

    /// The completed fraction, 0 through 1; `nil` if the progress is indeterminate.
    public var fraction: Double? {
        total > 0 ? min(1, max(0, Double(completed) / Double(total))) : nil
    }
}

/// How a launch ended, with everything a report needs.
public struct LaunchEnd: Equatable, Sendable {
    /// Whether the launch succeeded and, if not, what ended it.
    public var outcome: Outcome
    /// The reason; `nil` for `succeeded` without an expiration.
    public var reason: Reason?
    /// What the handler said when it completed, or a sentence for people about what decided; `nil` if there
    /// is nothing to add.
    public var message: String?
    /// Measurements for people, such as the samples of a `cpuLimit` with the functions that used the time;
    /// `nil` if there are none.
    public var report: String?
    /// What the processes did at the fatal moment; `nil` for ends that need no such report.
    public var termination: TerminationReport?
    /// The calls that the sandbox refused, and those that a learning run observed; `nil` if there are none.
    public var calls: ObservedCalls?
    /// The value that the handler passed when it completed; `nil` if it did not complete.
    ///
    /// The host puts an expired request back only if this is `nil`; see ``PutBackRule``.
    public var completion: Bool?
    /// The number of the signal that ended the process; `nil` if none did.
    public var signal: Int32?
    /// The exit status of the process, or of the program of a `command:`; `nil` if it did not exit.
    public var exitStatus: Int32?
    /// The part in which a crash happened; `nil` if there was no crash.
    public var phase: LaunchPhase?
    /// Apple's code of the end (such as `0x8badf00d`); `nil` if there is none.
    public var code: UInt32?
    /// The number of processes that outlived the task; the launcher killed them.
    public var leftovers = 0
    /// Whether the host asked the launch to stop, but it had set no expiration handler and had not requested
    /// the expiration descriptor.
    ///
    /// Such a launch counts as completed without success, as on iOS. Its request is not put back, unless the
    /// host stopped or the machine went to sleep; see ``PutBackRule``.
    public var neverListened = false

    public init(outcome: Outcome, reason: Reason?, message: String? = nil) {
        self.outcome = outcome
        self.reason = reason
        self.message = message
    }

    /// The end of a launch that stopped when the host asked it to: `cancelled` for a cancellation, otherwise
    /// `expired`.
    public static func stopped(_ reason: Reason, message: String? = nil) -> LaunchEnd {
        let isCancelled = reason == .cancelledByUser || reason == .manifestRemoved
        return LaunchEnd(outcome: isCancelled ? .cancelled : .expired, reason: reason, message: message)
    }
}

extension LaunchEnd {
    /// This end, if it was the last of too many attempts without progress: the request has failed.
    ///
    /// - Parameter attempts: The number of attempts in a row without progress.
    /// - Returns: The end as `failed`, with the earlier reason in its message.
    public func givenUp(after attempts: Int) -> LaunchEnd {
        var end = self
        end.outcome = .failed
        end.reason = .attemptsWithoutProgress
        let before = [reason?.rawValue, message].compactMap(\.self).joined(separator: ": ")
        let others = attempts == 2 ? "an earlier one" : "\(attempts - 1) earlier ones"
        let row = attempts == 1 ? "This attempt brought" : "This attempt and \(others) brought"
        end.message =
            "\(row) neither a new checkpoint nor further progress, so the host does not try the request again"
            + (before.isEmpty ? "" : ". The last attempt ended with \(before)")
        return end
    }
}

/// A launch that is over, with the resources that it used.
public struct EndedLaunch: Equatable, Sendable {
    /// The launch's id.
    public var id: LaunchID
    /// How the launch ended.
    public var end: LaunchEnd
    /// When the launch ended.
    public var at: Moment
    /// CPU time of the launch and all its descendants.
    public var cpuTime: Duration
    /// Whether ``cpuTime`` may be too low, because there was no cgroup to measure it.
    public var cpuIsLowerBound: Bool
    /// Peak resident memory; `nil` if unknown.
    public var peakMemory: ByteCount?
    /// What it moved over the network; `nil` if nothing counted it, or the launch may not use the network.
    public var network: NetworkBytes?

    /// Makes an ended launch.
    public init(
        id: LaunchID, end: LaunchEnd, at: Moment, cpuTime: Duration = .zero, cpuIsLowerBound: Bool = false,
        peakMemory: ByteCount? = nil, network: NetworkBytes? = nil
    ) {
        self.id = id
        self.end = end
        self.at = at
        self.cpuTime = cpuTime
        self.cpuIsLowerBound = cpuIsLowerBound
        self.peakMemory = peakMemory
        self.network = network
    }
}

/// One launch, as the store keeps it and every listing shows it.
public struct LaunchRecord: Equatable, Sendable {
    /// The launch's id.
    public let id: LaunchID
    /// The request that the launch runs.
    public var request: RequestID
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// The bundle's identifier.
    public var bundle: BundleIdentifier
    /// The task's kind.
    public var kind: TaskKind
    /// The number of the attempt; 1 for the first launch of the request.
    public var attempt: Int
    /// The fencing token: a number that is higher for each launch, so that a late writer can be detected.
    public var token: Int64
    /// The current state.
    public var state: LaunchState
    /// When the host recorded the launch, before it started anything.
    public var startedAt: WallTime
    /// When the handler was called; `nil` if it was not called yet.
    public var readyAt: WallTime?
    /// When the launch ended; `nil` if it has not.
    public var endedAt: WallTime?
    /// How the launch ended; `nil` if it has not.
    public var end: LaunchEnd?
    /// The reason of the expiration that was sent; `nil` if none was.
    public var expiration: Reason?
    /// The newest progress; `nil` if the launch reported none.
    public var progress: TaskProgress?
    /// Whether the launch saved a checkpoint that differs from the one that it began with.
    public var hasNewCheckpoint = false
    /// For continued tasks, the title that the user sees: from the submission, or the last one that the
    /// handler set.
    ///
    /// For other tasks, empty.
    public var title: String
    /// The second line, which the user sees below the title.
    public var subtitle: String
    /// The tags of the request.
    public var tags: [Tag]
    /// CPU time of the launch and all its descendants.
    public var cpuTime: Duration
    /// Whether ``cpuTime`` may be too low, because there was no cgroup to measure it.
    public var cpuIsLowerBound: Bool
    /// Peak resident memory; `nil` if unknown.
    public var peakMemory: ByteCount?
    /// What it moved over the network; `nil` if nothing counted it, or the launch may not use the network.
    public var network: NetworkBytes?
    /// What isolated the launch: `cgroup`, `pidNamespace` or `noFork`, and after it the layers of the sandbox
    /// (``IsolationReport/words(for:)``); `inProcess` for a launch in a client.
    public var isolation: String
    /// The hash of the library that ran; `nil` for a `call:`.
    public var libraryHash: String?
    /// Whether the launch was simulated (`bgtask launch`), so that most policies did not apply.
    public var isSimulated: Bool
    /// The verdicts at the start, as JSON text; `nil` if none were stored.
    public var explanation: String?
    /// The reason for the request to stop, as JSON text; `nil` if there was none, or if a user or client
    /// requested the stop.
    public var stopExplanation: String?
    /// What the request had waited for before this launch, as ``explanation`` contains it.
    ///
    /// The store does not fill it; the host does when it shows the record.
    public var waited: [WaitSpan] = []

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
        tags = request.submission.tags
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

extension LaunchRecord {
    /// Returns the record with the values of the launch's end.
    public func ended(_ ended: EndedLaunch) -> LaunchRecord {
        var record = self
        record.state = .ended
        record.endedAt = ended.at.wall
        record.end = ended.end
        record.cpuTime = ended.cpuTime
        record.cpuIsLowerBound = ended.cpuIsLowerBound
        record.peakMemory = ended.peakMemory
        record.network = ended.network
        return record
    }
}
