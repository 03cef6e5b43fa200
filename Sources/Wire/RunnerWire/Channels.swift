/// Every message that a task can send on its report pipe.
public enum TaskReportMessage: Sendable, Equatable {
    /// The task is about to call its handler.
    case ready(ReadyMessage)
    /// The task made progress.
    case progress(TaskProgressMessage)
    /// The handler logged a line.
    case log(LogMessage)
    /// The handler saved a checkpoint.
    case checkpoint(CheckpointMessage)
    /// The handler submits a request.
    case submit(SubmitMessage)
    /// The handler cancels pending requests.
    case cancel(TaskCancelMessage)
    /// The handler requests the list of pending requests.
    case pending(PendingMessage)
    /// The handler asks something about the background sessions of its bundle.
    case sessionCall(SessionCallMessage)
    /// The handler began an assertion.
    case beginAssertion(BeginAssertionMessage)
    /// The handler ended an assertion.
    case endAssertion(EndAssertionMessage)
    /// The stack of a thread, which the host had requested.
    case stack(StackMessage)
    /// Advice for the plugin's author.
    case advice(AdviceMessage)
    /// The reason why the task is about to end itself.
    case fault(FaultMessage)
    /// A new title and subtitle.
    case title(TitleMessage)
    /// A fatal signal, which ends the task.
    case crash(CrashMessage)
    /// The task can't call a handler.
    case loadFailed(LoadFailedMessage)
    /// The handler completed the task.
    case done(DoneMessage)

    /// Decodes one frame of a report pipe; the result is `nil` for a kind that is skipped.
    ///
    /// - Throws: ``WireError`` for a body that is not valid, or a kind that must be known.
    public init?(kind: UInt8, body: FieldReader) throws(WireError) {
        switch kind {
        case TaskProgressMessage.kind: self = .progress(try TaskProgressMessage(fields: body))
        case ReadyMessage.kind: self = .ready(try ReadyMessage(fields: body))
        case LogMessage.kind: self = .log(try LogMessage(fields: body))
        case CheckpointMessage.kind: self = .checkpoint(try CheckpointMessage(fields: body))
        case SubmitMessage.kind: self = .submit(try SubmitMessage(fields: body))
        case TaskCancelMessage.kind: self = .cancel(try TaskCancelMessage(fields: body))
        case PendingMessage.kind: self = .pending(try PendingMessage(fields: body))
        case SessionCallMessage.kind: self = .sessionCall(try SessionCallMessage(fields: body))
        case BeginAssertionMessage.kind: self = .beginAssertion(try BeginAssertionMessage(fields: body))
        case EndAssertionMessage.kind: self = .endAssertion(try EndAssertionMessage(fields: body))
        case StackMessage.kind: self = .stack(try StackMessage(fields: body))
        case AdviceMessage.kind: self = .advice(try AdviceMessage(fields: body))
        case FaultMessage.kind: self = .fault(try FaultMessage(fields: body))
        case TitleMessage.kind: self = .title(try TitleMessage(fields: body))
        case CrashMessage.kind: self = .crash(try CrashMessage(fields: body))
        case LoadFailedMessage.kind: self = .loadFailed(try LoadFailedMessage(fields: body))
        case DoneMessage.kind: self = .done(try DoneMessage(fields: body))
        default:
            try refuseUnknown(kind, from: "task")
            return nil
        }
    }
}

/// Every message that the launcher can send on the host socket.
public enum LauncherReport: Sendable, Equatable {
    /// The launcher is running.
    case hello(HelloMessage)
    /// The launcher created a task.
    case spawned(SpawnedMessage)
    /// A task ended, and all processes of its group are gone.
    case exited(ExitedMessage)
    /// The process of a template exists.
    case templateStarted(TemplateStartedMessage)
    /// A template has loaded its plugin.
    case templateReady(TemplateReadyMessage)
    /// A template could not start or load its plugin, or ended unexpectedly.
    case templateFailed(TemplateFailedMessage)
    /// The launcher could not start a task.
    case spawnFailed(SpawnFailedMessage)
    /// A group of processes still exists after SIGKILL.
    case unkillable(UnkillableMessage)
    /// A standby is ready, or could not be made.
    case prepared(PreparedMessage)
    /// A call of a launch was refused or observed.
    case observed(ObservedMessage)

    /// The launch that the report is about; `nil` for a report about a template or the launcher.
    public var launch: UInt64? {
        switch self {
        case .spawned(let message): message.launch
        case .exited(let message): message.launch
        case .spawnFailed(let message): message.launch
        case .unkillable(let message): message.launch
        case .hello, .templateStarted, .templateReady, .templateFailed, .prepared, .observed: nil
        }
    }

    /// Decodes one frame of the host socket; the result is `nil` for a kind that is skipped.
    ///
    /// - Throws: ``WireError`` for a body that is not valid, or a kind that must be known.
    public init?(kind: UInt8, body: FieldReader) throws(WireError) {
        switch kind {
        case HelloMessage.kind: self = .hello(try HelloMessage(fields: body))
        case SpawnedMessage.kind: self = .spawned(try SpawnedMessage(fields: body))
        case ExitedMessage.kind: self = .exited(try ExitedMessage(fields: body))
        case TemplateStartedMessage.kind: self = .templateStarted(try TemplateStartedMessage(fields: body))
        case TemplateReadyMessage.kind: self = .templateReady(try TemplateReadyMessage(fields: body))
        case TemplateFailedMessage.kind: self = .templateFailed(try TemplateFailedMessage(fields: body))
        case SpawnFailedMessage.kind: self = .spawnFailed(try SpawnFailedMessage(fields: body))
        case UnkillableMessage.kind: self = .unkillable(try UnkillableMessage(fields: body))
        case PreparedMessage.kind: self = .prepared(try PreparedMessage(fields: body))
        case ObservedMessage.kind: self = .observed(try ObservedMessage(fields: body))
        default:
            try refuseUnknown(kind, from: "launcher")
            return nil
        }
    }
}
