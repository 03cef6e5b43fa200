public import TaskModel

extension Scheduler {
    /// The answers of all policies about starting a pending request now; ``handle(_:at:)`` acts on the same
    /// answers.
    ///
    /// - Returns: The explanation; `nil` if the request is not pending.
    public func explain(_ id: RequestID, at now: Moment) -> Explanation? {
        guard let request = pending[id] else { return nil }
        var explanation = explain(
            situation.subject(request, isTelling: true), isSimulated: pending.isSimulated(id), at: now)
        if explanation.mayStart, let wait = waitForEvent(request, at: now) {
            explanation.verdicts.append(wait)
        }
        return explanation
    }

    /// The verdict about a pending request that may start, but only with the next event; `nil` if it need not
    /// wait for one.
    func waitForEvent(_ request: TaskRequest, at now: Moment) -> Verdict? {
        guard isStarted, !isShuttingDown, !pending.isSimulated(request.id),
            let wake = pending.alarm(of: request.id), now.wall < wake
        else { return nil }
        return Verdict(
            policy: "Window", decision: .mustNotProceed, score: 0, weight: 0,
            rationale: [
                Rationale(
                    quantity: "wakeUp", required: wake.text, observed: "other work",
                    earliestChange: wake,
                    remedy: situation.remedy(
                        "Wait", orLaunch: situation.subject(request, isTelling: true)))
            ])
    }

    /// The answers of all policies about starting a request now, whether it is stored or not.
    public func explain(_ request: TaskRequest, at now: Moment) -> Explanation {
        explain(situation.subject(request, isTelling: true), isSimulated: false, at: now)
    }

    /// The verdict that determines what a request waits for.
    ///
    /// - Returns: The verdict; `nil` if the request may start.
    public func blockingFactor(of request: TaskRequest, at now: Moment) -> Verdict? {
        let isSimulated = pending.isSimulated(request.id)
        let subject = situation.subject(request, isTelling: true)
        let explanation = explain(subject, isSimulated: isSimulated, at: now)
        guard let wait = judge(subject, isSimulated: isSimulated, at: now).wait else {
            return explanation.vetoes.first ?? (pending[request.id].flatMap { waitForEvent($0, at: now) })
        }
        // Find the verdict of the policy that gave this answer.
        return explanation.vetoes.first {
            $0.rationale.first == wait.rationale && $0.decision == wait.decision
        }
    }

    /// The name of the policy that keeps a pending request waiting.
    ///
    /// This is the policy of ``blockingFactor(of:at:)``, but without texts, so that it is fast enough to call
    /// after every event.
    ///
    /// - Returns: The policy's name, `Score` if only the score is too low, or `Window` if the request starts
    ///   with the next event; `nil` if the request may start.
    public func waitingFor(_ id: RequestID, at now: Moment) -> String? {
        guard let request = pending[id] else { return nil }
        let subject = situation.subject(request, isTelling: false)
        let judgement = judge(subject, isSimulated: pending.isSimulated(id), at: now)
        if let policy = judgement.waitPolicy { return policy }
        if !judgement.scoreSuffices { return "Score" }
        return waitForEvent(request, at: now)?.policy
    }

    /// The date before which a request can't start, whether it is pending or not; `nil` if it has none.
    public func beginDate(of request: TaskRequest, at now: WallTime) -> WallTime? {
        EarliestBeginDate.date(of: request, situation.needs(of: request), at: now)
    }

    /// The pending request of an identifier; `nil` if there is none.
    public func pendingRequest(of identifier: TaskIdentifier) -> TaskRequest? {
        pending.request(of: identifier)
    }

    /// A pending request; `nil` if it is not pending, or waits for another one of its task.
    public func pendingRequest(_ id: RequestID) -> TaskRequest? { pending[id] }

    /// Starts the requests that may start, lane by lane, in the order of ``nextCandidate(_:)``.
    mutating func startCandidates(at now: Moment, _ actions: inout [SchedulerAction]) {
        passOverCandidates(at: now, &actions)
        takeNewClaims(at: now)
    }

    private mutating func passOverCandidates(at now: Moment, _ actions: inout [SchedulerAction]) {
        heldLanes = []
        isPassCut = false
        guard !isShuttingDown else { return }
        holdGroups(at: now)
        pending.release(until: now.wall)
        refreshClaims(at: now)
        var looks = Self.looksPerPass
        for lane in Lane.allCases {
            while situation.hasSlot(in: lane) {
                guard looks > 0 else {
                    isPassCut = true
                    return
                }
                guard let id = nextCandidate(lane) else { break }
                looks -= 1
                if place(id, at: now, &actions) { continue }
                heldLanes.insert(lane)
                break
            }
        }
    }

    /// Determines which groups the machine's conditions hold.
    private mutating func holdGroups(at now: Moment) {
        let situation = situation
        var waits = WaitBook()
        swap(&waits, &self.waits)
        pending.refreshHolds { group in
            guard group.traits.lane != .simulated else { return false }
            let subject = situation.subject(group.sample, group.traits.needs, isTelling: false)
            let holder = Self.policies.firstIndex { policy in
                guard policy.reach == .machine else { return false }
                let answer = policy.answer(for: subject, in: situation, at: now)
                return answer.isVeto && answer.rank == 0
            }
            waits.hold(group.traits, by: holder.map(WaitBook.Cause.init), at: now)
            return holder != nil
        }
        self.waits = waits
    }

    /// Removes and returns the next request of a lane to judge; `nil` if there is none.
    ///
    /// Candidates of bundles with fewer launches in the lane than
    /// ``SchedulerSettings/discretionarySlotsPerBundle`` come first, then other candidates; in both, bundles
    /// that had less service come first. Last are requests that wait for their own date, if that date could
    /// be the next alarm.
    mutating func nextCandidate(_ lane: Lane) -> RequestID? {
        let limit = settings.discretionarySlotsPerBundle
        let busy =
            lane.isFair && limit > 0
            ? situation.occupancy.slots(of: lane).byBundle.compactMap { $0.value >= limit ? $0.key : nil }
            : []
        if let id = pending.popCandidate(lane, avoiding: busy) { return id }
        if !busy.isEmpty, let id = pending.popCandidate(lane) { return id }
        return pending.popUnjudged(lane)
    }

    /// Starts a candidate or lets it wait; returns false if all other candidates of its lane must wait, too.
    private mutating func place(_ id: RequestID, at now: Moment, _ actions: inout [SchedulerAction]) -> Bool {
        guard let (request, needs, isSimulated) = pending.look(id) else { return true }
        let subject = situation.subject(request, needs, isTelling: false)
        prepareProspects(of: subject, at: now)
        let judgement = judge(subject, isSimulated: isSimulated, isDeciding: true, at: now)
        guard judgement.mayStart else { return hold(subject, judgement, at: now) }
        start(request, isSimulated: isSimulated, judgement, at: now, &actions)
        return true
    }

    /// Lets a candidate wait; returns false if it stays a candidate, and all others of its lane must wait,
    /// too.
    mutating func hold(_ subject: Subject, _ judgement: Judgement, at now: Moment) -> Bool {
        let (request, needs, id) = (subject.request, subject.needs, subject.request.id)
        noteWait(request, needs, judgement, at: now)
        // A slot alone does not help a request whose score is too low.
        let needsOnlySlot = judgement.wait.map { $0.fact == .slot } ?? true
        if needsOnlySlot, !judgement.scoreSuffices, let score = judgement.score {
            waitForScore(subject, score, judgement.choice, at: now)
            return true
        }
        guard let answer = judgement.wait else { return true }
        let isRate = Self.isRate(judgement)
        var until = answer.until
        if judgement.waitPolicy == Conflicts.name {
            // At that date, the request is judged again, and gets a claim.
            if let date = judgement.lastDate { until = until.map { min($0, date) } ?? date }
            conflictQueue.enter(request)
        }
        let alarm = until.map { self.alarm(of: subject, after: $0, isRate: isRate, at: now) }
        switch answer.fact {
        case .slot, .lane, nil:
            pending.makeCandidate(id)
            return false
        case .time: pending.wait(id, for: [], until: until, alarm: alarm ?? now.wall)
        case .bundle where answer.until == nil && judgement.waitReach == .bundle: pending.waitForBundle(id)
        case .conditions where judgement.waitPolicy == When().name:
            let facts = needs.constraints?.when.map { situation.facts(awaitedBy: $0, at: now.wall) }
            pending.wait(
                id, for: facts ?? [.conditions], until: until, alarm: alarm ?? now.wall)
        case .launch(let other) where until == nil && holdsAlike(other, request, judgement):
            pending.waitTogether(id, for: .launch(other))
        case .some(let fact): pending.wait(id, for: [fact], until: until, alarm: alarm ?? now.wall)
        }
        return true
    }

    /// Whether a conflicting launch holds all candidates of the same group and bundle as a request.
    ///
    /// They have the same conflicts, because these are part of what they need. If the launch is of another
    /// bundle, each request is judged alone, because it can get a claim.
    private func holdsAlike(
        _ other: TaskIdentifier, _ request: TaskRequest, _ judgement: Judgement
    ) -> Bool {
        judgement.waitPolicy == Conflicts.name
            && situation.occupancy.requests[other].flatMap { launches[$0] }?.request.bundle == request.bundle
    }

    /// Lets a request wait until its score can be high enough.
    ///
    /// It waits until conditions or the bundle change, or until the threshold has fallen. If a busy machine
    /// would raise its score enough, it also waits for another launch.
    private mutating func waitForScore(
        _ subject: Subject, _ score: ScoreSum, _ choice: MomentChoice?, at now: Moment
    ) {
        var date = dateOfScore(score, subject, choice, at: now)
        // Each day, old conduct stops counting, which can raise the score without an event.
        if !subject.bundle.conduct.days.isEmpty {
            date = min(date, situation.start(ofDay: situation.localDay(now.wall) + 1))
        }
        let beside = score.replacing(coalescing: 1)
        let companion =
            suffices(beside, subject, choice, at: now)
            ? .distantPast : dateOfScore(beside, subject, choice, at: now)
        pending.wait(
            subject.request.id, for: [.scores], until: date,
            alarm: alarm(of: subject, after: date, at: now),
            companion: !situation.occupancy.isBusy && companion < date ? companion : nil)
    }

    mutating func start(
        _ request: TaskRequest, isSimulated: Bool, _ judgement: Judgement, at now: Moment,
        _ actions: inout [SchedulerAction]
    ) {
        var explanation = explain(
            situation.subject(request, isTelling: true), isSimulated: isSimulated, at: now)
        explanation.waited = waited(request, at: now)
        waits.leave(request.id)
        situation.stoppedByCondition[request.identifier] = nil
        let wasBusy = situation.occupancy.isBusy
        pending.remove(request.id)
        var launch = ActiveLaunch(
            request, situation.permits.declaration(for: request.identifier, of: request.bundle),
            situation.needs(of: request), isSimulated: isSimulated)
        launch.exempt = isSimulated ? policiesThatStop(launch, at: now) : []
        launch.beganIdle =
            situation.conditions.user == .known(.idle) && !isSimulated && !settings.ignoresDeviceActivity
            && situation.permits.declaration(for: request.identifier, of: request.bundle)?
                .ignoresDeviceActivity != true
        launch.isTrickle = request.isDiscretionary && !isSimulated && situation.isTrickling
        launch.priority = priority(of: launch)
        launch.previousLaunch = isSimulated ? nil : countLaunch(of: request, at: now)
        if wasBusy, let score = judgement.score {
            let alone = score.replacing(coalescing: settings.scores.nothingRunning)
            if !suffices(alone, situation.subject(request, isTelling: false), judgement.choice, at: now) {
                // A count for people helps no request, so none is judged again.
                changeBundle(request.bundle, canRelease: false) { $0.wakeUpsSaved += 1 }
            }
        }
        situation.occupancy.begin(request, at: now.wall)
        enterConflicting(with: request.identifier)
        launches[request.id] = launch
        let isScheduled = request.submission.origin == .schedule && request.attempt == 1
        schedules.began(
            request.identifier, at: now.wall,
            scheduled: isScheduled ? request.submission.earliestBeginDate : nil)
        actions.append(
            .launch(request.id, isSimulated: isSimulated, priority: launch.priority, because: explanation))
        pending.releaseCompanions(until: now.wall)
    }

    /// The priority that a launch should have now.
    func priority(of launch: ActiveLaunch) -> LaunchPriority {
        if situation.foreground.contains(launch.request.bundle) { return .foreground }
        if launch.isTrickle && situation.isTrickling { return .idle }
        return launch.request.isDiscretionary ? .discretionary : .requested
    }
}
