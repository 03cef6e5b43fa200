import HandlerRegistry
import HostSettings
public import Scheduling
public import TaskModel

/// Questions that change nothing.
extension HostCore {
    /// What waits, oldest first, with the policies' answers at a moment.
    public func pendingRequests(at now: Moment) -> [PendingRequest] {
        requests.durable.sorted { $0.id < $1.id }.map {
            PendingRequest(request: $0, verdicts: explain($0, at: now).verdicts)
        }
    }

    /// Every policy's answer about a pending request, as the scheduler has it: it knows of starts that are
    /// put off.
    func explain(_ request: TaskRequest, at now: Moment) -> Explanation {
        scheduler.explain(request.id, at: now) ?? scheduler.explain(request, at: now)
    }

    /// Whether any of these launches runs, so that its use of CPU time and memory can be measured.
    public func isRunning(anyOf records: [LaunchRecord]) -> Bool {
        records.contains { launches[$0.id].map { $0.stage != .ending } ?? false }
    }

    /// A launch as it is now, where the store's record may be older.
    public func current(_ stored: LaunchRecord) -> LaunchRecord {
        if let launch = launches[stored.id] { return launch.record }
        return unsavedEnds.first { $0.ended.id == stored.id }?.record ?? stored
    }

    /// How many handlers, pending requests and running launches there are.
    public var counts: (handlers: Int, pending: Int, running: Int) {
        (registered.handlers.count, requests.durable.count, launches.count)
    }

    /// What is wrong in the configuration.
    public var configurationProblems: [ManifestProblem] { settings?.problems ?? [] }

    /// Every bundle that is installed or that something is remembered of, by name.
    public func bundleFacts(at now: Moment) -> [BundleFacts] {
        scheduler.knownBundles.map { scheduler.facts(of: $0, at: now) }
    }

    /// What was found in the plugins and manifests directories, and what is wrong there.
    public var plugins: PluginListing {
        PluginListing(
            handlers: registered.handlers, problems: registered.problems + scheduleProblems,
            advice: advice.entries.mapValues(\.advice))
    }

    /// What replays need to go on in a new file; `nil` while the scheduler can't say it.
    public var recap: [SchedulerEvent]? { scheduler.recap() }

    /// Every policy's answer about starting a task at a moment.
    ///
    /// - Throws: `notPermitted` if no manifest has it.
    public func explain(_ identifier: TaskIdentifier, at now: Moment) throws(SubmissionError)
        -> TaskExplanation
    {
        let running = launches.launch(of: identifier)?.record.id
        if let request = scheduler.pendingRequest(of: identifier),
            let explanation = scheduler.explain(request.id, at: now)
        {
            return TaskExplanation(
                identifier: identifier, kind: request.kind, pending: request.id, running: running,
                explanation: explanation, forecast: forecast(request, explanation, at: now))
        }
        guard let handler = handler(for: identifier),
            let declaration = handler.manifest.declaration(for: identifier)
        else { throw notPermitted(identifier) }
        let submission = TaskSubmission(identifier: identifier, origin: .client)
        // No policy looks at the number; the request is never stored.
        let request = TaskRequest(
            id: RequestID(rawValue: .max), submission: submission, bundle: handler.manifest.bundle,
            kind: declaration.kind, submittedAt: now.wall, attempt: 1, notBefore: nil,
            deadline: scheduler.settings.deadline(for: submission, at: now))
        let explanation = scheduler.explain(request, at: now)
        return TaskExplanation(
            identifier: identifier, kind: declaration.kind, pending: nil, running: running,
            explanation: explanation, forecast: forecast(request, explanation, at: now))
    }

    /// When a request that waits would likely start; `nil` for one that may start now.
    private func forecast(_ request: TaskRequest, _ explanation: Explanation, at now: Moment) -> Forecast? {
        explanation.mayStart ? nil : scheduler.forecast(request, from: history, at: now)
    }

    /// What was recorded of a launch's start and of its stop.
    public func explain(_ record: LaunchRecord) -> LaunchExplanation {
        LaunchExplanation(
            record: record, start: ExplanationText.decode(record.explanation),
            stop: ExplanationText.decode(record.stopExplanation))
    }

    /// Every value of the configuration in force with its origin, including what users set for bundles.
    public func configuration() -> ConfigurationListing {
        var values = (settings?.values ?? []).map { row in
            guard SettingTable.key(named: row.key)?.needsRestart == true,
                let first = firstSettings?.values.first(where: { $0.key == row.key }),
                first.inForce.value != row.inForce.value
            else { return row }
            return ConfiguredValue(
                key: row.key, inForce: first.inForce, overridden: first.overridden, afterRestart: row.inForce)
        }
        for bundle in scheduler.knownBundles { addChosen(of: bundle, to: &values) }
        return ConfigurationListing(
            values: values, files: settings?.files ?? [], problems: settings?.problems ?? [])
    }

    /// Shows what `bgtask settings` changed, which stands above what is configured unless that is a
    /// restriction.
    private func addChosen(of bundle: BundleIdentifier, to values: inout [ConfiguredValue]) {
        let state = scheduler.bundleState(bundle)
        func add(_ key: String, _ value: String, above standard: ConfiguredValue.Origin?) {
            let chosen = ConfiguredValue.Origin(value: value, source: "bgtask settings")
            values.append(
                ConfiguredValue(
                    key: "bundles.\(bundle).\(key)", inForce: chosen,
                    overridden: standard.map { [$0] } ?? []))
        }
        func origin(_ key: String) -> ConfiguredValue.Origin? {
            values.first { $0.key == key }?.inForce
        }
        if state.refreshChangedAt != nil {
            let chosen = ConfiguredValue.Origin(value: state.refresh.rawValue, source: "bgtask settings")
            let key = "bundles.\(bundle).refresh"
            if let index = values.firstIndex(where: { $0.key == key }) {
                let configured = values[index].inForce
                if configured.value == RefreshPermission.restricted.rawValue {
                    values[index].overridden.insert(chosen, at: 0)
                } else {
                    values[index].inForce = chosen
                    values[index].overridden.insert(configured, at: 0)
                }
            } else {
                values.append(ConfiguredValue(key: key, inForce: chosen, overridden: []))
            }
        }
        if let launches = state.budget.launchLimit {
            add("refreshLaunchesPerDay", "\(launches)", above: origin("scheduling.refreshLaunchesPerDay"))
        }
        if let cpu = state.budget.cpuLimit {
            add("cpuPerDay", DurationText.format(cpu), above: origin("scheduling.cpuPerDay"))
        }
    }
}
