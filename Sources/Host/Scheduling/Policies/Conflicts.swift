import TaskModel

/// Holds a request while a conflicting task (`conflicts`) runs, or while an older conflicting request waits.
///
/// A conflict works in both directions, whichever manifest states it. Requests that wait only for conflicting
/// launches have a *claim*, and start in the order in which they began to wait: a younger request that
/// conflicts with a claim waits, too. So none waits forever. A claim depends only on launches under way and
/// on older claims, so no two wait for each other.
///
/// This also applies to `bgtask launch`, because such tasks would damage each other's data.
struct Conflicts: Policy {
    static let name = "Conflicts"
    var name: String { Self.name }
    let isPermission = true

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard situation.permits.hasConflicts else { return subject.proceed() }
        let patterns = situation.permits.conflicts(with: subject.request.identifier)
        if patterns.isEmpty { return subject.proceed() }
        if subject.isRunning { return subject.proceed() }
        if let other = situation.occupancy.first(of: patterns, but: subject.request.identifier) {
            return subject.wait(
                for: .launch(other), since: situation.occupancy.beginnings[other],
                Rationale(
                    quantity: "conflict", required: "have ended",
                    observed: "\(other) is running",
                    remedy: "Wait until it ends, or stop it: bgtask expire \(other)"))
        }
        let claim = situation.claims.first { claim in
            claim.id != subject.request.id && claim.isOlder(than: subject.request)
                && patterns.contains { $0.matches(claim.identifier) }
        }
        guard let claim else { return subject.proceed() }
        return subject.wait(
            for: .launch(claim.identifier), since: claim.since,
            Rationale(
                quantity: "conflict", required: "have run",
                observed: "\(claim.identifier) goes first, because it has waited longer",
                remedy: "Wait, or cancel the other request: bgtask cancel \(claim.identifier)"))
    }
}

/// A request that could start if no conflicting launch were under way; younger ones let it go first.
struct ConflictClaim: Equatable, Sendable {
    let id: RequestID
    let identifier: TaskIdentifier
    /// Since when the request waits.
    let since: WallTime

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

    mutating func enter(_ request: TaskRequest) {
        guard !claims.contains(where: { $0.id == request.id }) else { return }
        let claim = ConflictClaim(id: request.id, identifier: request.identifier, since: request.waitingSince)
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
