import HostCore
import HostSettings
import Launching
public import LinuxSystem
import RequestStore
import Scheduling
import Synchronization
import SystemConditions
public import TaskModel

/// The functions behind the control channel; `HostControl` documents each of them.
///
/// A function that changes something is a call of the core. Questions are answered from the core's value and
/// from the store.
extension TaskHost {
    /// The version of the host.
    public nonisolated var version: String { ProductVersion.current }

    /// What the processes of the host's launches have in common.
    public nonisolated var launchedProcesses: LaunchedProcesses { launcher.processes }

    /// What isolates launches on this machine.
    public nonisolated var isolation: IsolationReport {
        launcher.isolation.doubting(.user, because: worker.userFinding)
    }

    /// Whether a launch is refused where this machine lacks a layer of isolation.
    public nonisolated var requiresFullIsolation: Bool {
        settingsFiles.latest.effective.isolationRequirement == .full
    }

    /// The log of the host.
    public nonisolated var logs: HostLogs { HostLogs(host: self) }

    /// The transfers that the host makes.
    public nonisolated var transfers: HostTransfers { HostTransfers(host: self) }

    /// The pushes that the host delivers.
    public nonisolated var pushes: HostPushes { HostPushes(host: self) }

    // MARK: Changes

    /// Accepts a request of a process, which is durable when the function returns.
    public func submit(_ submission: TaskSubmission, from process: Int32) async throws(SubmissionError)
        -> AcceptedSubmission
    {
        AcceptedSubmission(try await ask(.submit(submission, from: process)).acceptance())
    }

    /// Requests a launch of a bundle's app, which counts as a use of the bundle.
    public func open(_ bundle: BundleIdentifier) async throws(SubmissionError) -> TaskRequest {
        try await ask(.open(bundle)).acceptance().request
    }

    /// Cancels pending requests, and asks launches under way to stop.
    public func cancel(_ target: ControlTarget) async throws(SubmissionError) -> Cancellation {
        try await ask(.cancel(target)).value { if case .cancelled(let found) = $0 { found } else { nil } }
    }

    /// Starts a task at once; only the policies Permission, SystemSleep, OneLaunchPerIdentifier and Conflicts
    /// apply.
    public func simulateLaunch(
        _ identifier: TaskIdentifier, debug: Bool, learn: Bool, payload: String?
    ) async throws(SubmissionError) -> SimulatedLaunch {
        try await ask(.simulate(identifier, debug: debug, learn: learn, payload: payload)).value {
            if case .simulated(let launch) = $0 { launch } else { nil }
        }
    }

    /// Asks launches under way to stop, for the given reason.
    public func expire(_ target: ControlTarget, reason: Reason) async throws(SubmissionError) -> [LaunchID] {
        try await ask(.expire(target, reason)).value {
            if case .expiring(let found) = $0 { found } else { nil }
        }
    }

    /// Changes the state of a bundle: a use, the foreground, a dismissal, the refresh switch, the budget or a
    /// pause.
    public func change(_ bundle: BundleIdentifier, _ change: BundleChange) async throws(SubmissionError)
        -> BundleFacts
    {
        try await ask(.change(bundle, change)).value {
            if case .bundle(let facts) = $0 { facts } else { nil }
        }
    }

    /// The pause of the whole host; `nil` if there is none.
    public func pause() async throws(SubmissionError) -> Pause? {
        await untilBegun()
        return core.scheduler.pause(at: moments.now().wall)
    }

    /// Pauses the whole host until a time or, with `nil`, until it is resumed; with `letsEnd`, what runs ends
    /// by itself.
    public func pause(until end: WallTime?, letsEnd: Bool) async throws(SubmissionError) -> Pause? {
        try await ask(.pause(letsEnd ? .drained(until: end) : .until(end))).pause()
    }

    /// Ends the pause of the whole host.
    public func resume() async throws(SubmissionError) -> Pause? {
        try await ask(.pause(.ended)).pause()
    }

    /// Handles the user's answer to the question whether a launch should keep going.
    public func answer(_ id: LaunchID, keepGoing: Bool) async throws(SubmissionError) {
        try await ask(.keepGoing(id, keepGoing)).value { if case .done = $0 { () } else { nil } }
    }

    /// Handles a client's report about its launch.
    public nonisolated func report(
        _ id: LaunchID, _ report: ClientReport, from process: Int32
    ) async throws(SubmissionError) {
        // Measured on the caller's thread, so that the host does not wait for `/proc`.
        let cpu = ProcessUsage.cpuTime(of: [process])
        try await ask(.report(id, report, process: process, processCPU: cpu)).value {
            if case .done = $0 { () } else { nil }
        }
    }

    /// Overrides conditions until ``clearConditions()``; each setting is text such as `network=none`.
    public func setConditions(_ settings: [String]) async throws(SubmissionError) -> [ConditionRow] {
        do { try sensors.set(settings) } catch { throw error.asSubmissionError }
        return changedConditions()
    }

    /// Removes all overrides of conditions.
    public func clearConditions() async throws(SubmissionError) -> [ConditionRow] {
        sensors.clear()
        return changedConditions()
    }

    private func changedConditions() -> [ConditionRow] {
        hearNow(.conditions(sensors.snapshot()))
        return sensors.rows()
    }

    // MARK: Questions

    /// A part of the pending requests, oldest first, with the policies' present answers.
    public func pending(after: RequestID?, limit: Int, tag: Tag?) async throws(SubmissionError)
        -> ListingPage<PendingRequest, RequestID>
    {
        await untilBegun()
        return core.pendingRequests(after: after, limit: limit, tag: tag, at: moments.now())
    }

    /// A part of the pending requests, oldest first, each with only the first reason why it waits.
    public func pendingSummaries(after: RequestID?, limit: Int, tag: Tag?) async throws(SubmissionError)
        -> ListingPage<PendingSummary, RequestID>
    {
        await untilBegun()
        return core.pendingSummaries(after: after, limit: limit, tag: tag, at: moments.now())
    }

    /// The pending request of an identifier; `nil` if there is none.
    public func pending(_ identifier: TaskIdentifier) async throws(SubmissionError) -> PendingRequest? {
        await untilBegun()
        return core.pendingRequest(of: identifier, at: moments.now())
    }

    /// A request in any state, with its launches in the order of its attempts.
    public func request(_ id: RequestID) async throws(SubmissionError) -> (
        record: RequestRecord, launches: [LaunchRecord]
    ) {
        await untilBegun()
        let (record, launches) = try await stored.request(id)
        return (record, await current(launches))
    }

    /// A part of the launches, newest first, with the present values of those under way.
    public func launches(
        _ filter: LaunchFilter, after: LaunchID?, limit: Int
    ) async throws(SubmissionError) -> ListingPage<LaunchRecord, LaunchID> {
        await untilBegun()
        var page = try await stored.page(filter, after: after, limit: limit)
        page.rows = await current(page.rows)
        return page
    }

    /// A part of the launches, newest first, with only what a table shows.
    public func launchSummaries(
        _ filter: LaunchFilter, after: LaunchID?, limit: Int
    ) async throws(SubmissionError) -> ListingPage<LaunchSummary, LaunchID> {
        await untilBegun()
        var page = try await stored.summaries(filter, after: after, limit: limit)
        let known = page.rows.compactMap { core.record(of: $0.id) }
        if known.isEmpty { return page }
        let newer = await current(known).map { ($0.id, LaunchSummary($0)) }
        let byID = Dictionary(newer) { first, _ in first }
        page.rows = page.rows.map { byID[$0.id] ?? $0 }
        return page
    }

    /// A launch, with those of its log lines that the host still has.
    public func launch(_ id: LaunchID) async throws(SubmissionError) -> LaunchDetail {
        await untilBegun()
        let found = try await stored.launch(id)
        return LaunchDetail(record: await current([found]).first ?? found, log: await logs.lines(of: found))
    }

    /// Updates stored records of launches under way, from memory and with a new measurement.
    private func current(_ stored: [LaunchRecord]) async -> [LaunchRecord] {
        let usage = core.isRunning(anyOf: stored) ? await launcher.usage() : [:]
        return stored.map { core.current($0).measured(usage[$0.id]) }
    }

    /// All bundles that are installed or have a stored state, ordered by name.
    public func bundles() async throws(SubmissionError) -> [BundleFacts] {
        await untilBegun()
        return core.bundleFacts(at: moments.now())
    }

    /// Every policy's answer about starting a task now.
    public func explain(_ identifier: TaskIdentifier) async throws(SubmissionError) -> TaskExplanation {
        await untilBegun()
        return try core.explain(identifier, at: moments.now())
    }

    /// Every policy's answer about starting a pending request now.
    public func explain(_ id: RequestID) async throws(SubmissionError) -> TaskExplanation {
        await untilBegun()
        return try core.explain(id, at: moments.now())
    }

    /// The queues with pending requests, ordered by name.
    public func queues() async throws(SubmissionError) -> [QueueState] {
        await untilBegun()
        return core.queueStates(at: moments.now())
    }

    /// The recorded explanations of a launch's start and stop.
    public func explain(_ id: LaunchID) async throws(SubmissionError) -> LaunchExplanation {
        core.explain(try await launch(id).record)
    }

    /// The plugins and manifests in force, with their problems and the advice about them.
    public func plugins() async throws(SubmissionError) -> PluginListing {
        await untilBegun()
        return core.plugins
    }

    /// The handlers in force.
    public func handlers() async throws(SubmissionError) -> [PermittedHandler] {
        await untilBegun()
        return core.plugins.handlers
    }

    /// The host's events from now on.
    public nonisolated func follow(
        _ receive: @escaping @Sendable (HostEvent?) -> Void
    ) -> @Sendable () -> Void {
        happenings.listen(receive)
    }

    /// The machine's conditions.
    public func conditions() async throws(SubmissionError) -> [ConditionRow] { sensors.rows() }

    /// All values of the configuration in force with their sources, including those that users set for
    /// bundles.
    ///
    /// The function reads the files again first, because inotify may not have reported the newest change yet.
    public func configuration() async throws(SubmissionError) -> ConfigurationListing {
        await untilBegun()
        let files = settingsFiles
        let latest = await worker.run {
            files.reread()
            return files.latest
        }
        hearNow(.settings(latest))
        return core.configuration()
    }

    /// A report about the host and its machine, for `bgtask doctor`.
    public func report() async throws(SubmissionError) -> HostReport {
        await untilBegun()
        var report = configuration.report(of: core, isolation, transferCPU: transferDesk.cpuTime)
        if let problem = pushProblem.withLock({ $0 }) { report.problems.append(problem) }
        return report
    }
}
