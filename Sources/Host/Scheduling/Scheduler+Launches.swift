import TaskModel

extension Scheduler {
    mutating func applyToLaunch(
        _ event: SchedulerEvent, at now: Moment, _ actions: inout [SchedulerAction]
    ) {
        switch event {
        case .launchStarted(let id, let request): started(id, request)
        case .launchNotStarted(let request, let retry): notStarted(request, retry: retry, at: now)
        case .launchReady(let id): withLaunch(id) { $0.becameReady(at: now) }
        case .progressed(let id, let progress, let changedAt):
            let settings = settings
            withLaunch(id) { $0.progressed(progress, at: changedAt ?? now.monotonic, settings) }
        case .launchActive(let id): withLaunch(id) { $0.becameActive() }
        case .cpuMeasured(let id, let time):
            let least = settings.leastCPU
            withLaunch(id) { $0.measured(time, least: least) }
        case .answered(let id, true): withLaunch(id) { $0.progress.keepGoing(at: now.monotonic) }
        case .answered(let id, false): expire(id, .cancelledByUser, nil, at: now, &actions)
        case .tracingChanged(let id, let isTraced): withLaunch(id) { $0.setTraced(isTraced, at: now) }
        case .expireRequested(let id, let reason): expire(id, reason, nil, at: now, &actions)
        case .launchExpiring(let id): withLaunch(id) { $0.beginExpiring(at: now) }
        case .launchEnded(let id, let putBack, let ending): ended(id, putBack, ending, at: now)
        default: break
        }
    }

    private mutating func withLaunch(_ id: LaunchID, _ change: (inout ActiveLaunch) -> Void) {
        guard let request = requestOfLaunch[id], var launch = launches[request] else { return }
        change(&launch)
        launches[request] = launch
        agenda.touch(request)
    }

    private mutating func started(_ id: LaunchID, _ request: RequestID) {
        guard launches[request] != nil, launches[request]?.id == nil else { return }
        launches[request]?.id = id
        requestOfLaunch[id] = request
        agenda.check(request)
    }

    private mutating func notStarted(_ id: RequestID, retry: WallTime, at now: Moment) {
        guard let launch = launches[id], launch.id == nil else { return }
        var request = launch.request
        // A back-off too far in the future was set before the wall clock was set back, and policies ignore
        // it. It must be dropped, or the request would start again immediately.
        let limit = now.wall + situation.needs(of: request).longestBackOff
        let backOff = request.notBefore.flatMap { $0 <= limit ? $0 : nil }
        request.notBefore = backOff.map { max($0, retry) } ?? retry
        finish(request, at: now)
        uncountLaunch(launch)
        returnToPending(request, at: now)
    }

    private mutating func ended(
        _ id: LaunchID, _ putBack: TaskRequest?, _ ending: LaunchEnding, at now: Moment
    ) {
        guard let request = requestOfLaunch.removeValue(forKey: id), let launch = launches[request] else {
            return
        }
        finish(launch.request, at: now)
        account(launch, ending, at: now)
        if let putBack {
            if launch.isEndedForOthers { refundLaunch(launch) }
            if let reason = ending.expiration, reason.isByCondition {
                situation.stoppedByCondition[putBack.identifier] = (putBack.id, reason)
            }
            // The host's core puts a request of a queue back to its place, and submits it when it is the
            // first one again.
            if !putBack.isQueued { returnToPending(putBack, at: now) }
        }
    }

    /// Makes a request pending again, unless a newer request of its identifier is pending.
    private mutating func returnToPending(_ request: TaskRequest, at now: Moment) {
        if !request.isQueued, let other = pending.request(of: request.identifier), other.id != request.id {
            return
        }
        noteStartDeadline(of: request)
        pending.insert(request, situation.needs(of: request), at: now.wall)
        enterIfConflicting(request)
        beginWait(of: request, at: now)
    }

    private mutating func finish(_ request: TaskRequest, at now: Moment) {
        launches[request.id] = nil
        endedTurns.remove(request.id)
        agenda.remove(request.id)
        situation.occupancy.end(request, at: now.wall)
        pending.release(.launch(request.identifier))
        schedules.touch(request.identifier)
    }

    /// Asks a launch to stop, unless it was asked already.
    mutating func expire(
        _ id: LaunchID, _ reason: Reason, _ verdict: Verdict?, at now: Moment,
        _ actions: inout [SchedulerAction]
    ) {
        guard let request = requestOfLaunch[id], launches[request]?.isExpiring == false else { return }
        launches[request]?.beginExpiring(at: now)
        endedTurns.remove(request)
        agenda.setInstant(nil, of: request)
        let record = verdict.map { Explanation(question: .stop, at: now.wall, verdicts: [$0]) }
        actions.append(.expire(id, reason, because: record))
    }

    /// Updates the CPU limit and priority of every launch, asks the user about stalls, and stops launches.
    ///
    /// A launch is stopped at a shutdown, if a policy demands it, or because of its lease or progress.
    mutating func settleLaunches(at now: Moment, _ actions: inout [SchedulerAction]) {
        let pass = agenda.takePass(at: now.boot)
        if pass.checked == nil { noticeSatisfied(at: now) }
        for (id, request) in launchesOf(pass) {
            guard var launch = launches[request] else { continue }
            let isRelaxed = launch.needs.externalPower && situation.conditions.isExternalPowerConnected
            if launch.isRelaxed != isRelaxed {
                launch.isRelaxed = isRelaxed
                actions.append(.setCPULimitRelaxed(id, isRelaxed))
            }
            let priority = priority(of: launch)
            // A launch that stops keeps its priority: a lower one would take time from its grace period.
            if launch.priority != priority, !launch.isExpiring || priority == .foreground {
                launch.priority = priority
                actions.append(.setPriority(id, priority))
            }
            var end: (Reason, Verdict)?
            let endOfHold = endOfHold(by: launch)
            let mustCheck =
                pass.checks(request) || launch.isTimed || endOfHold.map { $0 <= now.boot } ?? false
            if mustCheck, !launch.isExpiring { reconsider(&launch, id, at: now, &actions) }
            if !launch.isExpiring {
                end =
                    endOfShutdown(at: now) ?? (mustCheck ? endOfPolicies(launch, at: now) : nil)
                    ?? launch.endOfTime(at: now, situation.conditions, settings)
                if end == nil, let question = launch.question(at: now, settings) {
                    actions.append(.ask(id, because: question))
                }
            }
            if launch.takeMeasurement() { actions.append(.measureCPU(id)) }
            launches[request] = launch
            noteTurn(of: launch, at: now)
            let check = launch.isTimed && !launch.isExpiring ? nextCheck(of: launch, at: now) : nil
            agenda.setInstant(
                [launch.nextInstant(at: now, settings), check, launch.isExpiring ? nil : endOfHold]
                    .compactMap(\.self).min(), of: request)
            if let (reason, verdict) = end { expire(id, reason, verdict, at: now, &actions) }
        }
        relievePressure(at: now, &actions)
    }

    /// When the clock alone can next change what the policies say of a launch, on CLOCK_BOOTTIME; `nil` if it
    /// can't.
    private func nextCheck(of launch: ActiveLaunch, at now: Moment) -> Duration? {
        let check = situation.nextCheck(of: launch.needs, at: now)
        let pause =
            launch.deferral?.reason == .paused
            ? situation.pause(of: bundleState(launch.request.bundle), at: now.wall)?.pause.until : nil
        // Then pressure holds activities no longer, and launches of the trickle have the lowest priority.
        let trickle = situation.pressureEnd.flatMap { $0 > now.wall ? $0 : nil }
        let dates = [pause, trickle].compactMap(\.self).map { now.boot + ($0 - now.wall) }
        return ([check].compactMap(\.self) + dates).min()
    }

    /// The launches that a pass looks at, oldest first.
    private func launchesOf(_ pass: LaunchAgenda.Pass) -> [(LaunchID, RequestID)] {
        let found =
            pass.requests.map { requests in
                requests.compactMap { request in launches[request]?.id.map { ($0, request) } }
            } ?? requestOfLaunch.map { ($0.key, $0.value) }
        return found.sorted { $0.0 < $1.0 }
    }

    private func endOfShutdown(at now: Moment) -> (Reason, Verdict)? {
        guard isShuttingDown else { return nil }
        return (
            .hostShutdown,
            .stop("Host", Rationale(quantity: "host", required: "running", observed: "stopping"))
        )
    }

    /// The first policy that demands a stop, with the verdict as `explain` prints it; `nil` if there is none.
    private func endOfPolicies(_ launch: ActiveLaunch, at now: Moment) -> (Reason, Verdict)? {
        let subject = situation.subject(launch.request, isRunning: true, isTelling: false)
        for (index, policy) in Self.policies.enumerated() {
            guard let reason = policy.endReason, !launch.exempt.contains(index),
                !mayDefer(launch, policy)
            else { continue }
            let answer = policy.answer(for: subject, in: situation, at: now)
            guard answer.decision == .absolutelyMustNotProceed else { continue }
            let told = policy.answer(
                for: situation.subject(launch.request, isRunning: true, isTelling: true), in: situation,
                at: now)
            return (answer.reason ?? reason, policy.verdict(told, in: situation))
        }
        return nil
    }

    /// The policies, by index, that would stop this launch now; a simulated launch begins in spite of them.
    func policiesThatStop(_ launch: ActiveLaunch, at now: Moment) -> Set<Int> {
        let subject = situation.subject(launch.request, isRunning: true, isTelling: false)
        let stopping = Self.policies.indices.filter { index in
            let policy = Self.policies[index]
            guard !policy.isPermission, policy.endReason != nil || policy.deferralReason != nil else {
                return false
            }
            let answer = policy.answer(for: subject, in: situation, at: now)
            return answer.decision == .absolutelyMustNotProceed
                || (launch.request.kind == .activity && answer.isVeto && answer.fact != .slot)
        }
        return Set(stopping)
    }

    /// Lets policies stop a simulated launch from now on if they no longer object to it.
    private mutating func noticeSatisfied(at now: Moment) {
        for (request, launch) in launches where !launch.exempt.isEmpty {
            let stopping = policiesThatStop(launch, at: now)
            launches[request]?.exempt.formIntersection(stopping)
        }
    }
}

extension Verdict {
    /// The verdict of a rule that is not a policy and that stops a launch.
    static func stop(_ rule: String, _ rationale: Rationale, since: WallTime? = nil) -> Verdict {
        Verdict(
            policy: rule, decision: .absolutelyMustNotProceed, score: 0, weight: 0, rationale: [rationale],
            since: since)
    }
}
