import HandlerRegistry
import HostSettings
import Launching
import LinuxSystem
import RequestStore
import Scheduling
import SystemConditions
public import TaskModel

/// What the control channel asks; see `HostControl` for each method's promise.
extension TaskHost {
    /// The version of the host.
    public nonisolated var version: String { ProductVersion.current }

    /// What waits, oldest first, with the policies' answers at this time.
    public func pending() async throws(SubmissionError) -> [PendingRequest] {
        let now = moments.now()
        return pending.values.sorted { $0.id < $1.id }.map {
            PendingRequest(request: $0, verdicts: scheduler.explain($0, at: now).verdicts)
        }
    }

    /// Launches, newest first; what runs is shown as it is now.
    public func launches(
        identifier: TaskIdentifier?, limit: Int
    ) async throws(SubmissionError) -> [LaunchRecord] {
        do {
            let stored = try await store.launches(identifier: identifier, limit: limit, before: nil)
            return await current(stored)
        } catch {
            throw error.asSubmissionError
        }
    }

    /// One launch with its log.
    public func launch(_ id: LaunchID) async throws(SubmissionError) -> LaunchDetail {
        let found: LaunchRecord?
        do {
            found = try await store.launch(id)
        } catch {
            throw error.asSubmissionError
        }
        guard let found else { throw notFound("\(id)", "there is no launch of that number") }
        return LaunchDetail(
            record: await current([found]).first ?? found, log: log.remembered().filter { $0.launch == id })
    }

    /// What is newer in memory than in the store: all of what runs, and what it uses at this moment.
    private func current(_ stored: [LaunchRecord]) async -> [LaunchRecord] {
        let ended = Dictionary(uniqueKeysWithValues: unsavedEnds.map { ($0.launch.record.id, $0.record) })
        let usage = stored.contains { running[$0.id] != nil } ? await launcher.usage() : [:]
        return stored.map { stored in
            guard var record = running[stored.id]?.record else { return ended[stored.id] ?? stored }
            if let usage = usage[record.id] {
                record.cpuTime = usage.cpuTime
                record.cpuIsLowerBound = usage.cpuIsLowerBound
                record.peakMemory = usage.peakMemory
            }
            return record
        }
    }

    /// Takes back what is pending and tells what runs to stop.
    public func cancel(_ target: ControlTarget) async throws(SubmissionError) -> Cancellation {
        let requests: [TaskRequest]
        let launches: [LaunchID]
        switch target {
        case .request(let id):
            requests = pending[id].map { [$0] } ?? []
            launches = running.values.filter { $0.record.request == id }.map(\.record.id)
        case .launch(let id):
            requests = []
            launches = running[id] == nil ? [] : [id]
        case .identifier(let identifier):
            requests = pending.values.filter { $0.identifier == identifier }
            launches = running.values.filter { $0.record.identifier == identifier }.map(\.record.id)
        }
        if requests.isEmpty && launches.isEmpty {
            throw notFound("\(target)", "nothing by that name is pending or runs")
        }
        for request in requests { try await withdraw(request) }
        for id in launches { await schedule(.expireRequested(id, .cancelledByUser)) }
        return Cancellation(requests: requests.map(\.id).sorted(), launches: launches.sorted())
    }

    /// Starts a task at once, past the policies but not past the permissions.
    public func simulateLaunch(
        _ identifier: TaskIdentifier, debug: Bool
    ) async throws(SubmissionError) -> SimulatedLaunch {
        if let other = running.values.first(where: { $0.record.identifier == identifier }) {
            throw SubmissionError(
                code: .unavailable, subject: "\(identifier)", finding: "\(other.record.id) runs it already",
                remedy: "Wait for it, or stop it with 'bgtask expire \(other.record.id)'")
        }
        let request: TaskRequest
        if let waiting = pending.values.first(where: { $0.identifier == identifier }) {
            request = waiting
            if debug { debugged.insert(request.id) }
        } else {
            // Marked before it can start: an eligible request launches while it is accepted.
            request = try await accept(
                TaskSubmission(identifier: identifier, origin: .simulated),
                whenStored: { id in if debug { self.debugged.insert(id) } }
            ).request
        }
        await schedule(.simulate(request.id))
        guard let started = running.values.first(where: { $0.record.request == request.id }) else {
            throw SubmissionError(
                code: .unavailable, subject: "\(identifier)", finding: "it did not start",
                remedy: "See 'bgtask logs' for the reason")
        }
        let id = started.record.id
        guard debug else { return SimulatedLaunch(record: started.record, processIdentifier: nil) }
        if started.record.readyAt == nil {
            await withCheckedContinuation { readyWaiters[id, default: []].append($0) }
        }
        guard let stopped = running[id] else {
            throw SubmissionError(
                code: .unavailable, subject: "\(identifier)", finding: "\(id) ended before its handler",
                remedy: "See 'bgtask show \(id)'")
        }
        return SimulatedLaunch(record: stopped.record, processIdentifier: stopped.processIdentifier)
    }

    /// Tells running launches to stop.
    public func expire(_ target: ControlTarget, reason: Reason) async throws(SubmissionError) -> [LaunchID] {
        guard reason.isExpiration else {
            throw SubmissionError(
                code: .invalidRequest, subject: reason.rawValue, finding: "it is no reason of an expiration",
                remedy:
                    "One of: \(Reason.allCases.filter(\.isExpiration).map(\.rawValue).joined(separator: " "))"
            )
        }
        let launches = running.values.map(\.record).filter {
            switch target {
            case .request(let id): $0.request == id
            case .launch(let id): $0.id == id
            case .identifier(let identifier): $0.identifier == identifier
            }
        }.map(\.id).sorted()
        if launches.isEmpty { throw notFound("\(target)", "nothing by that name runs") }
        for id in launches { await schedule(.expireRequested(id, reason)) }
        return launches
    }

    /// What was found in the plugins and manifests directories, and what is wrong there.
    public func plugins() async throws(SubmissionError) -> PluginListing {
        PluginListing(
            handlers: registered.handlers, problems: registered.problems + scheduleProblems,
            advice: advice.entries.mapValues(\.advice))
    }

    /// The remembered lines, then, if it is asked to follow, every new one.
    public nonisolated func log(following: Bool) async -> AsyncStream<LogLine> {
        log.stream(following: following)
    }

    /// What happens from now on.
    public nonisolated func events() async -> AsyncStream<HostEvent> { happenings.listen() }

    /// What the machine is like.
    public func conditions() async throws(SubmissionError) -> [ConditionRow] { sensors.rows() }

    /// Simulates conditions over the real ones.
    public func setConditions(_ settings: [String]) async throws(SubmissionError) -> [ConditionRow] {
        do {
            try sensors.set(settings)
        } catch {
            throw SubmissionError(
                code: .invalidRequest, subject: error.key, finding: "\(error)",
                remedy: "See 'bgtask conditions' for keys and values")
        }
        await schedule(.conditionsChanged(sensors.snapshot()))
        return sensors.rows()
    }

    /// Returns to the real conditions.
    public func clearConditions() async throws(SubmissionError) -> [ConditionRow] {
        sensors.clear()
        await schedule(.conditionsChanged(sensors.snapshot()))
        return sensors.rows()
    }

    /// What the host found out about the machine and itself.
    public func report() async throws(SubmissionError) -> HostReport {
        HostReport(
            isolation: launcher.isolation,
            facts: [
                .init(name: "version", value: version),
                .init(name: "state directory", value: configuration.stateDirectory),
                .init(name: "plugins directory", value: configuration.pluginsDirectory),
                .init(name: "manifests directory", value: configuration.manifestsDirectory),
                .init(name: "conditions directory", value: configuration.conditionsDirectory),
                .init(name: "runner", value: configuration.runnerPath),
                .init(name: "conditions", value: configuration.simulatesConditions ? "simulated" : "system"),
                .init(name: "handlers", value: "\(registered.handlers.count)"),
                .init(name: "pending requests", value: "\(pending.count)"),
                .init(name: "running launches", value: "\(running.count)"),
            ], problems: currentSettings.problems)
    }

    private func notFound(_ subject: String, _ finding: String) -> SubmissionError {
        SubmissionError(
            code: .notFound, subject: subject, finding: finding,
            remedy: "See 'bgtask pending' and 'bgtask launches'")
    }
}
