public import LinuxSystem
public import TaskModel

/// The functions of a host that the control channel uses.
///
/// All methods may be called from any Swift task, at the same time, and none of them blocks a thread. The
/// control channel passes their errors to the client unchanged, so an error must say what was asked, what
/// decided, and what to do.
public protocol HostControl: Sendable {
    /// The host's version, as `bgtask version` shows it.
    var version: String { get }

    /// What the processes of the host's launches have in common. They may not use the control socket.
    ///
    /// A host without launches need not implement it.
    var launchedProcesses: LaunchedProcesses { get }

    /// What isolates the host's launches on this machine.
    ///
    /// A host without launches need not implement it.
    var isolation: IsolationReport { get }

    /// Whether the host refuses launches whose manifest counts on a layer of isolation that this machine
    /// lacks.
    ///
    /// By default, it does.
    var requiresFullIsolation: Bool { get }

    /// Accepts a request from a process. It is durable when the method returns.
    ///
    /// If the process has registered a handler for the identifier, the request runs there.
    ///
    /// - Throws: Any code of ``SubmissionError``.
    func submit(_ submission: TaskSubmission, from process: Int32) async throws(SubmissionError)
        -> AcceptedSubmission

    /// Registers the handlers of a process. The requests that the process submits from now on run in it.
    ///
    /// - Parameters:
    ///   - identifiers: The identifiers of the handlers; a manifest must permit each of them.
    ///   - process: The number of the process, as the kernel reports it for the connection.
    /// - Returns: The host's calls to the client. When the stream is no longer read, the client counts as
    ///   gone.
    /// - Throws: `notPermitted` if no manifest has one of the identifiers; `unavailable`.
    func connect(_ identifiers: [IdentifierPattern], from process: Int32) async throws(SubmissionError)
        -> AsyncStream<ClientCall>

    /// Handles the report of a client about a launch that runs in the client.
    ///
    /// - Throws: `notFound` if no such launch runs in a client, `notPermitted` if it runs in another process.
    func report(_ id: LaunchID, _ report: ClientReport, from process: Int32) async throws(SubmissionError)

    /// A part of the pending requests, oldest first, with the policies' answers at this time.
    ///
    /// - Parameters:
    ///   - after: The request after which the part begins, whether it is still pending or not; `nil` for the
    ///     first part.
    ///   - limit: The greatest number of requests, 1 through 1000.
    ///   - tag: Only requests with this tag; `nil` for all.
    /// - Returns: The part, and where the next one begins.
    /// - Throws: `unavailable`.
    func pending(after: RequestID?, limit: Int, tag: Tag?) async throws(SubmissionError)
        -> ListingPage<PendingRequest, RequestID>

    /// Like ``pending(after:limit:tag:)``, but with only the first reason of each request, which takes a
    /// fraction of the time.
    func pendingSummaries(after: RequestID?, limit: Int, tag: Tag?) async throws(SubmissionError)
        -> ListingPage<PendingSummary, RequestID>

    /// The pending request of a task, with the policies' answers at this time; `nil` if there is none.
    func pending(_ identifier: TaskIdentifier) async throws(SubmissionError) -> PendingRequest?

    /// A part of the launches, newest first.
    ///
    /// - Parameters:
    ///   - filter: Which launches the part contains.
    ///   - after: The launch after which the part begins, so that all are older; `nil` for the first part.
    ///   - limit: The greatest number of launches, 1 through 1000.
    /// - Returns: The records.
    /// - Throws: `unavailable` if the store can't be read.
    func launches(
        _ filter: LaunchFilter, after: LaunchID?, limit: Int
    ) async throws(SubmissionError) -> ListingPage<LaunchRecord, LaunchID>

    /// Like ``launches(_:after:limit:)``, but with only what a table shows, which takes a
    /// fraction of the time.
    func launchSummaries(
        _ filter: LaunchFilter, after: LaunchID?, limit: Int
    ) async throws(SubmissionError) -> ListingPage<LaunchSummary, LaunchID>

    /// One launch with its log.
    ///
    /// - Throws: `notFound` if there is no launch with this id.
    func launch(_ id: LaunchID) async throws(SubmissionError) -> LaunchDetail

    /// One request in any state, and its launches in the order of its attempts.
    ///
    /// The host forgets ended requests after some time, as it forgets their launches.
    ///
    /// - Throws: `notFound` if the host knows no request with this id.
    func request(_ id: RequestID) async throws(SubmissionError) -> (
        record: RequestRecord, launches: [LaunchRecord]
    )

    /// Cancels pending requests, and asks running launches to stop, with the reason `cancelledByUser`.
    ///
    /// - Throws: `notFound` if the target names no pending request and no running launch.
    func cancel(_ target: ControlTarget) async throws(SubmissionError) -> Cancellation

    /// Launches a task at once; only the policies Permission, SystemSleep, OneLaunchPerIdentifier and
    /// Conflicts apply.
    ///
    /// The launch runs the task's pending request, or else a new request with the manifest's values. With a
    /// payload, it runs a new request with the manifest's values and this payload, which replaces the pending
    /// one unless the task has a queue. With `debug`, the task stops before its handler, and the method
    /// returns when it has stopped. While a debugger traces the task, its lease, its progress limit and its
    /// grace period are paused. With `learn`, the record of the launch contains what it used of its grants.
    ///
    /// - Throws: `notPermitted` if no manifest has the identifier, `unavailable` if the task already
    ///   runs or could not start.
    func simulateLaunch(
        _ identifier: TaskIdentifier, debug: Bool, learn: Bool, payload: String?
    ) async throws(SubmissionError) -> SimulatedLaunch

    /// Asks running launches to stop.
    ///
    /// - Parameters:
    ///   - target: A launch, or the identifier of a task whose running launches are asked.
    ///   - reason: The reason; ``Reason/isExpiration`` must be true for it.
    /// - Returns: The launches that were asked.
    /// - Throws: `notFound` if the target names no running launch.
    func expire(_ target: ControlTarget, reason: Reason) async throws(SubmissionError) -> [LaunchID]

    /// The contents of the directories of plugins and manifests, and the problems that the host found there.
    func plugins() async throws(SubmissionError) -> PluginListing

    /// Reads the configuration, the manifests and the custom conditions again.
    ///
    /// The host does so by itself when the files change. When the method returns, what it has read is in
    /// force.
    func reload() async throws(SubmissionError)

    /// The handlers in force.
    func handlers() async throws(SubmissionError) -> [PermittedHandler]

    /// Follows the events: every event after this call is delivered as it happens.
    ///
    /// The host stores no events. A receiver that handles them slowly must have its own bounded queue.
    ///
    /// - Parameter receive: Called with one event at a time. After the last event, which is
    ///   ``HostEvent/hostStopping``, it is called with `nil`. It runs on the host's own thread, so it must
    ///   not block.
    /// - Returns: A function that ends following; an event that is being delivered at that moment may still
    ///   arrive.
    func follow(_ receive: @escaping @Sendable (HostEvent?) -> Void) -> @Sendable () -> Void

    /// The bundles that are installed, or about which the host has stored facts; sorted by name.
    func bundles() async throws(SubmissionError) -> [BundleFacts]

    /// Records a use or a dismissal of a bundle, switches its background refresh, changes its budget, or
    /// pauses or resumes it.
    ///
    /// - Returns: The facts about the bundle after the change.
    /// - Throws: `notFound` if no manifest has the bundle and the host has stored no facts about it;
    ///   `notPermitted` if only the administrator may make this change.
    func change(_ bundle: BundleIdentifier, _ change: BundleChange) async throws(SubmissionError)
        -> BundleFacts

    /// The pause of the whole host; `nil` if there is none.
    func pause() async throws(SubmissionError) -> Pause?

    /// Pauses the whole host: nothing starts, and what runs stops.
    ///
    /// - Parameters:
    ///   - end: When the pause ends by itself; `nil` if only ``resume()`` ends it.
    ///   - letsEnd: Whether what runs ends by itself instead.
    /// - Returns: The pause, which is durable.
    /// - Throws: `invalidRequest` if the end has passed; `unavailable` if the pause could not be stored.
    func pause(until end: WallTime?, letsEnd: Bool) async throws(SubmissionError) -> Pause?

    /// Ends the pause of the whole host; pauses of single bundles go on.
    ///
    /// - Returns: Always `nil`: there is no pause any more.
    func resume() async throws(SubmissionError) -> Pause?

    /// Launches the app of a bundle. This counts as a use of the bundle and ends a dismissal.
    ///
    /// - Returns: The durable request for the launch. It replaces an earlier one that still waits.
    /// - Throws: `notFound` if no manifest has the bundle; `notPermitted` if its library is not an app, which
    ///   then does not count as a use; `unavailable` if the host is stopping or cannot store the request.
    func open(_ bundle: BundleIdentifier) async throws(SubmissionError) -> TaskRequest

    /// The type of ``logs``.
    associatedtype Logs: LogControl
    /// The log of the host.
    var logs: Logs { get }

    /// The type of ``transfers``.
    associatedtype Transfers: TransferControl
    /// The transfers that the host makes.
    var transfers: Transfers { get }

    /// The type of ``pushes``.
    associatedtype Pushes: PushControl
    /// The pushes that the host delivers.
    var pushes: Pushes { get }

    /// The present verdict of every policy about a launch of a task: of its pending request, or else of a
    /// request that would be submitted now.
    ///
    /// - Throws: `notPermitted` if no manifest has the identifier.
    func explain(_ identifier: TaskIdentifier) async throws(SubmissionError) -> TaskExplanation

    /// The present verdict of every policy about a pending request.
    ///
    /// - Throws: `notFound` if no pending request has this number.
    func explain(_ request: RequestID) async throws(SubmissionError) -> TaskExplanation

    /// The queues of tasks with pending requests, ordered by name.
    func queues() async throws(SubmissionError) -> [QueueState]

    /// The recorded reasons for a launch's start and for its stop.
    ///
    /// - Throws: `notFound` if there is no launch with this id.
    func explain(_ launch: LaunchID) async throws(SubmissionError) -> LaunchExplanation

    /// Delivers the user's answer to ``HostEvent/launchAsked(_:_:_:)``.
    ///
    /// - Throws: `notFound` if the launch does not run.
    func answer(_ launch: LaunchID, keepGoing: Bool) async throws(SubmissionError)

    /// The present conditions of the machine, with their sources and ages.
    func conditions() async throws(SubmissionError) -> [ConditionRow]

    /// Replaces conditions by simulated values, each given as `KEY=VALUE`; if one is invalid, none is
    /// applied.
    ///
    /// - Throws: `invalidRequest` with the invalid setting and its valid values.
    func setConditions(_ settings: [String]) async throws(SubmissionError) -> [ConditionRow]

    /// Removes all simulated values, so that the real conditions apply.
    func clearConditions() async throws(SubmissionError) -> [ConditionRow]

    /// The host's configuration: every value in force with its origin, the files, and the problems in them.
    func configuration() async throws(SubmissionError) -> ConfigurationListing

    /// What the host has found out about the machine and about itself, for `bgtask doctor`.
    func report() async throws(SubmissionError) -> HostReport
}

extension HostControl {
    /// No layer of isolation is missing.
    public var isolation: IsolationReport {
        IsolationReport(groupKill: .cgroup, layers: [], sandbox: Set(SandboxLayer.allCases))
    }

    /// Launches are refused where a layer of isolation is missing.
    public var requiresFullIsolation: Bool { true }

    /// No process belongs to a launch.
    public var launchedProcesses: LaunchedProcesses { LaunchedProcesses() }
}
