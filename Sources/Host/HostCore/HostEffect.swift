public import Scheduling
public import TaskModel

/// Everything that the host does, as a value; the shell performs effects in their order.
///
/// Effects that have an answer say so. The answers come back as ``HostInput``s, in any order and at any time,
/// but those of the store come in the order of their writes.
public enum HostEffect: Sendable {
    // MARK: The store
    /// Make this durable; answered by ``HostInput/stored(_:_:)``. All writes of one drain of the queue share
    /// one commit.
    case store(StoreTicket, StoreWrite)
    /// Keep this with the next commit; a crash may lose it.
    case note(StoreNote, LaunchID)

    // MARK: Launches in processes of their own
    /// Start a launch.
    case launch(LaunchOrder)
    /// Ask a launch to stop.
    case expire(LaunchID, Reason)
    /// Kill a launch with everything that it started.
    case kill(LaunchID, Reason, message: String)
    /// Relax (`nil`) or restore a launch's CPU limit.
    case setCPULimit(LaunchID, CPULimit?)
    /// Give a launch another priority.
    case setPriority(LaunchID, LaunchPriority)
    /// Notify a launch of the machine's conditions.
    case setConditions(LaunchID, HandlerConditions)
    /// Answer a call of a handler.
    case reply(LaunchID, call: UInt64, Result<[TaskRequest], SubmissionError>)
    /// End the templates of a bundle.
    case retire(BundleIdentifier)
    /// Measure the CPU time of a launch; answered by ``HostInput/measured(_:_:)``.
    case measure(LaunchID)

    // MARK: Clients
    /// Notify a client.
    case notifyClient(ClientID, ClientCall)
    /// End a client's stream.
    case closeClient(ClientID)
    /// Measure the CPU time of a client's process; answered by ``HostInput/measured(_:_:)``.
    case measureClient(LaunchID, ClientID)
    /// Wait up to a second for the end of a process that has closed its connection; answered by
    /// ``HostInput/clientEnded(_:isDead:)``.
    case awaitClientEnd(ClientID)

    // MARK: People
    /// Answer a call; once per call.
    case answer(CallID, HostAnswer)
    /// Publish to followers of the host.
    case publish(HostEvent)
    /// Add a line to the log.
    case log(LogLine)

    // MARK: The rest
    /// Record what the scheduler was fed, for replays.
    case record(SchedulerEvent)
    /// Record that the machine falls asleep (true) or woke (false).
    case recordSleep(Bool)
    /// Do something that may block, elsewhere.
    case work(HostWork)
    /// Send ``HostInput/timePassed(localTimeOffset:)`` at these instants, in place of the earlier ones.
    case arm(Wake)
    /// The machine may sleep now.
    case letSleep
    /// The host was asked to stop, and nothing runs any more.
    case drained
}

/// What a caller of the control API is answered.
public enum HostAnswer: Sendable {
    /// The request is durable, or was before.
    case accepted(Acceptance)
    /// What was taken back and what was asked to stop.
    case cancelled(Cancellation)
    /// The launch was started.
    case simulated(SimulatedLaunch)
    /// These launches were asked to stop.
    case expiring([LaunchID])
    /// The bundle after the change, which is durable.
    case bundle(BundleFacts)
    /// The client is registered.
    case connected(ClientID)
    /// It is done.
    case done
    /// What decided against it.
    case refused(SubmissionError)
}

extension HostAnswer {
    /// The answer to a call that comes too late.
    public static let hostHasStopped = HostAnswer.refused(
        SubmissionError(
            code: .unavailable, subject: "bgtaskd", finding: "the host has stopped",
            remedy: "Try again when it serves"))

    /// What is in an answer of the kind that a call is promised.
    ///
    /// - Parameter unwrap: Takes it out; `nil` if the answer is of another kind.
    /// - Returns: What `unwrap` took out.
    /// - Throws: The refusal, or `unavailable` if the core answered with another kind.
    public func value<Value>(_ unwrap: (HostAnswer) -> Value?) throws(SubmissionError) -> Value {
        if let value = unwrap(self) { return value }
        if case .refused(let error) = self { throw error }
        throw SubmissionError(
            code: .unavailable, subject: "the host", finding: "it gave an answer of another kind",
            remedy: "Report this: it is a fault of the host")
    }
}

/// Work that may block, because it reads or writes files.
public enum HostWork: Sendable {
    /// Read the directories of manifests and plugins; answered by ``HostInput/scanned(_:_:)``.
    case scan(WorkTicket)
    /// Check a payload against the manifest's grants; answered by ``HostInput/payloadChecked(_:_:)``.
    case checkPayload(WorkTicket, PermittedHandler, TaskIdentifier, payload: String?)
    /// Make a launch's directories and fill its call; answered by ``HostInput/prepared(_:_:)``.
    case prepare(LaunchID, PermittedHandler, TaskIdentifier, payload: String?)
    /// Remove a launch's temporary directory.
    case removeTemporary(LaunchID)
    /// Remove the host's copies of libraries, except those that manifests name and these.
    case removeCopies(keeping: Set<String>)
    /// Remove the app directories of all other bundles.
    case removeApps(keeping: Set<BundleIdentifier>)
    /// Find the next date of a calendar schedule; answered by ``HostInput/dated(_:after:_:)``.
    case findDate(TaskIdentifier, expression: String, timeZone: String?, after: WallTime)
    /// Watch these custom conditions in place of the earlier ones; changes come as
    /// ``HostInput/conditions(_:)``.
    case defineConditions([CustomCondition])
    /// Watch these files in place of the earlier ones.
    case watchFiles(Set<String>)
    /// Open the clock that can wake the machine; answered by ``HostInput/machineAlarm(_:)``.
    case openMachineAlarm
}
