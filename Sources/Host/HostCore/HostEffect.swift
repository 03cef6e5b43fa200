public import Scheduling
public import TaskModel

/// One action that the core asks `TaskHost` to perform; actions must be performed in order.
///
/// The documentation of an effect names its answer, if it has one. Answers come back as ``HostInput``s, in
/// any order. Only the store answers in the order of its writes.
public enum HostEffect: Sendable {
    // MARK: The store
    /// Write this to the store; answered by ``HostInput/stored(_:_:)``. All writes that one pass over the
    /// inbox causes share one commit.
    case store(StoreTicket, StoreWrite)
    /// Write this with the next commit; a crash before that loses it.
    case note(StoreNote, LaunchID)

    // MARK: Launches in processes of their own
    /// Start a launch.
    indirect case launch(LaunchOrder)
    /// Ask a launch to stop.
    case expire(LaunchID, Reason)
    /// Kill all processes of a launch.
    case kill(LaunchID, Reason, message: String)
    /// Set a launch's CPU limit; `nil` lifts it.
    case setCPULimit(LaunchID, CPULimit?)
    /// Set the priority of a launch's processes.
    case setPriority(LaunchID, LaunchPriority)
    /// Send a launch its new conditions.
    case setConditions(LaunchID, HandlerConditions)
    /// Answer a call of a handler; `call` is the handler's own number of the call.
    case reply(LaunchID, call: UInt64, Result<[TaskRequest], SubmissionError>)
    /// Answer a handler's question about the sessions of its bundle with a JSON object.
    case replyToSession(LaunchID, call: UInt64, Result<[UInt8], SubmissionError>)
    /// End the template processes of a bundle.
    case retire(BundleIdentifier)
    /// Measure the CPU time of a launch; answered by ``HostInput/measured(_:_:)``.
    case measure(LaunchID)

    // MARK: Clients
    /// Send a message to a client.
    case notifyClient(ClientID, ClientCall)
    /// End the stream of messages to a client.
    case closeClient(ClientID)
    /// Measure the CPU time of a client's process; answered by ``HostInput/measured(_:_:)``.
    case measureClient(LaunchID, ClientID)
    /// Wait up to a second for the end of a process that has closed its connection; answered by
    /// ``HostInput/clientEnded(_:isDead:)``.
    case awaitClientEnd(ClientID)

    // MARK: Transfers
    /// Begin, stop, finish or forget a transfer; answered by ``HostInput/transfer(_:)``.
    case transfer(TransferOrder)

    // MARK: Callers, followers and the log
    /// Answer a call; each call gets one answer.
    case answer(CallID, HostAnswer)
    /// Send an event to the followers of the host's events.
    indirect case publish(HostEvent)
    /// Add a line to the log.
    case log(LogLine)

    // MARK: Other effects
    /// Record an event of the scheduler, for replays.
    case record(SchedulerEvent)
    /// Record the pending requests at the start of the host, each as the event `submitted`.
    case recordPending([TaskRequest])
    /// Record that the machine is about to sleep (true) or has woken (false).
    case recordSleep(Bool)
    /// Perform work that may block, on another thread.
    case work(HostWork)
    /// Send ``HostInput/timePassed(localTimeOffset:)`` at these times, instead of the earlier ones.
    case arm(Wake)
    /// Let the machine sleep; it has waited for this since ``HostInput/willSleep``.
    case letSleep
    /// End the host: it was asked to stop, no launch is under way, and the store has answered all writes.
    case drained
}

/// Work that may block, because it reads or writes files.
public enum HostWork: Sendable {
    /// Read the directories of manifests and plugins; answered by ``HostInput/scanned(_:_:)``.
    case scan(WorkTicket)
    /// Check a payload against the manifest and the directories that it grants; answered by
    /// ``HostInput/payloadChecked(_:_:)``.
    case checkPayload(WorkTicket, PermittedHandler, TaskIdentifier, payload: String?)
    /// Create a launch's directories and fill in the arguments of its `call:`; answered by
    /// ``HostInput/prepared(_:_:)``.
    case prepare(LaunchID, PermittedHandler, TaskIdentifier, payload: String?)
    /// Remove a launch's temporary directory.
    case removeTemporary(LaunchID)
    /// Remove the host's copies of libraries, except those with these hashes and those that manifests name.
    case removeCopies(keeping: Set<String>)
    /// Remove the app directories of all bundles except these.
    case removeApps(keeping: Set<BundleIdentifier>)
    /// Find the next date of a calendar schedule; answered by ``HostInput/dated(_:after:_:)``.
    case findDate(TaskIdentifier, expression: String, timeZone: String?, after: WallTime)
    /// Watch these custom conditions instead of the earlier ones; changes come as
    /// ``HostInput/conditions(_:)``.
    case defineConditions([CustomCondition])
    /// Read the free space again and again, because tasks need it, or do not.
    case watchStorage(Bool)
    /// Whether a launch is under way, so that the temperature is read now and then, also while the machine is
    /// cool.
    case watchHeat(Bool)
    /// Watch these files instead of the earlier ones; answered by ``HostInput/filesChanged(_:)`` at each
    /// change.
    case watchFiles(Set<String>)
    /// Open the alarm that can wake the machine; answered by ``HostInput/machineAlarm(_:)``.
    case openMachineAlarm
}

extension HostEffect {
    /// Whether the effect is only for people or for a later replay, so that it may come after all others.
    public var isNote: Bool {
        switch self {
        case .log, .record, .recordPending, .recordSleep: true
        default: false
        }
    }

    /// Whether the effect records an event of the scheduler.
    public var isRecorded: Bool {
        if case .record = self { true } else { false }
    }
}
