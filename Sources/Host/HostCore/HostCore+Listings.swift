import HandlerRegistry
import HostSettings
public import Scheduling
public import TaskModel

/// The questions of the control API, which change nothing.
extension HostCore {
    /// A part of the pending requests, oldest first, with the policies' answers at a time.
    ///
    /// - Parameters:
    ///   - after: The request after which the part begins; `nil` for the first part.
    ///   - limit: The greatest number of requests, at least 1.
    ///   - tag: Only requests with this tag; `nil` means all.
    ///   - now: The time of the answers.
    /// - Returns: The part, and where the next one begins.
    public func pendingRequests(
        after: RequestID?, limit: Int, tag: Tag? = nil, at now: Moment
    ) -> ListingPage<PendingRequest, RequestID> {
        let page = requests.page(after: after, limit: limit, tag: tag)
        var foresight = Foresight(scheduler, at: now)
        var places = QueuePlaces()
        return ListingPage(
            rows: page.rows.map { pendingRequest($0, &foresight, &places, at: now) }, next: page.next)
    }

    /// A part of the pending requests, oldest first, each with only the first reason why it waits.
    public func pendingSummaries(
        after: RequestID?, limit: Int, tag: Tag? = nil, at now: Moment
    ) -> ListingPage<PendingSummary, RequestID> {
        let page = requests.page(after: after, limit: limit, tag: tag)
        var foresight = Foresight(scheduler, at: now)
        var places = QueuePlaces()
        return ListingPage(
            rows: page.rows.map { summary(of: $0, &foresight, &places, at: now) }, next: page.next)
    }

    /// The pending request of an identifier, with the policies' answers at a time; `nil` if there is none.
    public func pendingRequest(of identifier: TaskIdentifier, at now: Moment) -> PendingRequest? {
        let first = requests.queues.first(of: identifier).first.flatMap { requests.pending[$0] }
        guard let request = requests.request(of: identifier) ?? first,
            !requests.foreseen.contains(request.id)
        else { return nil }
        var foresight = Foresight(scheduler, at: now)
        var places = QueuePlaces()
        return pendingRequest(request, &foresight, &places, at: now)
    }

    private func pendingRequest(
        _ request: TaskRequest, _ foresight: inout Foresight, _ places: inout QueuePlaces, at now: Moment
    ) -> PendingRequest {
        let request = judged(request)
        let place = place(inQueueOf: request, &places)
        if let headline = headline(inQueue: request, place: place) {
            return PendingRequest(
                request: request, verdicts: explain(request, place: place, at: now).verdicts,
                headline: headline, waited: [])
        }
        return PendingRequest(
            request: request,
            verdicts: requests.refusedStarts.explanation(explain(request, at: now)).verdicts,
            headline: request.headlineOfOther
                ?? requests.refusedStarts.headline(foresight.headline(of: request), of: request.id),
            waited: scheduler.waited(request, at: now))
    }

    /// A pending request as the scheduler judges it: after a start that the store refused, as on a full disk,
    /// it waits some seconds for the next one.
    private func judged(_ request: TaskRequest) -> TaskRequest {
        scheduler.pendingRequest(request.id) ?? request
    }

    /// What a request waits for, in one sentence, and what would let it start.
    private func outlook(of request: TaskRequest, at now: Moment) -> Outlook {
        var foresight = Foresight(scheduler, at: now)
        return requests.refusedStarts.outlook(foresight.outlook(of: request), of: request.id)
    }

    /// Returns every policy's answer about a pending request.
    ///
    /// If the scheduler does not have the request, it judges the request as if it were new.
    func explain(_ request: TaskRequest, at now: Moment) -> Explanation {
        var places = QueuePlaces()
        return explain(request, place: place(inQueueOf: request, &places), at: now)
    }

    /// Like ``explain(_:at:)``, for a request before which `place` others of its queue come.
    private func explain(_ request: TaskRequest, place: Int?, at now: Moment) -> Explanation {
        if let known = scheduler.explain(request.id, at: now) { return known }
        var explanation = scheduler.explain(request, at: now)
        if let wait = request.waitForOther ?? waitInQueue(request, place: place) {
            explanation.verdicts.insert(wait, at: 0)
        }
        return explanation
    }

    private func summary(
        of request: TaskRequest, _ foresight: inout Foresight, _ places: inout QueuePlaces, at now: Moment
    ) -> PendingSummary {
        if request.isQueued, let summary = summary(inQueue: request, &places, at: now) { return summary }
        guard let wait = request.waitForOther else {
            var summary = scheduler.summary(of: judged(request), &foresight, at: now)
            requests.refusedStarts.apply(to: &summary)
            return summary
        }
        return PendingSummary(
            request: request, reason: wait, otherReasons: explain(request, at: now).vetoes.count - 1,
            headline: request.headlineOfOther ?? "")
    }

    /// The short form of a request behind others of its queue; `nil` for all others.
    private func summary(
        inQueue request: TaskRequest, _ places: inout QueuePlaces, at now: Moment
    ) -> PendingSummary? {
        let place = place(inQueueOf: request, &places)
        if place == 0 {
            return PendingSummary(
                request: request, reason: explain(request, place: 0, at: now).vetoes.first, otherReasons: 0,
                headline: headline(inQueue: request, place: 0) ?? "")
        }
        guard let wait = waitInQueue(request, place: place) else { return nil }
        return PendingSummary(
            request: request, reason: wait, otherReasons: 0,
            headline: headline(inQueue: request, place: place) ?? "")
    }

    /// Whether any of these launches is under way, so that its CPU time and memory can be measured.
    public func isRunning(anyOf records: [LaunchRecord]) -> Bool {
        records.contains { launches[$0.id].map { $0.stage != .ending } ?? false }
    }

    /// Returns the newest record of a launch; the store's record may be older.
    public func current(_ stored: LaunchRecord) -> LaunchRecord {
        var record = record(of: stored.id) ?? stored
        record.waited = ExplanationText.waited(record.explanation)
        return record
    }

    /// The record of a launch that is under way, or whose end is not in the store yet; `nil` for all others.
    public func record(of id: LaunchID) -> LaunchRecord? {
        launches[id]?.record ?? unsavedEnds.first { $0.ended.id == id }?.record
    }

    /// The numbers of handlers, pending requests and launches under way.
    public var counts: (handlers: Int, pending: Int, running: Int) {
        (registered.handlers.count, requests.durableCount, launches.count)
    }

    /// The problems of the configuration.
    public var configurationProblems: [ManifestProblem] { settings?.problems ?? [] }

    /// All bundles that are installed or have a stored state, ordered by name.
    public func bundleFacts(at now: Moment) -> [BundleFacts] {
        let others = transferUse.keys.filter { !scheduler.knows($0) }
        return (scheduler.knownBundles + others).sorted().map { facts(of: $0, at: now) }
    }

    /// The plugins and manifests in force, with their problems and the advice about them.
    public var plugins: PluginListing {
        PluginListing(
            handlers: registered.handlers, problems: registered.problems + scheduleProblems,
            advice: advice.entries.mapValues(\.advice))
    }

    /// The events that restore the scheduler's state at the beginning of a new segment of a recording; `nil`
    /// if the scheduler can't provide them now.
    public func recap(at now: WallTime) -> [SchedulerEvent]? { scheduler.recap(at: now) }

    /// Returns every policy's answer about starting a task at a time.
    ///
    /// - Throws: `notPermitted` if no manifest permits the identifier.
    public func explain(_ identifier: TaskIdentifier, at now: Moment) throws(SubmissionError)
        -> TaskExplanation
    {
        let running = launches.launch(of: identifier)?.record.id
        if let request = scheduler.pendingRequest(of: identifier),
            let explanation = scheduler.explain(request.id, at: now)
        {
            return TaskExplanation(
                identifier: identifier, kind: request.kind, pending: request.id, running: running,
                explanation: requests.refusedStarts.explanation(explanation),
                forecast: forecast(request, explanation, at: now),
                outlook: outlook(of: request, at: now))
        }
        if let first = requests.queues.first(of: identifier).first
            ?? requests.queues.members(of: identifier).min(),
            let request = requests.pending[first]
        {
            return explain(pending: request, at: now)
        }
        if let request = requests.waiting(of: identifier) ?? requests.appended(to: identifier) {
            return TaskExplanation(
                identifier: identifier, kind: request.kind, pending: request.id, running: running,
                explanation: explain(request, at: now), forecast: nil)
        }
        guard let handler = handler(for: identifier),
            let declaration = handler.manifest.declaration(for: identifier)
        else { throw notPermitted(identifier) }
        let submission = TaskSubmission(identifier: identifier, origin: .client)
        // No policy uses the number of the request, and the request is never stored.
        let request = TaskRequest(
            id: RequestID(rawValue: .max), submission: submission, bundle: handler.manifest.bundle,
            kind: declaration.kind, submittedAt: now.wall, attempt: 1, notBefore: nil,
            deadline: scheduler.settings.deadline(for: submission, at: now))
        let explanation = scheduler.explain(request, at: now)
        return TaskExplanation(
            identifier: identifier, kind: declaration.kind, pending: nil, running: running,
            explanation: requests.refusedStarts.explanation(explanation),
            forecast: forecast(request, explanation, at: now),
            outlook: outlook(of: request, at: now))
    }

    /// Returns every policy's answer about starting a pending request at a time.
    ///
    /// - Throws: `notFound` if the request is not pending.
    public func explain(_ id: RequestID, at now: Moment) throws(SubmissionError) -> TaskExplanation {
        guard let request = requests.pending[id], !requests.foreseen.contains(id) else {
            throw notFound("\(id)", "no pending request has this number")
        }
        return explain(pending: request, at: now)
    }

    private func explain(pending request: TaskRequest, at now: Moment) -> TaskExplanation {
        let identifier = request.identifier
        let running = launches.launch(of: identifier)?.record.id
        let explanation = explain(request, at: now)
        guard scheduler.pendingRequest(request.id) != nil else {
            return TaskExplanation(
                identifier: identifier, kind: request.kind, pending: request.id, running: running,
                explanation: explanation, forecast: nil)
        }
        return TaskExplanation(
            identifier: identifier, kind: request.kind, pending: request.id, running: running,
            explanation: requests.refusedStarts.explanation(explanation),
            forecast: forecast(request, explanation, at: now), outlook: outlook(of: request, at: now))
    }

    /// Predicts when a request will start; `nil` if it may start now.
    private func forecast(_ request: TaskRequest, _ explanation: Explanation, at now: Moment) -> Forecast? {
        explanation.mayStart ? nil : scheduler.forecast(request, from: history, at: now)
    }

    /// The recorded explanations of a launch's start and stop.
    public func explain(_ record: LaunchRecord) -> LaunchExplanation {
        var record = record
        record.waited = ExplanationText.waited(record.explanation)
        return LaunchExplanation(
            record: record, start: ExplanationText.decode(record.explanation),
            stop: ExplanationText.decode(record.stopExplanation))
    }

    /// All values of the configuration in force with their sources, including those that users set for
    /// bundles.
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

    /// Adds the values that `bgtask settings` set for a bundle.
    ///
    /// They override configured values, except a refresh switch that is configured as `restricted`.
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
        if let burst = state.budget.burst {
            add("budgetBurst", "\(burst)", above: origin("scheduling.budgetBurst"))
        }
    }
}

extension TaskRequest {
    /// The headline of a request that waits for others; `nil` for other requests.
    fileprivate var headlineOfOther: String? {
        if let after { return "Waits until \(after) of the same task has ended." }
        guard let words = openPredecessorWords else { return nil }
        return "Waits until \(words) \(openPredecessors.count == 1 ? "has" : "have") succeeded."
    }

    /// The verdict about a request that waits for others; `nil` if it does not.
    fileprivate var waitForOther: Verdict? {
        guard let after else { return waitForPredecessors }
        return Verdict(
            policy: "Order", decision: .mustNotProceed, score: 0, weight: 0,
            rationale: [
                Rationale(
                    quantity: "predecessor", required: "at an end",
                    observed: "\(after) of the same task comes first, and has not ended",
                    remedy: "Wait until \(after) has ended, or cancel it: bgtask cancel \(after)")
            ], since: submittedAt)
    }

    private var waitForPredecessors: Verdict? {
        guard let first = openPredecessors.first, let words = openPredecessorWords else { return nil }
        return Verdict(
            policy: "Order", decision: .mustNotProceed, score: 0, weight: 0,
            rationale: [
                Rationale(
                    quantity: openPredecessors.count == 1 ? "predecessor" : "predecessors",
                    required: "successful",
                    observed: "\(words) \(openPredecessors.count == 1 ? "has" : "have") not succeeded",
                    remedy: "To see what \(first) waits for: bgtask explain \(first)")
            ], since: submittedAt)
    }
}
