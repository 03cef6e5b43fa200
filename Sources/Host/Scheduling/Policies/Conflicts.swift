import TaskModel

/// Holds a request while a conflicting task (`conflicts`) runs, or while an older conflicting request waits.
///
/// A conflict works in both directions, whichever manifest states it. Requests that wait only for conflicting
/// launches have a *claim*, and start in the order in which they began to wait: a younger request that
/// conflicts with a claim waits, too. So none waits forever. A claim depends only on launches under way and
/// on older claims, so no two wait for each other.
///
/// A launch that has had its turn is stopped as soon as such a request could then start, see
/// ``Scheduler/endTurns(at:_:)``.
///
/// A manifest can name tasks of other bundles, whose authors need not know of it, and continued tasks have no
/// turn. So a conflict that only one
/// of two bundles states has a limit, ``SchedulerSettings/conflictLimit``. If nothing but the conflict and a
/// lack of slots has held a request of the other bundle for this time in all, the launch that holds it is
/// stopped, as soon as the request could then start. Its own request is put back behind the held one. A
/// request that has claimed its turn for this time no longer holds requests of other bundles.
///
/// This also applies to `bgtask launch`, because such tasks would damage each other's data.
struct Conflicts: Policy {
    static let name = "Conflicts"
    var name: String { Self.name }
    let isPermission = true
    let endReason: Reason? = .leaseEnded

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard situation.permits.hasConflicts else { return subject.proceed() }
        let patterns = subject.needs.conflicts
        if patterns.isEmpty { return subject.proceed() }
        if subject.isRunning { return answer(forLaunch: subject, in: situation, at: now) }
        let request = subject.request
        if let other = situation.occupancy.first(of: patterns, but: request.identifier) {
            return subject.wait(
                for: .launch(other), since: situation.occupancy.beginnings[other],
                Rationale(
                    quantity: "conflict", required: "have ended",
                    observed: "\(other) is running",
                    earliestChange: situation.end(ofHoldBy: other, on: request, at: now),
                    remedy: "Wait until it ends, or stop it: bgtask expire \(other)"))
        }
        let claim = situation.claims.first { claim in
            claim.id != request.id && claim.isOlder(than: request)
                && patterns.contains { $0.matches(claim.identifier) }
                && !situation.isOverdue(claim, for: request, at: now)
        }
        guard let claim else { return subject.proceed() }
        let isForeign = situation.isForeign(
            claim.identifier, of: claim.bundle, to: request.identifier, of: request.bundle)
        let end = isForeign ? situation.end(of: claim, at: now) : nil
        return subject.wait(
            for: .launch(claim.identifier), until: end, since: claim.since,
            Rationale(
                quantity: "conflict", required: "have run",
                observed: "\(claim.identifier) goes first, because it has waited longer",
                earliestChange: end,
                remedy: "Wait, or cancel the other request: bgtask cancel \(claim.identifier)"))
    }

    /// Stops a launch that has held a request of another bundle for too long.
    private func answer(forLaunch subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let request = subject.request
        guard let claim = situation.firstClaim(heldBy: request.identifier, of: request.bundle),
            claim.heldSince + situation.settings.conflictLimit <= now.boot
        else { return subject.proceed() }
        return subject.stop(
            until: .launch(claim.identifier), since: claim.since,
            Rationale(
                quantity: "conflict", required: "have run",
                observed: "\(claim.identifier) of another bundle has waited for the end of this launch for "
                    + (now.boot - claim.heldSince).elapsedText,
                remedy:
                    "Remove \(claim.identifier) from 'conflicts' in the manifest of \(request.bundle), or "
                    + "make the launches of \(request.identifier) shorter"))
    }
}

extension Situation {
    /// Whether a task is of another bundle, and its manifest alone states its conflict with the task that
    /// it holds.
    func isForeign(
        _ holder: TaskIdentifier, of bundle: BundleIdentifier, to held: TaskIdentifier,
        of other: BundleIdentifier
    ) -> Bool {
        bundle != other && !permits.states(conflictOf: held, of: other, with: holder)
    }

    /// Of the requests of other bundles that wait for a launch, the one that has been held longest; `nil` if
    /// there is none.
    func firstClaim(heldBy identifier: TaskIdentifier, of bundle: BundleIdentifier) -> ConflictClaim? {
        if claims.isEmpty { return nil }
        let patterns = permits.conflicts(with: identifier)
        return claims.filter { claim in
            patterns.contains { $0.matches(claim.identifier) }
                && isForeign(identifier, of: bundle, to: claim.identifier, of: claim.bundle)
                && wouldHelp(claim)
        }.min { ($0.heldSince, $0.id) < ($1.heldSince, $1.id) }
    }

    /// Whether the request of a claim could start if the launches of other bundles that hold it were gone.
    ///
    /// They may occupy the slot that it needs. If a launch of its own bundle holds it as well, or launches
    /// with which it has no conflict occupy all slots, then stopping the others would cost their work for
    /// nothing.
    private func wouldHelp(_ claim: ConflictClaim) -> Bool {
        let patterns = permits.conflicts(with: claim.identifier)
        let holders = occupancy.all(of: patterns, but: claim.identifier)
        guard holders.allSatisfy({ isForeign($0, to: claim) }) else { return false }
        return hasSlot(in: claim.lane, without: holders)
    }

    private func isForeign(_ holder: TaskIdentifier, to claim: ConflictClaim) -> Bool {
        permits.owner(of: holder).map {
            isForeign(holder, of: $0.manifest.bundle, to: claim.identifier, of: claim.bundle)
        } ?? false
    }

    /// Whether a launch of another bundle, whose manifest alone states the conflict, holds a task.
    fileprivate func isHeldByForeign(_ identifier: TaskIdentifier, of bundle: BundleIdentifier) -> Bool {
        occupancy.all(of: permits.conflicts(with: identifier), but: identifier).contains { holder in
            permits.owner(of: holder).map {
                isForeign(holder, of: $0.manifest.bundle, to: identifier, of: bundle)
            } ?? false
        }
    }

    /// Whether a slot of the lane is free if some launches are not counted.
    func hasSlot(in lane: Lane, without launches: [TaskIdentifier]) -> Bool {
        let lanes = launches.compactMap { occupancy.lanes[$0] }
        guard occupancy.slots(of: lane).count - lanes.count(where: { $0 == lane }) < slots(of: lane) else {
            return false
        }
        return !lane.isFair
            || occupancy.discretionary - lanes.count(where: \.isFair) < deferrableSlots
    }

    /// When a claim ceases to hold requests of other bundles; it may lie in the past.
    fileprivate func end(of claim: ConflictClaim, at now: Moment) -> WallTime {
        now.wall + (claim.heldSince + settings.conflictLimit - now.boot)
    }

    /// Whether a claim is too old to hold a request of another bundle.
    fileprivate func isOverdue(_ claim: ConflictClaim, for request: TaskRequest, at now: Moment) -> Bool {
        claim.heldSince + settings.conflictLimit <= now.boot
            && isForeign(claim.identifier, of: claim.bundle, to: request.identifier, of: request.bundle)
    }

    /// When the host stops a launch because it holds a request; `nil` if it does not.
    fileprivate func end(
        ofHoldBy identifier: TaskIdentifier, on request: TaskRequest, at now: Moment
    ) -> WallTime? {
        guard let claim = claims.first(where: { $0.id == request.id }),
            let bundle = permits.owner(of: identifier)?.manifest.bundle,
            isForeign(identifier, of: bundle, to: request.identifier, of: request.bundle)
        else { return nil }
        return end(of: claim, at: now)
    }
}

extension Scheduler {
    /// Determines which requests have a claim now: those that only conflicts and slots keep from starting.
    mutating func refreshClaims(at now: Moment) {
        if conflictQueue.isEmpty, situation.claims.isEmpty { return }
        let before = situation.claims
        updateQueue(at: now) { _ in true }
        situation.claims = conflictQueue.claims
        let identifiers = Set(situation.claims.map(\.id))
        for claim in before where !identifiers.contains(claim.id) {
            // Requests that let this claim go first are waiting for a launch that does not come now.
            if situation.occupancy.requests[claim.identifier] == nil {
                pending.release(.launch(claim.identifier))
            }
        }
    }

    /// Adds the claims of requests that were found in this pass, and sets the times at which launches are
    /// stopped that hold them.
    ///
    /// No claim is removed here, because those who let it go first would be judged only after the next event.
    mutating func takeNewClaims(at now: Moment) {
        nextClaim = nil
        if conflictQueue.isEmpty { return }
        let known = Set(situation.claims.map(\.id))
        updateQueue(at: now) { !known.contains($0.id) }
        for id in conflictQueue.shorten() { pending.makeCandidate(id) }
        situation.claims = conflictQueue.claims
        for (request, launch) in launches {
            if let end = endOfHold(by: launch) { agenda.advanceInstant(to: end, of: request) }
        }
        nextClaim = firstDateOfClaim(at: now)
    }

    /// Enters a request that becomes pending and conflicts with a launch under way.
    ///
    /// If its lane is full, no candidate is judged, so that only this finds it.
    mutating func enterIfConflicting(_ request: TaskRequest) {
        guard situation.permits.hasConflicts, conflictingLaunch(with: request.identifier) != nil else {
            return
        }
        conflictQueue.enter(request)
    }

    /// Enters the pending requests that conflict with a launch that begins.
    mutating func enterConflicting(with identifier: TaskIdentifier) {
        guard situation.permits.hasConflicts else { return }
        for pattern in situation.permits.conflicts(with: identifier) {
            for request in pending.requests(matching: pattern, atMost: 2 * ConflictQueue.most)
            where request.identifier != identifier { conflictQueue.enter(request) }
        }
    }

    /// When a launch is stopped because of a request of another bundle that it holds, on CLOCK_BOOTTIME;
    /// `nil` if it holds none.
    func endOfHold(by launch: ActiveLaunch) -> Duration? {
        if launch.isExpiring || launch.id == nil { return nil }
        let claim = situation.firstClaim(heldBy: launch.request.identifier, of: launch.request.bundle)
        return claim.map { $0.heldSince + settings.conflictLimit }
    }

    private mutating func updateQueue(at now: Moment, where isChosen: (ConflictQueue.Entry) -> Bool) {
        var queue = ConflictQueue()
        swap(&queue, &conflictQueue)
        queue.update(at: now.boot) { entry in
            isChosen(entry) ? state(of: entry, at: now) : (entry.activeSince != nil, entry.lane)
        }
        conflictQueue = queue
    }

    private func conflictingLaunch(with identifier: TaskIdentifier) -> TaskIdentifier? {
        let patterns = situation.permits.conflicts(with: identifier)
        return patterns.isEmpty ? nil : situation.occupancy.first(of: patterns, but: identifier)
    }

    /// Whether only conflicts and slots hold a request, and its lane; `nil` if no conflict holds it, or if it
    /// is not pending.
    ///
    /// A claim outlasts the conflict until the request starts. Otherwise, the request of the launch that was
    /// stopped for it could start before it, in a lane that comes first.
    private func state(of entry: ConflictQueue.Entry, at now: Moment) -> (isActive: Bool, lane: Lane)? {
        guard let (request, needs, isSimulated) = pending.look(entry.id), entry.since == request.waitingSince
        else { return nil }
        let subject = situation.subject(request, needs, isTelling: false)
        let isHeld = Conflicts().answer(for: subject, in: situation, at: now).isVeto
        guard isHeld || entry.activeSince != nil else { return nil }
        let lane = isSimulated ? Lane.simulated : request.lane
        let isActive = isHeldByNothingElse(subject, in: lane, isSimulated: isSimulated, at: now)
        return isHeld || isActive ? (isActive, lane) : nil
    }

    /// Whether nothing but conflicts and slots holds a request.
    private func isHeldByNothingElse(
        _ subject: Subject, in lane: Lane, isSimulated: Bool, at now: Moment
    ) -> Bool {
        // If no slot can become free, the claim must not keep the others waiting.
        guard situation.hasSlot(in: lane) || situation.occupancy.isBusy else { return false }
        for policy in Self.policies where !isSimulated || policy.isPermission {
            let answer = policy.answer(for: subject, in: situation, at: now)
            if answer.isVeto, answer.fact != .slot, policy.name != Conflicts.name { return false }
        }
        return judge(subject, isSimulated: isSimulated, at: now).scoreSuffices
    }

    /// Whether a conflicting launch that has a turn holds a task.
    private func isHeldByTurn(_ identifier: TaskIdentifier) -> Bool {
        situation.occupancy.all(of: situation.permits.conflicts(with: identifier), but: identifier)
            .contains { holder in
                situation.occupancy.requests[holder].flatMap { launches[$0] }?.turnEnd != nil
            }
    }

    /// When the clock alone gives a request a claim against a launch that must end for it; `nil` if it gives
    /// none.
    ///
    /// Without this date, the time for which the launch may hold the request would begin only with the next
    /// event, and a launch that has had its turn would go on until then.
    private func firstDateOfClaim(at now: Moment) -> WallTime? {
        conflictQueue.entries.compactMap { entry -> WallTime? in
            guard entry.activeSince == nil, let (request, needs, isSimulated) = pending.look(entry.id),
                situation.isHeldByForeign(entry.identifier, of: entry.bundle)
                    || isHeldByTurn(entry.identifier)
            else { return nil }
            let subject = situation.subject(request, needs, isTelling: false)
            var date = now.wall
            for policy in Self.policies where !isSimulated || policy.isPermission {
                let answer = policy.answer(for: subject, in: situation, at: now)
                guard answer.isVeto, answer.fact != .slot, policy.name != Conflicts.name else { continue }
                guard let end = answer.until else { return nil }
                date = max(date, end)
            }
            return date > now.wall ? alarm(of: subject, after: date, at: now) : nil
        }.min()
    }
}

extension Occupancy {
    /// The running identifiers that one of the patterns matches.
    func all(of patterns: [IdentifierPattern], but own: TaskIdentifier) -> [TaskIdentifier] {
        if patterns.isEmpty { return [] }
        return requests.keys.filter { identifier in
            identifier != own && patterns.contains { $0.matches(identifier) }
        }
    }

    /// The first running identifier, by name, that one of the patterns matches.
    func first(of patterns: [IdentifierPattern], but own: TaskIdentifier) -> TaskIdentifier? {
        var found: TaskIdentifier?
        for pattern in patterns {
            if !pattern.isWildcard {
                if pattern.base != own, requests[pattern.base] != nil,
                    found.map({ pattern.base < $0 }) ?? true
                {
                    found = pattern.base
                }
                continue
            }
            for identifier in requests.keys where identifier != own && pattern.matches(identifier) {
                if found.map({ identifier < $0 }) ?? true { found = identifier }
            }
        }
        return found
    }
}
