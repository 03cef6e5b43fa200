import HostCore
import HostSettings
import Launching
import LinuxSystem
import RequestStore
import SystemConditions
public import TaskModel

/// What the control channel asks; see `HostControl` for each method's promise.
///
/// What changes something is a call of the core's. What only asks is answered from its value, and from the
/// store.
extension TaskHost {
    /// The version of the host.
    public nonisolated var version: String { ProductVersion.current }

    // MARK: Changes

    /// Accepts a request; durable when it returns.
    public func submit(_ submission: TaskSubmission) async throws(SubmissionError) -> TaskRequest {
        try accepted(await ask(.submit(submission, from: nil)))
    }

    /// Submits for a process, which runs it itself where it registered for it.
    public func submit(_ submission: TaskSubmission, from process: Int32) async throws(SubmissionError)
        -> TaskRequest
    {
        try accepted(await ask(.submit(submission, from: process)))
    }

    /// The same, with the request that the accepted one replaces.
    public func accept(_ submission: TaskSubmission, from process: Int32) async throws(SubmissionError)
        -> AcceptedSubmission
    {
        try await ask(.submit(submission, from: process)).value { answer in
            guard case .accepted(let acceptance) = answer else { return nil }
            // A request that replaces itself is an earlier submission with the same key.
            let replaced = acceptance.isRepeat ? nil : acceptance.replaced?.id
            return AcceptedSubmission(
                request: acceptance.request, replaces: replaced, isRepeat: acceptance.isRepeat)
        }
    }

    /// Delivers a silent push to the bundle's task of kind `push`.
    public func push(to bundle: BundleIdentifier, payload: String?, priority: PushPriority)
        async throws(SubmissionError) -> TaskRequest
    {
        try accepted(await ask(.push(bundle, payload: payload, priority)))
    }

    /// Launches the app of a bundle.
    public func open(_ bundle: BundleIdentifier) async throws(SubmissionError) -> TaskRequest {
        try accepted(await ask(.open(bundle)))
    }

    private func accepted(_ answer: HostAnswer) throws(SubmissionError) -> TaskRequest {
        try answer.value { if case .accepted(let acceptance) = $0 { acceptance.request } else { nil } }
    }

    /// Takes back what is pending and asks running launches to stop.
    public func cancel(_ target: ControlTarget) async throws(SubmissionError) -> Cancellation {
        try await ask(.cancel(target)).value { if case .cancelled(let found) = $0 { found } else { nil } }
    }

    /// Starts a task at once, past the policies but not past the permissions.
    public func simulateLaunch(_ identifier: TaskIdentifier, debug: Bool) async throws(SubmissionError)
        -> SimulatedLaunch
    {
        try await ask(.simulate(identifier, debug: debug)).value {
            if case .simulated(let launch) = $0 { launch } else { nil }
        }
    }

    /// Asks running launches to stop.
    public func expire(_ target: ControlTarget, reason: Reason) async throws(SubmissionError) -> [LaunchID] {
        try await ask(.expire(target, reason)).value {
            if case .expiring(let found) = $0 { found } else { nil }
        }
    }

    /// Takes note of a use, a dismissal, a switch or a budget.
    public func change(_ bundle: BundleIdentifier, _ change: BundleChange) async throws(SubmissionError)
        -> BundleFacts
    {
        try await ask(.change(bundle, change)).value {
            if case .bundle(let facts) = $0 { facts } else { nil }
        }
    }

    /// The user's answer whether a launch should keep going.
    public func answer(_ id: LaunchID, keepGoing: Bool) async throws(SubmissionError) {
        try await ask(.keepGoing(id, keepGoing)).value { if case .done = $0 { () } else { nil } }
    }

    /// Takes what a client says of its launch.
    public nonisolated func report(
        _ id: LaunchID, _ report: ClientReport, from process: Int32
    ) async throws(SubmissionError) {
        // Read on the caller's thread, so that the host does not wait for /proc.
        let cpu = ProcessUsage.cpuTime(of: [process])
        try await ask(.report(id, report, process: process, processCPU: cpu)).value {
            if case .done = $0 { () } else { nil }
        }
    }

    /// Overrides conditions until ``clearConditions()``.
    public func setConditions(_ settings: [String]) async throws(SubmissionError) -> [ConditionRow] {
        do {
            try sensors.set(settings)
        } catch {
            throw SubmissionError(
                code: .invalidRequest, subject: error.key, finding: error.finding, remedy: error.remedy)
        }
        hearNow(.conditions(sensors.snapshot()))
        return sensors.rows()
    }

    /// Returns to the real conditions.
    public func clearConditions() async throws(SubmissionError) -> [ConditionRow] {
        sensors.clear()
        hearNow(.conditions(sensors.snapshot()))
        return sensors.rows()
    }

    // MARK: Questions

    /// What waits, oldest first, with the policies' answers at this time.
    public func pending() async throws(SubmissionError) -> [PendingRequest] {
        await untilBegun()
        return core.pendingRequests(at: moments.now())
    }

    /// Launches, newest first; what runs is shown as it is now.
    public func launches(
        identifier: TaskIdentifier?, limit: Int
    ) async throws(SubmissionError) -> [LaunchRecord] {
        await untilBegun()
        do {
            return await current(try await store.launches(identifier: identifier, limit: limit, before: nil))
        } catch {
            throw error.asSubmissionError
        }
    }

    /// One launch with its log.
    public func launch(_ id: LaunchID) async throws(SubmissionError) -> LaunchDetail {
        await untilBegun()
        let found: LaunchRecord?
        do {
            found = try await store.launch(id)
        } catch {
            throw error.asSubmissionError
        }
        guard let found else {
            throw SubmissionError(
                code: .notFound, subject: "\(id)", finding: "there is no launch of that number",
                remedy: "See 'bgtask launches'")
        }
        return LaunchDetail(
            record: await current([found]).first ?? found, log: log.remembered().filter { $0.launch == id })
    }

    /// What is newer in memory than in the store: all of what runs, and what it uses at this moment.
    private func current(_ stored: [LaunchRecord]) async -> [LaunchRecord] {
        let usage = core.isRunning(anyOf: stored) ? await launcher.usage() : [:]
        return stored.map { stored in
            var record = core.current(stored)
            if record.state != .ended, let usage = usage[record.id] {
                record.cpuTime = usage.cpuTime
                record.cpuIsLowerBound = usage.cpuIsLowerBound
                record.peakMemory = usage.peakMemory
            }
            return record
        }
    }

    /// Every bundle that is installed or that something is remembered of, by name.
    public func bundles() async throws(SubmissionError) -> [BundleFacts] {
        await untilBegun()
        return core.bundleFacts(at: moments.now())
    }

    /// Every policy's answer about starting a task now.
    public func explain(_ identifier: TaskIdentifier) async throws(SubmissionError) -> TaskExplanation {
        await untilBegun()
        return try core.explain(identifier, at: moments.now())
    }

    /// What was recorded of a launch's start and of its stop.
    public func explain(_ id: LaunchID) async throws(SubmissionError) -> LaunchExplanation {
        core.explain(try await launch(id).record)
    }

    /// What was found in the plugins and manifests directories, and what is wrong there.
    public func plugins() async throws(SubmissionError) -> PluginListing {
        await untilBegun()
        return core.plugins
    }

    /// The remembered lines; new ones go to `receive`, until the host stops or what is returned is called.
    public nonisolated func log(
        following receive: (@Sendable (LogLine?) -> Void)?
    ) -> (remembered: [LogLine], stop: @Sendable () -> Void) {
        guard let receive else { return (log.remembered(), {}) }
        return log.follow(receive)
    }

    /// Hands over what happens from now on, until the host stops or what is returned is called.
    public nonisolated func follow(
        _ receive: @escaping @Sendable (HostEvent?) -> Void
    ) -> @Sendable () -> Void {
        happenings.listen(receive)
    }

    /// What the machine is like.
    public func conditions() async throws(SubmissionError) -> [ConditionRow] { sensors.rows() }

    /// Every value in force with its origin, including what users set for bundles.
    ///
    /// Reads the files first: a user who has just written one may ask before inotify reports it.
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

    /// What the host found out about the machine and itself.
    public func report() async throws(SubmissionError) -> HostReport {
        await untilBegun()
        let counts = core.counts
        return HostReport(
            isolation: launcher.isolation,
            facts: [.init(name: "version", value: version)] + configuration.facts + [
                .init(name: "handlers", value: "\(counts.handlers)"),
                .init(name: "pending requests", value: "\(counts.pending)"),
                .init(name: "running launches", value: "\(counts.running)"),
            ], problems: core.configurationProblems)
    }
}
