public import HandlerRegistry
public import HostSettings
public import Scheduling
public import TaskModel

/// The number of one write; the store's answer contains it.
public struct StoreTicket: Hashable, Sendable {
    /// The number of the write, from 1 at each start of the host.
    public let rawValue: Int
}

/// The number of one piece of work outside the core; the result contains it.
public struct WorkTicket: Hashable, Sendable {
    /// The number of the work, from 1 at each start of the host.
    public let rawValue: Int
}

/// The number of one call of the control API; the answer contains it.
public struct CallID: Hashable, Sendable {
    /// The number of the call, which `TaskHost` assigns.
    public let rawValue: Int

    /// Creates the identifier from a number.
    public init(rawValue: Int) { self.rawValue = rawValue }
}

/// One input of the core: a call, an event or the answer to an effect.
///
/// The two largest cases are indirect, because a queue copies each input several times.
public enum HostInput: Sendable {
    /// The host begins to serve; this is the first input, and comes once.
    indirect case begin(HostBeginning)
    /// A call of the control API; answered once, by ``HostEffect/answer(_:_:)``.
    case call(CallID, HostCall)
    /// A launch reports an event.
    case launch(LaunchEvent)
    /// The machine's conditions changed to these.
    case conditions(Conditions)
    /// The configuration changed to this.
    indirect case settings(SettingsSnapshot)
    /// The manifests and plugins changed to these.
    case registered(RegistrySnapshot)
    /// An alarm of ``HostEffect/arm(_:)`` came; the offset is local time minus UTC.
    case timePassed(localTimeOffset: Duration)
    /// The last change of local time against UTC, if it was in the last two days, and the next one within
    /// eight days, as at the beginning of summer time.
    case localTimeChanges([LocalTimeChange])
    /// The machine is about to sleep, and waits for ``HostEffect/letSleep``.
    case willSleep
    /// The machine has woken.
    case hasWoken
    /// Files that ``HostWork/watchFiles(_:)`` named have changed.
    case filesChanged(Set<String>)
    /// A file that ``HostWork/watchFiles(_:)`` named can't be watched.
    case unwatchable(path: String, problem: String)
    /// The machine's conditions in the weeks before the host began; it comes when the recording has been
    /// read.
    case history(ConditionHistory)
    /// Whether a client follows the host's events; only then does the core examine which policies hold each
    /// request.
    case followed(Bool)
    /// The host is asked to stop: no launch starts any more, and launches under way expire.
    case stop
    /// The host is asked to stop without waiting: launches under way are killed.
    case killAll

    // MARK: Clients
    /// A client has closed its connection or ended.
    case clientLeft(ClientID)
    /// The answer to ``HostEffect/awaitClientEnd(_:)``: whether the client's process has ended.
    case clientEnded(ClientID, isDead: Bool)

    // MARK: Results of effects
    /// The store's answer to ``HostEffect/store(_:_:)``.
    case stored(StoreTicket, Result<StoreAnswer, StoreRefusal>)
    /// The answer to ``HostWork/scan(_:)``.
    case scanned(WorkTicket, RegistrySnapshot)
    /// The answer to ``HostWork/checkPayload(_:_:_:payload:)``; `nil` means that the payload is valid.
    case payloadChecked(WorkTicket, SubmissionError?)
    /// The answer to ``HostWork/prepare(_:_:_:payload:)``.
    case prepared(LaunchID, Result<LaunchPlace, SubmissionError>)
    /// The answer to ``HostEffect/measure(_:)`` and ``HostEffect/measureClient(_:_:)``: CPU time of the
    /// launch, or of the whole process of its client.
    case measured(LaunchID, Duration)
    /// The answer to ``HostWork/findDate(_:expression:timeZone:after:)``.
    case dated(TaskIdentifier, after: WallTime, FoundDate)
    /// The answer to ``HostWork/openMachineAlarm``.
    case machineAlarm(MachineAlarmState)
    /// Work without a caller failed; the text is a sentence for the log.
    case workFailed(String, LaunchID?)
    /// Reports about transfers, oldest first; see ``HostEffect/transfer(_:)``. Those that came together are
    /// one input, because the host then looks only once for what may begin, and stores their ends as one.
    case transfers([TransferReport])
}

/// The values that are read before the host begins.
public struct HostBeginning: Sendable {
    /// The values that do not change while the host runs.
    public var surroundings: HostSurroundings
    /// The configuration.
    public var settings: SettingsSnapshot
    /// The manifests and plugins.
    public var registered: RegistrySnapshot
    /// The machine's conditions.
    public var conditions: Conditions
    /// The contents of the store that the core needs, after the open launches of a dead host were ended.
    public var recovery = Recovery()
    /// The machine's boot id; `nil` if it can't be read.
    public var boot: String?
    /// Local time minus UTC.
    public var localTimeOffset: Duration
    /// The last change of local time against UTC, if it was in the last two days, and the next one within
    /// eight days, as at the beginning of summer time.
    public var localTimeChanges: [LocalTimeChange] = []
    /// When the host before this one was last known to run; `nil` if this is not known.
    public var earlierHostEnd: WallTime?

    /// Creates a beginning whose store is empty.
    public init(
        surroundings: HostSurroundings, settings: SettingsSnapshot, registered: RegistrySnapshot,
        conditions: Conditions, localTimeOffset: Duration = .zero
    ) {
        self.surroundings = surroundings
        self.settings = settings
        self.registered = registered
        self.conditions = conditions
        self.localTimeOffset = localTimeOffset
    }

    /// The rules by which the store handles open launches; its answer becomes ``recovery``.
    ///
    /// The real host, the virtual host and the worlds of the tests all begin in this way.
    ///
    /// - Parameter now: The present time, which becomes the end of the launches that a dead host left.
    /// - Returns: The rules, from the manifests and settings of this beginning.
    public func recoveryTerms(at now: WallTime) -> RecoveryTerms {
        let handlers = HandlerTable(registered.handlers)
        let scheduler = settings.effective.scheduler
        return RecoveryTerms(
            at: now,
            isAtMostOnce: { bundle, identifier in
                handlers[bundle]?.manifest.declaration(for: identifier)?.isAtMostOnce ?? false
            },
            backOff: {
                now + scheduler.backOff(afterLosses: max(1, $1.withoutProgress), of: $0.request)
            }, attemptLimit: scheduler.attemptsWithoutProgress,
            onFailure: { launch, request in
                let moment = Moment(boot: .zero, monotonic: .zero, wall: now)
                return handlers[launch.bundle].flatMap {
                    FailureRecord.submission(of: launch, request, $0.manifest, scheduler, at: moment)
                }
            },
            scheduled: registered.handlers.flatMap(\.manifest.tasks).filter { $0.schedule != nil }
                .map(\.pattern.base))
    }
}

/// The values that do not change while the host runs.
public struct HostSurroundings: Sendable {
    /// The directory with the manifests, for messages.
    public var manifestsDirectory: String
    /// The host's state directory, for messages.
    public var stateDirectory: String
    /// What isolates launches on this machine, for their records.
    public var isolation: IsolationReport
    /// The environment variables of every task, as `NAME=value`.
    public var taskEnvironment: [String]
    /// Whether the store keeps the explanations of each launch's start and stop; only `bgtask explain` reads
    /// them.
    public var keepsExplanations = true
    /// A number that identifies the device, on which the jitter of schedules depends.
    public var device: UInt64 = 0

    /// Creates surroundings that keep explanations.
    public init(
        manifestsDirectory: String, stateDirectory: String,
        isolation: IsolationReport = IsolationReport(
            groupKill: .noFork, layers: [], sandbox: Set(SandboxLayer.allCases)),
        taskEnvironment: [String]
    ) {
        self.manifestsDirectory = manifestsDirectory
        self.stateDirectory = stateDirectory
        self.isolation = isolation
        self.taskEnvironment = taskEnvironment
    }
}

/// A call of the control API that changes something.
///
/// Calls that only read are functions of ``HostCore``.
public enum HostCall: Sendable {
    /// Accept a submission; `from` is the number of the process that made it, if that is known. Answer:
    /// `accepted`.
    case submit(TaskSubmission, from: Int32?)
    /// Deliver a silent push. Answer: `accepted`.
    case push(PushOrder)
    /// Launch a bundle's app, which counts as a use. Answer: `accepted`.
    case open(BundleIdentifier)
    /// Cancel pending requests and stop launches under way. Answer: `cancelled`.
    case cancel(ControlTarget)
    /// Start a task in spite of most policies, as `bgtask launch` does. With `debug`, the answer comes when
    /// the task has stopped before its handler. With `learn`, the launch's record contains what it used of
    /// its grants. With a payload, a new request with it is started. Answer: `simulated`.
    case simulate(TaskIdentifier, debug: Bool, learn: Bool = false, payload: String? = nil)
    /// Stop running launches. Answer: `expiring`.
    case expire(ControlTarget, Reason)
    /// Change the state of a bundle: a use, the foreground, a dismissal, the refresh switch, the budget or a
    /// pause. Answer: `bundle`.
    case change(BundleIdentifier, BundleChange)
    /// Pause the host, or end its pause. Answer: `paused`, when the change is durable.
    case pause(PauseOrder)
    /// The user's answer to the question whether a launch should keep going. Answer: `done`.
    case keepGoing(LaunchID, Bool)
    /// Make a transfer. Answer: `transfer`.
    case transfer(TransferRequest)
    /// Make several transfers, all or none. Answer: `transfers`.
    case transfers([TransferRequest])
    /// Cancel a transfer. Answer: `transfer`.
    case cancelTransfer(TransferID)
    /// Register a process for identifiers. Answer: `connected`.
    case connect([IdentifierPattern], process: Int32)
    /// Handle a client's report about its launch; `processCPU` is the CPU time that the client's whole
    /// process has used. Answer: `done`.
    case report(LaunchID, ClientReport, process: Int32, processCPU: Duration)
}

/// An order of a user about the pause of the whole host.
public enum PauseOrder: Equatable, Sendable {
    /// Nothing starts until this time or, with `nil`, until ``ended``.
    case until(WallTime?)
    /// The same, but what runs ends by itself (`bgtask drain`).
    case drained(until: WallTime?)
    /// The pause ends.
    case ended
}

/// The result of a search for the next date of a schedule.
public enum FoundDate: Equatable, Sendable {
    /// The next date, also as text in the schedule's time zone.
    case next(WallTime, text: String)
    /// There is no further date.
    case never
    /// The expression or its time zone is not valid any more; the text explains why.
    case unreadable(String)
}

/// Whether the host can wake the machine.
public enum MachineAlarmState: Equatable, Sendable {
    /// No schedule has asked for it yet.
    case unused
    /// The host can wake the machine.
    case ready
    /// The machine has no hardware clock that could wake it.
    case noClock
    /// The kernel does not permit the host to wake the machine; the text explains why.
    case refused(String)
}

extension HostInput {
    /// Whether the input shows that the host is in use: a call, or a report of a launch or a transfer.
    public var isWork: Bool {
        switch self {
        case .call, .launch, .transfers: true
        default: false
        }
    }
}
