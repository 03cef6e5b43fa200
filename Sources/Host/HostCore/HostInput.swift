public import HandlerRegistry
public import HostSettings
public import Scheduling
public import TaskModel

/// Names one write that the store was asked for; its answer carries the same number.
public struct StoreTicket: Hashable, Sendable {
    /// Counted from 1 since the host began.
    public let rawValue: Int
}

/// Names one piece of work that was asked for outside the core; its result carries the same number.
public struct WorkTicket: Hashable, Sendable {
    /// Counted from 1 since the host began.
    public let rawValue: Int
}

/// Names one caller of the control API that waits for an answer.
public struct CallID: Hashable, Sendable {
    /// Counted by the shell.
    public let rawValue: Int

    /// Wraps a number.
    public init(rawValue: Int) { self.rawValue = rawValue }
}

/// Every input of the host, as a value.
public enum HostInput: Sendable {
    /// Everything was read; the host serves from now on. First, and once.
    case begin(HostBeginning)
    /// A call of the control API; answered once, by ``HostEffect/answer(_:_:)``.
    case call(CallID, HostCall)
    /// A launch reports.
    case launch(LaunchEvent)
    /// The machine is like this now.
    case conditions(Conditions)
    /// The configuration's files say this now.
    case settings(SettingsSnapshot)
    /// The directories of manifests and plugins hold this now.
    case registered(RegistrySnapshot)
    /// An alarm of ``HostEffect/arm(_:)`` came. Local time is this much ahead of UTC.
    case timePassed(localTimeOffset: Duration)
    /// The machine is about to sleep, and waits for ``HostEffect/letSleep``.
    case willSleep
    /// The machine has woken.
    case hasWoken
    /// Files that ``HostWork/watchFiles(_:)`` named have changed.
    case filesChanged(Set<String>)
    /// A file that ``HostWork/watchFiles(_:)`` named can't be watched.
    case unwatchable(path: String, problem: String)
    /// What the machine was like in the weeks before the host began; comes when it has been read.
    case history(ConditionHistory)
    /// Whether a client follows the events of the host: only then is it worth finding out what keeps each
    /// request.
    case followed(Bool)
    /// The host is asked to stop: nothing starts any more, and what runs expires.
    case stop
    /// The host is asked to stop without waiting: what runs is killed.
    case killAll

    // MARK: Clients
    /// A client has closed its connection or ended.
    case clientLeft(ClientID)
    /// The answer to ``HostEffect/awaitClientEnd(_:)``: whether the client's process has ended.
    case clientEnded(ClientID, isDead: Bool)

    // MARK: Results of effects
    /// The store has answered.
    case stored(StoreTicket, Result<StoreAnswer, StoreRefusal>)
    /// The answer to ``HostWork/scan(_:)``.
    case scanned(WorkTicket, RegistrySnapshot)
    /// The answer to ``HostWork/checkPayload(_:_:_:payload:)``; `nil` is a payload that fits.
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
    /// Work that no caller waits for failed; a sentence for the log.
    case workFailed(String, LaunchID?)
}

/// What was read before the host begins.
public struct HostBeginning: Sendable {
    /// Directories and the environment of tasks, for orders and messages.
    public var surroundings: HostSurroundings
    /// The configuration.
    public var settings: SettingsSnapshot
    /// Manifests and plugins.
    public var registered: RegistrySnapshot
    /// What the machine is like.
    public var conditions: Conditions
    /// What the store holds, once the launches that a dead host left have ended there.
    public var recovery = Recovery()
    /// The machine's boot id; `nil` if it can't be read.
    public var boot: String?
    /// How far local time is ahead of UTC.
    public var localTimeOffset: Duration

    /// Makes a beginning without a past.
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

    /// What this beginning asks of the store; the answer is its ``recovery``.
    ///
    /// The real host, the virtual one and the tests' worlds all begin in this way.
    ///
    /// - Parameter now: The end of the launches that a dead host left.
    /// - Returns: Terms from the manifests and settings of this beginning.
    public func recoveryTerms(at now: WallTime) -> RecoveryTerms {
        let handlers = HandlerTable(registered.handlers)
        let scheduler = settings.effective.scheduler
        return RecoveryTerms(
            at: now,
            isAtMostOnce: { bundle, identifier in
                handlers[bundle]?.manifest.declaration(for: identifier)?.isAtMostOnce ?? false
            },
            backOff: { now + scheduler.backOff(afterAttempt: $0.attempt) },
            scheduled: registered.handlers.flatMap(\.manifest.tasks).filter { $0.schedule != nil }
                .map(\.pattern.base))
    }
}

/// What does not change while a host runs.
public struct HostSurroundings: Sendable {
    /// Where manifests are, for messages.
    public var manifestsDirectory: String
    /// Where the host's own files are, for messages.
    public var stateDirectory: String
    /// What isolates launches here, for their records.
    public var isolation: String
    /// `NAME=value` lines that every task gets.
    public var taskEnvironment: [String]
    /// Whether the store keeps why each launch began and was asked to stop, as text that nothing here reads
    /// but the answer to `bgtask explain`.
    public var keepsExplanations = true

    /// Makes surroundings.
    public init(
        manifestsDirectory: String, stateDirectory: String, isolation: String, taskEnvironment: [String]
    ) {
        self.manifestsDirectory = manifestsDirectory
        self.stateDirectory = stateDirectory
        self.isolation = isolation
        self.taskEnvironment = taskEnvironment
    }
}

/// Calls of the control API that change something.
///
/// Calls that only read are functions of ``HostCore``.
public enum HostCall: Sendable {
    /// Accept a submission of a process. Answer: `accepted`.
    case submit(TaskSubmission, from: Int32?)
    /// Deliver a silent push. Answer: `accepted`.
    case push(BundleIdentifier, payload: String?, PushPriority)
    /// Launch a bundle's app, which counts as a use. Answer: `accepted`.
    case open(BundleIdentifier)
    /// Take back what is pending and stop what runs. Answer: `cancelled`.
    case cancel(ControlTarget)
    /// Start a task past the policies; with `debug`, answer when it has stopped before its handler. Answer:
    /// `simulated`.
    case simulate(TaskIdentifier, debug: Bool)
    /// Stop running launches. Answer: `expiring`.
    case expire(ControlTarget, Reason)
    /// Take note of a use, a dismissal, a switch or a budget. Answer: `bundle`.
    case change(BundleIdentifier, BundleChange)
    /// Take the user's answer whether a launch should keep going. Answer: `done`.
    case keepGoing(LaunchID, Bool)
    /// Register a process for identifiers. Answer: `connected`.
    case connect([IdentifierPattern], process: Int32)
    /// Take what a client's process says of its launch; `processCPU` is what the whole process has used.
    /// Answer: `done`.
    case report(LaunchID, ClientReport, process: Int32, processCPU: Duration)
}

/// What a calendar says of a schedule.
public enum FoundDate: Equatable, Sendable {
    /// Its next date, and the date as people read it in the schedule's zone.
    case next(WallTime, text: String)
    /// It has no date left.
    case never
    /// The expression or its zone can't be read any more; a sentence.
    case unreadable(String)
}

/// Whether the host can wake the machine.
public enum MachineAlarmState: Equatable, Sendable {
    /// No schedule asked for it yet.
    case unused
    /// It can.
    case ready
    /// The machine has no clock that could wake it.
    case noClock
    /// The kernel refuses; a sentence.
    case refused(String)
}
