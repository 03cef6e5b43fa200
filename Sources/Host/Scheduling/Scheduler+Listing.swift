public import TaskModel

extension Scheduler {
    /// The bundles that have a manifest or a stored state, sorted.
    public var knownBundles: [BundleIdentifier] {
        Set(situation.bundles.keys).union(situation.permits.bundleIdentifiers)
            .sorted { $0.rawValue < $1.rawValue }
    }

    /// Whether a bundle has a manifest or a stored state.
    public func knows(_ bundle: BundleIdentifier) -> Bool {
        situation.permits.has(bundle) || situation.bundles[bundle] != nil
    }

    /// The pause of the host; `nil` if there is none, or if it has ended.
    public func pause(at time: WallTime) -> Pause? {
        situation.hostPause.flatMap { $0.isInForce(at: time) ? $0 : nil }
    }

    /// The state of a bundle, with its budget of today.
    public func facts(of bundle: BundleIdentifier, at now: Moment) -> BundleFacts {
        var state = bundleState(bundle)
        state.refresh = settings.refreshInForce(of: bundle, state).permission
        let budget = state.budget.current(at: now.wall, in: situation)
        let (launches, cpu) = Budget.available(of: state, at: now, in: situation)
        return BundleFacts(
            bundle: bundle, isInstalled: situation.permits.has(bundle), state: state,
            launchesToday: budget.launches, launchLimit: budget.launchLimit(settings),
            cpuToday: budget.cpu, cpuLimit: budget.cpuLimit(settings),
            burst: budget.burst(settings), launchesByNow: launches, cpuByNow: cpu,
            weight: settings.weight(of: bundle), pause: situation.pause(of: state, at: now.wall)?.pause,
            ownPauses: state.pauses.filter { $0.isInForce(at: now.wall) })
    }
}

extension Scheduler {
    /// The task in a bundle's manifest that permits an identifier; `nil` if there is none.
    public func declaration(of identifier: TaskIdentifier, in bundle: BundleIdentifier) -> TaskDeclaration? {
        situation.permits.declaration(for: identifier, of: bundle)
    }

    /// The kind of the task in a bundle's manifest that permits an identifier; `nil` if there is none.
    public func kind(of identifier: TaskIdentifier, in bundle: BundleIdentifier) -> TaskKind? {
        declaration(of: identifier, in: bundle)?.kind
    }

    /// The effective permission for a bundle's background refresh: the host's own setting, or else the
    /// bundle's.
    public func refreshPermission(of bundle: BundleIdentifier) -> RefreshPermission {
        settings.refreshInForce(of: bundle, bundleState(bundle)).permission
    }

    /// The states of all bundles that have one.
    public var bundleStates: [BundleIdentifier: BundleState] { situation.bundles }

    /// All pending requests, in no particular order.
    public var pendingRequests: some Sequence<TaskRequest> { pending.all }
}

extension Scheduler {
    /// A pending request with the first verdict that prevents its start, as
    /// ``explain(_:at:)`` would list it, and with the headline of ``Foresight``.
    ///
    /// Only this verdict has texts for people, so a summary usually takes a fraction of the time of an
    /// explanation; a request that only its score holds needs a whole one.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - foresight: What would happen after changes, for all summaries of one listing.
    ///   - now: The time.
    /// - Returns: The summary.
    public func summary(
        of request: TaskRequest, _ foresight: inout Foresight, at now: Moment
    ) -> PendingSummary {
        // The index of the pending requests has the needs already. To collect them again for each row would
        // take a third of the time of a listing.
        let subject = situation.subject(request, pending.look(request.id)?.needs, isTelling: false)
        var (summary, vetoes) = summary(of: subject, at: now)
        summary.headline =
            foresight.isBrief(for: subject)
            ? foresight.headline(of: subject, heldBy: vetoes) : foresight.headline(of: request)
        return summary
    }

    /// A pending request with the first verdict that prevents its start, without a headline; and the policies
    /// that object, without the score and the window.
    private func summary(of subject: Subject, at now: Moment) -> (PendingSummary, [any Policy]) {
        let request = subject.request
        let isSimulated = pending.isSimulated(request.id)
        // One pass over the policies is enough; this matters for listings of very many requests.
        let (judgement, policies) = judgeWithVetoes(subject, isSimulated: isSimulated, at: now)
        let vetoes = policies.count + (judgement.scoreSuffices ? 0 : 1)
        guard vetoes > 0 else {
            let window = pending[request.id].flatMap { waitForEvent($0, at: now) }
            return (PendingSummary(request: request, reason: window, otherReasons: 0), [])
        }
        let reason: Verdict?
        if let first = policies.first {
            let telling = situation.subject(request, subject.needs, isTelling: true)
            reason = first.verdict(first.answer(for: telling, in: situation, at: now), in: situation)
        } else {
            // The verdict about the score comes last, and is made of the verdicts before it.
            reason =
                explain(
                    situation.subject(request, subject.needs, isTelling: true), isSimulated: isSimulated,
                    at: now
                ).vetoes.first
        }
        return (PendingSummary(request: request, reason: reason, otherReasons: vetoes - 1), policies)
    }
}
