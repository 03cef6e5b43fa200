public import TaskModel

/// One launch, as `bgtask launches --json` prints it; every key is always there.
public struct LaunchMessage: Codable, Equatable, Sendable {
    /// Its number: `L42`.
    public var launch: LaunchID
    /// The request that it runs.
    public var request: RequestID
    /// The task.
    public var identifier: TaskIdentifier
    /// The bundle.
    public var bundle: BundleIdentifier
    /// The kind.
    public var kind: TaskKind
    /// 1 for the request's first launch.
    public var attempt: Int
    /// The fencing token.
    public var token: Int64
    /// Where it is.
    public var state: LaunchState
    /// How it ended.
    @Explicit public var outcome: Outcome?
    /// Why: of the end, else of the expiration that runs.
    @Explicit public var reason: Reason?
    /// A sentence with the deciding numbers.
    @Explicit public var message: String?
    /// What was measured of a `cpuLimit`, in lines.
    @Explicit public var report: String?
    /// When it was recorded.
    public var startedAt: Timestamp
    /// When its handler was called.
    @Explicit public var readyAt: Timestamp?
    /// When it ended.
    @Explicit public var endedAt: Timestamp?
    /// The newest progress.
    @Explicit public var progress: ProgressMessage?
    /// What the user sees of a continued task; empty if nothing.
    @Explicit public var title: String?
    /// Its second line.
    @Explicit public var subtitle: String?
    /// CPU time of the launch and all its descendants, in seconds.
    public var cpuSeconds: Double
    /// Whether ``cpuSeconds`` may be too low.
    public var cpuIsLowerBound: Bool
    /// Peak resident memory.
    @Explicit public var peakMemoryBytes: Int64?
    /// What isolated it.
    public var isolation: String
    /// The hash of the library that ran.
    @Explicit public var libraryHash: String?
    /// Whether it skipped the policies.
    public var isSimulated: Bool
    /// The signal that ended it.
    @Explicit public var signal: Int32?
    /// Its exit status.
    @Explicit public var exitStatus: Int32?
    /// Which part a crash hit.
    @Explicit public var phase: LaunchPhase?
    /// Apple's code of the end, as `0x8badf00d`.
    @Explicit public var code: String?
    /// Processes that outlived it and were killed.
    public var leftovers: Int

    /// Copies a record.
    public init(_ record: LaunchRecord) {
        launch = record.id
        request = record.request
        identifier = record.identifier
        bundle = record.bundle
        kind = record.kind
        attempt = record.attempt
        token = record.token
        state = record.state
        startedAt = Timestamp(record.startedAt)
        cpuSeconds = Double(record.cpuTime.wholeNanoseconds / 1000) / 1_000_000
        cpuIsLowerBound = record.cpuIsLowerBound
        isolation = record.isolation
        isSimulated = record.isSimulated
        leftovers = record.end?.leftovers ?? 0
        outcome = record.end?.outcome
        reason = record.end == nil ? record.expiration : record.end?.reason
        message = record.end?.message
        report = record.end?.report
        readyAt = record.readyAt.map(Timestamp.init)
        endedAt = record.endedAt.map(Timestamp.init)
        progress = record.progress.map(ProgressMessage.init)
        title = record.title
        subtitle = record.subtitle
        peakMemoryBytes = record.peakMemory?.bytes
        libraryHash = record.libraryHash
        signal = record.end?.signal
        exitStatus = record.end?.exitStatus
        phase = record.end?.phase
        code = record.end?.code.map { "0x" + String($0, radix: 16) }
    }
}

/// How far a task has come.
public struct ProgressMessage: Codable, Equatable, Sendable {
    /// Units done.
    public var completed: Int64
    /// All units; 0 is indeterminate.
    public var total: Int64
    /// What it is doing.
    @Explicit public var message: String?

    /// Copies a report.
    public init(_ progress: TaskProgress) {
        completed = progress.completed
        total = progress.total
        message = progress.message
    }

    /// The value.
    public var progress: TaskProgress { TaskProgress(completed: completed, total: total, message: message) }
}

/// A launch with its log: the body of `GET /v1/launches/L42`.
public struct LaunchDetailMessage: Codable, Equatable, Sendable {
    /// The launch.
    public var launch: LaunchMessage
    /// Its lines, oldest first.
    public var log: [LogLineMessage]

    /// Copies a detail.
    public init(_ detail: LaunchDetail) {
        launch = LaunchMessage(detail.record)
        log = detail.log.map(LogLineMessage.init)
    }
}

/// One line of the log.
public struct LogLineMessage: Codable, Equatable, Sendable {
    /// When the host got it.
    public var at: Timestamp
    /// How important it is.
    public var level: LogLine.Level
    /// Where it comes from.
    public var source: LogLine.Source
    /// The launch.
    @Explicit public var launch: LaunchID?
    /// The task.
    @Explicit public var identifier: TaskIdentifier?
    /// The text.
    public var message: String
    /// The handler's subsystem.
    @Explicit public var subsystem: String?
    /// The handler's category.
    @Explicit public var category: String?

    /// Copies a line.
    public init(_ line: LogLine) {
        at = Timestamp(line.at)
        level = line.level
        source = line.source
        message = line.message
        launch = line.launch
        identifier = line.identifier
        subsystem = line.subsystem
        category = line.category
    }
}

/// The body of `POST /v1/launches`.
public struct SimulationMessage: Codable, Equatable, Sendable {
    /// The task.
    public var identifier: TaskIdentifier
    /// Whether to stop before the handler for a debugger; `nil` is false.
    public var debug: Bool?

    /// Asks the host to launch a task past the policies.
    public init(identifier: TaskIdentifier, debug: Bool) {
        self.identifier = identifier
        self.debug = debug
    }
}

/// The answer of `POST /v1/launches`.
public struct SimulatedLaunchMessage: Codable, Equatable, Sendable {
    /// The launch that was started.
    public var launch: LaunchMessage
    /// The task's process, where a debugger was asked for.
    @Explicit public var processIdentifier: Int32?

    /// Copies an answer.
    public init(_ simulated: SimulatedLaunch) {
        launch = LaunchMessage(simulated.record)
        processIdentifier = simulated.processIdentifier
    }
}
