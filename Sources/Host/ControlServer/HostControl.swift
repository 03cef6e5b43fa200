public import TaskModel

/// What the control channel needs of a host.
///
/// All methods may be called from any task, at the same time. None blocks a thread. What they throw is shown
/// to the caller as it is, so it says what was asked, what decided and what to do.
public protocol HostControl: Sendable {
    /// The host's version, as `bgtask version` shows it.
    var version: String { get }

    /// Accepts a request; durable when it returns.
    ///
    /// - Throws: Any code of ``SubmissionError``.
    func submit(_ submission: TaskSubmission) async throws(SubmissionError) -> TaskRequest

    /// The same for a submission of this process: where it registered handlers that fit, the request runs in
    /// it.
    func submit(_ submission: TaskSubmission, from process: Int32) async throws(SubmissionError)
        -> TaskRequest

    /// The same, with the request that the accepted one replaces.
    ///
    /// A host that has only the method above need not have this one: then no answer says what was replaced.
    func accept(_ submission: TaskSubmission, from process: Int32) async throws(SubmissionError)
        -> AcceptedSubmission

    /// Registers handlers of a process: requests that it submits from now on run in it.
    ///
    /// - Parameters:
    ///   - identifiers: What its handlers are for; a manifest must permit each.
    ///   - process: Its number, as the kernel says it of the connection.
    /// - Returns: The calls for it. The client counts as gone when the stream is no longer read.
    /// - Throws: `notPermitted` for an identifier that no manifest has, `unavailable`.
    func connect(_ identifiers: [IdentifierPattern], from process: Int32) async throws(SubmissionError)
        -> AsyncStream<ClientCall>

    /// Takes the report of a client about a launch that runs in it.
    ///
    /// - Throws: `notFound` if no such launch runs in a client, `notPermitted` if it is another process's.
    func report(_ id: LaunchID, _ report: ClientReport, from process: Int32) async throws(SubmissionError)

    /// A part of the pending requests, oldest first, with the policies' answers at this time.
    ///
    /// - Parameters:
    ///   - after: The request after which the part begins, whether it is still pending or not; `nil` for the
    ///     first part.
    ///   - limit: The greatest number of requests, 1 through 1000.
    /// - Returns: The part, and where the next one begins.
    /// - Throws: `unavailable`.
    func pending(after: RequestID?, limit: Int) async throws(SubmissionError)
        -> ListingPage<PendingRequest, RequestID>

    /// The same part in short form, which takes the host a fraction of the time.
    func pendingSummaries(after: RequestID?, limit: Int) async throws(SubmissionError)
        -> ListingPage<PendingSummary, RequestID>

    /// The pending request of a task, with the policies' answers at this time; `nil` if there is none.
    func pending(_ identifier: TaskIdentifier) async throws(SubmissionError) -> PendingRequest?

    /// A part of the launches, newest first.
    ///
    /// - Parameters:
    ///   - identifier: Only launches of this task; `nil` for all.
    ///   - after: The launch after which the part begins, so that all are older; `nil` for the first part.
    ///   - limit: The greatest number of launches, 1 through 1000.
    /// - Returns: Records, running ones included.
    /// - Throws: `unavailable` if the store can't be read.
    func launches(identifier: TaskIdentifier?, after: LaunchID?, limit: Int) async throws(SubmissionError)
        -> ListingPage<LaunchRecord, LaunchID>

    /// One launch with its log.
    ///
    /// - Throws: `notFound` if there is none of that number.
    func launch(_ id: LaunchID) async throws(SubmissionError) -> LaunchDetail

    /// Cancels what is pending, and stops what runs with the reason `cancelledByUser`.
    ///
    /// - Throws: `notFound` if nothing by that name waits or runs.
    func cancel(_ target: ControlTarget) async throws(SubmissionError) -> Cancellation

    /// Starts a task at once, past the policies but not past the permissions.
    ///
    /// Takes the pending request, or makes one from the manifest. With `debug` the task stops before its
    /// handler, and the call returns when it has; lease, stall and grace are paused while it is traced.
    ///
    /// - Throws: `notPermitted` if no manifest has it, `unavailable` if it runs already.
    func simulateLaunch(_ identifier: TaskIdentifier, debug: Bool) async throws(SubmissionError)
        -> SimulatedLaunch

    /// Asks running launches to stop.
    ///
    /// - Parameters:
    ///   - target: A launch, or the identifier of running ones.
    ///   - reason: One for which ``Reason/isExpiration`` holds.
    /// - Returns: The launches that were asked.
    /// - Throws: `notFound` if no running launch has this name.
    func expire(_ target: ControlTarget, reason: Reason) async throws(SubmissionError) -> [LaunchID]

    /// What was found in the plugins and manifests directories, and what is wrong there.
    func plugins() async throws(SubmissionError) -> PluginListing

    /// The lines that the host remembers, oldest first; the same call may follow the log from there on.
    ///
    /// - Parameter receive: Called with every line that comes after the remembered ones, on any thread, and
    ///   with `nil` after the last; must not block. `nil` follows nothing.
    /// - Returns: The lines, and what ends the calls; a line that is being written may still come.
    func log(following receive: (@Sendable (LogLine?) -> Void)?) -> (
        remembered: [LogLine], stop: @Sendable () -> Void
    )

    /// Follows the events: everything that happens after this returns is handed over as it happens.
    ///
    /// The host keeps none of it. Who is slow to use events has a queue for them, and bounds it.
    ///
    /// - Parameter receive: Called with one event after the other, and with `nil` after the last, which is
    ///   ``HostEvent/hostStopping``; runs on the host's own thread, so it must not block.
    /// - Returns: What ends the calls; an event that is being handed over may still come.
    func follow(_ receive: @escaping @Sendable (HostEvent?) -> Void) -> @Sendable () -> Void

    /// Every bundle that is installed or that something is remembered of, by name.
    func bundles() async throws(SubmissionError) -> [BundleFacts]

    /// Takes note of a use, a dismissal, a switch or a budget.
    ///
    /// - Returns: The bundle after it.
    /// - Throws: `notFound` if no manifest has the bundle and nothing is remembered of it; `notPermitted`
    ///   where only the administrator may.
    func change(_ bundle: BundleIdentifier, _ change: BundleChange) async throws(SubmissionError)
        -> BundleFacts

    /// Delivers a silent push to the bundle's task of kind `push`; the newest replaces one that waits.
    ///
    /// - Throws: `notPermitted` if the bundle has no such task; any code of ``submit(_:)``.
    func push(to bundle: BundleIdentifier, payload: String?, priority: PushPriority)
        async throws(SubmissionError)
        -> TaskRequest

    /// Launches the app of a bundle, which counts as a use and lifts a dismissal.
    ///
    /// - Returns: The request of the launch, durable; it replaces one that waits.
    /// - Throws: `notFound` if no manifest has the bundle, `notPermitted` if its library is no app, and then
    ///   nothing counts; `unavailable`.
    func open(_ bundle: BundleIdentifier) async throws(SubmissionError) -> TaskRequest

    /// Every policy's answer about starting a task now: of its pending request, else of one that is submitted
    /// now.
    ///
    /// - Throws: `notPermitted` if no manifest has it.
    func explain(_ identifier: TaskIdentifier) async throws(SubmissionError) -> TaskExplanation

    /// What was recorded of a launch's start and of its stop.
    ///
    /// - Throws: `notFound` if there is none of that number.
    func explain(_ launch: LaunchID) async throws(SubmissionError) -> LaunchExplanation

    /// The user's answer to ``HostEvent/launchAsked(_:_:_:)``.
    ///
    /// - Throws: `notFound` if it does not run.
    func answer(_ launch: LaunchID, keepGoing: Bool) async throws(SubmissionError)

    /// What the machine is like, with sources and ages.
    func conditions() async throws(SubmissionError) -> [ConditionRow]

    /// Simulates conditions over the real ones, each as `KEY=VALUE`; all are taken or none.
    ///
    /// - Throws: `invalidRequest` naming the setting and what it may be.
    func setConditions(_ settings: [String]) async throws(SubmissionError) -> [ConditionRow]

    /// Returns to the real conditions.
    func clearConditions() async throws(SubmissionError) -> [ConditionRow]

    /// The host's configuration: every value in force with its origin, the files, and what is wrong in them.
    func configuration() async throws(SubmissionError) -> ConfigurationListing

    /// What the host found out about the machine and itself.
    func report() async throws(SubmissionError) -> HostReport
}

extension HostControl {
    /// Accepts a submission without saying what it replaces.
    public func accept(_ submission: TaskSubmission, from process: Int32) async throws(SubmissionError)
        -> AcceptedSubmission
    {
        AcceptedSubmission(request: try await submit(submission, from: process), replaces: nil)
    }
}
