/// Every message that a task can send on its report pipe.
public enum ReportMessage: Sendable, Equatable {
    /// The handler is called next.
    case ready(ReadyMessage)
    /// Progress.
    case progress(TaskProgressMessage)
    /// A log line.
    case log(LogMessage)
    /// A checkpoint.
    case checkpoint(CheckpointMessage)
    /// A submission.
    case submit(SubmitMessage)
    /// A cancellation.
    case cancel(TaskCancelMessage)
    /// A question for pending requests.
    case pending(PendingMessage)
    /// An assertion began.
    case beginAssertion(BeginAssertionMessage)
    /// An assertion ended.
    case endAssertion(EndAssertionMessage)
    /// Where a thread was.
    case stack(StackMessage)
    /// A word for the plugin's author.
    case advice(AdviceMessage)
    /// Why it is about to end itself.
    case fault(FaultMessage)
    /// What the user sees from now on.
    case title(TitleMessage)
    /// The plugin's entry could not be used.
    case loadFailed(LoadFailedMessage)
    /// Completion.
    case done(DoneMessage)

    /// Reads one frame of a report pipe; `nil` for a kind that is skipped.
    ///
    /// - Throws: ``WireError`` with the violation.
    public init?(kind: UInt8, body: FieldReader) throws(WireError) {
        switch kind {
        case TaskProgressMessage.kind: self = .progress(try TaskProgressMessage(fields: body))
        case ReadyMessage.kind: self = .ready(try ReadyMessage(fields: body))
        case LogMessage.kind: self = .log(try LogMessage(fields: body))
        case CheckpointMessage.kind: self = .checkpoint(try CheckpointMessage(fields: body))
        case SubmitMessage.kind: self = .submit(try SubmitMessage(fields: body))
        case TaskCancelMessage.kind: self = .cancel(try TaskCancelMessage(fields: body))
        case PendingMessage.kind: self = .pending(try PendingMessage(fields: body))
        case BeginAssertionMessage.kind: self = .beginAssertion(try BeginAssertionMessage(fields: body))
        case EndAssertionMessage.kind: self = .endAssertion(try EndAssertionMessage(fields: body))
        case StackMessage.kind: self = .stack(try StackMessage(fields: body))
        case AdviceMessage.kind: self = .advice(try AdviceMessage(fields: body))
        case FaultMessage.kind: self = .fault(try FaultMessage(fields: body))
        case TitleMessage.kind: self = .title(try TitleMessage(fields: body))
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
    /// It is up.
    case hello(HelloMessage)
    /// A task exists.
    case spawned(SpawnedMessage)
    /// A task and its group are gone.
    case exited(ExitedMessage)
    /// A template is loaded.
    case templateReady(TemplateReadyMessage)
    /// A template is not.
    case templateFailed(TemplateFailedMessage)
    /// A task could not be started.
    case spawnFailed(SpawnFailedMessage)
    /// A group does not die.
    case unkillable(UnkillableMessage)
    /// A standby waits, or there is none.
    case prepared(PreparedMessage)

    /// Reads one frame of the host socket; `nil` for a kind that is skipped.
    ///
    /// - Throws: ``WireError`` with the violation.
    public init?(kind: UInt8, body: FieldReader) throws(WireError) {
        switch kind {
        case HelloMessage.kind: self = .hello(try HelloMessage(fields: body))
        case SpawnedMessage.kind: self = .spawned(try SpawnedMessage(fields: body))
        case ExitedMessage.kind: self = .exited(try ExitedMessage(fields: body))
        case TemplateReadyMessage.kind: self = .templateReady(try TemplateReadyMessage(fields: body))
        case TemplateFailedMessage.kind: self = .templateFailed(try TemplateFailedMessage(fields: body))
        case SpawnFailedMessage.kind: self = .spawnFailed(try SpawnFailedMessage(fields: body))
        case UnkillableMessage.kind: self = .unkillable(try UnkillableMessage(fields: body))
        case PreparedMessage.kind: self = .prepared(try PreparedMessage(fields: body))
        default:
            try refuseUnknown(kind, from: "launcher")
            return nil
        }
    }
}
