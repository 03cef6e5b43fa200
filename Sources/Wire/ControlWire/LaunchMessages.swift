public import TaskModel

/// A page of launches: the answer of `GET /v1/launches` with `after`.
public struct LaunchPageMessage: Codable, Equatable, Sendable {
    /// The launches, newest first.
    public var launches: [LaunchMessage]
    /// The value of `after` for the next page; `null` if there are no more launches.
    @Explicit public var next: LaunchID?

    public init(_ page: ListingPage<LaunchRecord, LaunchID>) {
        launches = page.rows.map(LaunchMessage.init)
        next = page.next
    }
}

/// One launch, as `bgtask launches --json` prints it; every key is always present.
public struct LaunchMessage: Codable, Equatable, Sendable {
    /// The launch's id, such as `L42`.
    public var launch: LaunchID
    /// The request that the launch runs.
    public var request: RequestID
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// The task's bundle.
    public var bundle: BundleIdentifier
    /// The task's kind.
    public var kind: TaskKind
    /// The number of the attempt; 1 for the first launch of the request.
    public var attempt: Int
    /// The fencing token, which grows with every launch on the host.
    public var token: Int64
    /// The state of the launch.
    public var state: LaunchState
    /// How the launch ended; `null` if it has not.
    @Explicit public var outcome: Outcome?
    /// Why the launch ended or, before that, why it was asked to stop; `null` if there is no reason.
    @Explicit public var reason: Reason?
    /// What the handler said when it completed, or a sentence about what decided; `null` if there is nothing
    /// to add.
    @Explicit public var message: String?
    /// Lines with measurements, for example after a `cpuLimit`; `null` if there are none.
    @Explicit public var report: String?
    /// When the host recorded the launch.
    public var startedAt: Timestamp
    /// When the handler was called; `null` if it was not called yet.
    @Explicit public var readyAt: Timestamp?
    /// When the launch ended; `null` if it has not.
    @Explicit public var endedAt: Timestamp?
    /// The newest progress; `null` if the launch reported none.
    @Explicit public var progress: ProgressMessage?
    /// The title of a continued task, as the user sees it; empty for other tasks.
    @Explicit public var title: String?
    /// The second line, below the title.
    @Explicit public var subtitle: String?
    /// The tags of the request, sorted; `nil` from an older host.
    public var tags: [Tag]?
    /// CPU time of the launch and all its descendants, in seconds.
    public var cpuSeconds: Double
    /// Whether ``cpuSeconds`` may be too low, because there was no cgroup to measure it.
    public var cpuIsLowerBound: Bool
    /// Peak resident memory, in bytes; `null` if unknown.
    @Explicit public var peakMemoryBytes: Int64?
    /// The bytes that the launch received over the network, in whole packets from the IP header on; `null` if
    /// nothing counted them, or the launch may not use the network.
    @Explicit public var networkReceivedBytes: Int64?
    /// The bytes that it sent, likewise.
    @Explicit public var networkSentBytes: Int64?
    /// What isolated the launch: `cgroup`, `pidNamespace` or `noFork`, followed by the names of further
    /// layers.
    public var isolation: String
    /// The hash of the library that ran; `null` for a `call:`.
    @Explicit public var libraryHash: String?
    /// Whether a client started the launch at once (`bgtask launch`), so that most policies did not apply.
    public var isSimulated: Bool
    /// The number of the signal that ended the process; `null` if none did.
    @Explicit public var signal: Int32?
    /// The exit status of the process, or of the program of a `command:`; `null` if it did not exit.
    @Explicit public var exitStatus: Int32?
    /// The part in which a crash happened; `null` if there was no crash.
    @Explicit public var phase: LaunchPhase?
    /// Apple's code of the end, such as `0x8badf00d`; `null` if there is none.
    @Explicit public var code: String?
    /// The number of processes that outlived the task; the host killed them.
    public var leftovers: Int
    /// What the request had waited for before the launch, the longest wait first; `null` from an older host.
    @Explicit public var waited: [WaitMessage]?

    public init(_ record: LaunchRecord) {
        waited = record.waited.map(WaitMessage.init)
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
        tags = record.tags
        peakMemoryBytes = record.peakMemory?.bytes
        networkReceivedBytes = record.network?.received.bytes
        networkSentBytes = record.network?.sent.bytes
        libraryHash = record.libraryHash
        signal = record.end?.signal
        exitStatus = record.end?.exitStatus
        phase = record.end?.phase
        code = record.end?.code.map { "0x" + String($0, radix: 16) }
    }
}

/// How far a task is, in units that it chooses.
public struct ProgressMessage: Codable, Equatable, Sendable {
    /// Completed units; can become smaller.
    public var completed: Int64
    /// Total units; 0 means that the progress is indeterminate.
    public var total: Int64
    /// What the task is doing; `null` if it did not say.
    @Explicit public var message: String?

    public init(_ progress: TaskProgress) {
        completed = progress.completed
        total = progress.total
        message = progress.message
    }

    /// The progress as a value of the model.
    public var progress: TaskProgress { TaskProgress(completed: completed, total: total, message: message) }
}

/// A launch with its log: the body of `GET /v1/launches/L42`.
public struct LaunchDetailMessage: Codable, Equatable, Sendable {
    /// The record of the launch.
    public var launch: LaunchMessage
    /// The launch's log lines, oldest first.
    public var log: [LogLineMessage]
    /// What the processes did at the fatal moment; `null` for a launch that needs no such report, and from an
    /// older host.
    @Explicit public var termination: TerminationReport?
    /// The calls that the sandbox refused, and those that a learning run observed; `null` if there are none,
    /// and from an older host.
    @Explicit public var calls: ObservedCalls?

    public init(_ detail: LaunchDetail) {
        launch = LaunchMessage(detail.record)
        termination = detail.record.end?.termination
        calls = detail.record.end?.calls
        log = detail.log.map(LogLineMessage.init)
    }
}

/// One line of the host's log.
public struct LogLineMessage: Codable, Equatable, Sendable {
    /// When the host received the line.
    public var at: Timestamp
    /// How important the line is.
    public var level: LogLine.Level
    /// Where the line comes from.
    public var source: LogLine.Source
    /// The launch that the line is about; `null` if it is about none.
    @Explicit public var launch: LaunchID?
    /// The task that the line is about; `null` if it is about none.
    @Explicit public var identifier: TaskIdentifier?
    /// The text of the line.
    public var message: String
    /// The subsystem that the handler named; `null` if none.
    @Explicit public var subsystem: String?
    /// The category that the handler named; `null` if none.
    @Explicit public var category: String?

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

/// The body of `POST /v1/launches`, which launches a task in spite of most policies.
public struct SimulationMessage: Codable, Equatable, Sendable {
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// Whether the task stops before its handler, so that a debugger can attach; `nil` means false.
    public var debug: Bool?
    /// Whether all uses of files, programs and connections are recorded; `nil` means false.
    public var learn: Bool?
    /// The payload of a new request, a JSON object as text; `nil` starts the pending request, or a new one
    /// without a payload.
    public var payload: String?

    public init(identifier: TaskIdentifier, debug: Bool, learn: Bool = false, payload: String? = nil) {
        self.identifier = identifier
        self.debug = debug
        self.learn = learn
        self.payload = payload
    }
}

/// The answer of `POST /v1/launches`.
public struct SimulatedLaunchMessage: Codable, Equatable, Sendable {
    /// The launch that was started.
    public var launch: LaunchMessage
    /// The process number for a debugger; `null` unless the client requested debugging.
    @Explicit public var processIdentifier: Int32?

    public init(_ simulated: SimulatedLaunch) {
        launch = LaunchMessage(simulated.record)
        processIdentifier = simulated.processIdentifier
    }
}
