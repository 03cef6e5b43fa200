import TaskModel

/// Holds a request while a conflicting task (`conflicts`) runs, or while an older conflicting request waits.
///
/// A conflict works in both directions, whichever manifest states it. Requests that wait only for conflicting
/// launches have a *claim*, and start in the order in which they began to wait: a younger request that
/// conflicts with a claim waits, too. So none waits forever. A claim depends only on launches under way and
/// on older claims, so no two wait for each other.
///
/// A manifest can name tasks of other bundles, whose authors need not know of it. So a conflict that only one
/// of two bundles states has a limit, ``SchedulerSettings/conflictLimit``. If nothing else has held a request
/// of the other bundle for this time, the launch that holds it is stopped, and its request is put back behind
/// the held one. A request that has claimed its turn for this time no longer holds requests of other bundles.
///
/// This also applies to `bgtask launch`, because such tasks would damage each other's data.
struct Conflicts: Policy {
    static let name = "Conflicts"
    var name: String { Self.name }
    let isPermission = true
    let endReason: Reason? = .leaseEnded

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard situation.permits.hasConflicts else { return subject.proceed() }
        let patterns = situation.permits.conflicts(with: subject.request.identifier)
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
        }.min { ($0.heldSince, $0.id) < ($1.heldSince, $1.id) }
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

/// A request that could start if no conflicting launch were under way; younger ones let it go first.
struct ConflictClaim: Equatable, Sendable {
    let id: RequestID
    let identifier: TaskIdentifier
    let bundle: BundleIdentifier
    /// Since when the request waits.
    let since: WallTime
    /// Since when only conflicts and slots have held it, on CLOCK_BOOTTIME.
    let heldSince: Duration

    /// Whether the request of the claim has waited longer than another one.
    func isOlder(than request: TaskRequest) -> Bool { (since, id) < (request.waitingSince, request.id) }
}

/// The oldest requests that were found to wait for a conflicting launch.
///
/// Few are kept, because each of them is judged after each event. The others are judged again when the launch
/// ends for which they wait.
struct ConflictQueue: Sendable {
    /// The greatest number of requests: 32, our choice.
    static let most = 32

    private(set) var claims: [ConflictClaim] = []

    var isEmpty: Bool { claims.isEmpty }

    /// Adds a request that was found to wait for a conflicting launch at a time on CLOCK_BOOTTIME.
    mutating func enter(_ request: TaskRequest, at boot: Duration) {
        guard !claims.contains(where: { $0.id == request.id }) else { return }
        let claim = ConflictClaim(
            id: request.id, identifier: request.identifier, bundle: request.bundle,
            since: request.waitingSince, heldSince: boot)
        let index = claims.firstIndex { !$0.isOlder(than: request) } ?? claims.count
        claims.insert(claim, at: index)
        if claims.count > Self.most { claims.removeLast() }
    }

    mutating func keep(_ isKept: (ConflictClaim) -> Bool) { claims.removeAll { !isKept($0) } }
}

extension Scheduler {
    /// Determines which requests have a claim now: those that only conflicts and slots keep from starting.
    mutating func refreshClaims(at now: Moment) {
        if conflictQueue.isEmpty, situation.claims.isEmpty { return }
        let before = situation.claims
        let scheduler = self
        conflictQueue.keep { scheduler.isHeldOnlyByConflict($0, at: now) }
        situation.claims = conflictQueue.claims
        for claim in before where !situation.claims.contains(claim) {
            // Requests that let this claim go first wait for a launch that does not come now.
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
        if conflictQueue.isEmpty { return }
        let known = situation.claims
        let scheduler = self
        situation.claims = conflictQueue.claims.filter { claim in
            known.contains(claim) || scheduler.isHeldOnlyByConflict(claim, at: now)
        }
        for (request, launch) in launches {
            if let end = endOfHold(by: launch) { agenda.advanceInstant(to: end, of: request) }
        }
    }

    /// When a launch is stopped because of a request of another bundle that it holds, on CLOCK_BOOTTIME;
    /// `nil` if it holds none.
    func endOfHold(by launch: ActiveLaunch) -> Duration? {
        if launch.isExpiring || launch.id == nil { return nil }
        let claim = situation.firstClaim(heldBy: launch.request.identifier, of: launch.request.bundle)
        return claim.map { $0.heldSince + settings.conflictLimit }
    }

    private func isHeldOnlyByConflict(_ claim: ConflictClaim, at now: Moment) -> Bool {
        guard let (request, needs, isSimulated) = pending.look(claim.id), claim.since == request.waitingSince
        else { return false }
        // If no slot can become free, the claim must not keep the others waiting.
        let lane = isSimulated ? Lane.simulated : request.lane
        guard situation.hasSlot(in: lane) || situation.occupancy.isBusy else { return false }
        let subject = situation.subject(request, needs, isTelling: false)
        for policy in Self.policies where !isSimulated || policy.isPermission {
            let answer = policy.answer(for: subject, in: situation, at: now)
            if answer.isVeto, answer.fact != .slot, policy.name != Conflicts.name { return false }
        }
        return judge(subject, isSimulated: isSimulated, at: now).scoreSuffices
    }
}

extension Occupancy {
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
