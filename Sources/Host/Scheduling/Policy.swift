import TaskModel

/// One rule about starting a request, and about what runs already.
///
/// A new policy is one file in `Policies/` and one line in ``Scheduler/policies``. It is pure: the same
/// request, situation and moment give the same answer, which is what `handle` obeys and `explain` prints.
protocol Policy: Sendable {
    /// As `explain` prints it.
    var name: String { get }
    /// Whether launches by `bgtask launch` obey it: permissions yes, policies no.
    var isPermission: Bool { get }
    /// What its vetoes depend on.
    var reach: Reach { get }
    /// Which part of a score that changes without a change of conditions is its own.
    var moving: ScoreSum.Moving? { get }
    /// The reason of the launches that its `stop` ends; `nil` for one that never says so.
    var endReason: Reason? { get }
    /// The reason of the activities that its vetoes end, after they were asked to stop by themselves; `nil`
    /// for one whose vetoes are about starting alone.
    var deferralReason: Reason? { get }
    /// How much its score counts.
    func weight(_ weights: PolicyWeights) -> Double
    /// Its answer about the request now.
    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer
}

/// What a policy's vetoes depend on besides the settings: the less, the more requests one answer holds at
/// once.
///
/// A policy that says less than it looks at would hold requests that may start; ``Reach/request`` is always
/// right.
enum Reach: Sendable {
    /// The conditions, and the request's lane, kind and needs; a veto that waits for a fact without a date
    /// holds all requests with the same ``MachineTraits``.
    case machine
    /// What the machine's are, and what is remembered of the bundle; such a veto holds all of a bundle with
    /// the same traits.
    case bundle
    /// Anything about the request, the time and what runs.
    case request
}

extension Policy {
    var isPermission: Bool { false }
    var reach: Reach { .request }
    var moving: ScoreSum.Moving? { nil }
    var endReason: Reason? { nil }
    var deferralReason: Reason? { isPermission ? nil : endReason }
    func weight(_ weights: PolicyWeights) -> Double { 0 }

    /// The answer with the policy's name to it.
    func verdict(_ answer: Answer, in situation: Situation) -> Verdict {
        Verdict(
            policy: name, decision: answer.decision,
            score: answer.isVeto ? 0 : answer.score ?? 1,
            weight: answer.score == nil ? 0 : weight(situation.settings.weights),
            rationale: answer.rationale.map { [$0] } ?? [], since: answer.since)
    }
}

/// The request that policies are asked about, with everything about it that several of them need.
struct Subject {
    let request: TaskRequest
    let needs: Needs
    let bundle: BundleState
    /// Whether it is deferrable.
    let isDiscretionary: Bool
    /// Whether it runs already, so that only a `stop` matters.
    let isRunning: Bool
    /// Whether texts are wanted: they cost more than the decision.
    let isTelling: Bool

    /// Nothing against it, and no opinion.
    func proceed() -> Answer { Answer(decision: .proceed) }

    /// Nothing against it.
    func proceed(
        score: Double? = nil, since: WallTime? = nil, _ rationale: @autoclosure () -> Rationale
    ) -> Answer {
        Answer(
            decision: .proceed, score: isDiscretionary ? score.map { min(1, max(0, $0)) } : nil, since: since,
            rationale: isTelling ? rationale() : nil)
    }

    /// Not before the fact changes, or that date comes.
    func wait(
        for fact: Fact, until date: WallTime? = nil, since: WallTime? = nil,
        _ rationale: @autoclosure () -> Rationale
    ) -> Answer {
        Answer(
            decision: .mustNotProceed, fact: fact, until: date, since: since,
            rationale: isTelling ? rationale() : nil)
    }

    /// The same, and what runs stops too.
    func stop(
        until fact: Fact, since: WallTime? = nil, _ rationale: @autoclosure () -> Rationale
    ) -> Answer {
        Answer(
            decision: .absolutelyMustNotProceed, fact: fact, since: since,
            rationale: isTelling ? rationale() : nil)
    }
}

/// A policy's answer; see ``Subject`` for the ways to make one.
struct Answer {
    var decision: Decision
    /// 0 through 1; `nil` without an opinion.
    var score: Double?
    /// What a vetoed request waits for.
    var fact: Fact?
    /// When the veto falls by itself.
    var until: WallTime?
    var since: WallTime?
    /// In a box: answers are many, and only those that are printed have one.
    private var told: Told?

    private final class Told: Sendable {
        let rationale: Rationale
        init(_ rationale: Rationale) { self.rationale = rationale }
    }

    init(
        decision: Decision, score: Double? = nil, fact: Fact? = nil, until: WallTime? = nil,
        since: WallTime? = nil, rationale: Rationale? = nil
    ) {
        self.decision = decision
        self.score = score
        self.fact = fact
        self.until = until
        self.since = since
        told = rationale.map(Told.init)
    }

    var rationale: Rationale? { told?.rationale }

    var isVeto: Bool { decision != .proceed }

    /// What a vetoed request waits for: facts of the machine first, so that no clock wakes the host for a
    /// request that could not start anyway; then dates; then its lane, and a slot of it.
    var rank: Int {
        switch fact {
        case .slot: 3
        case .lane: 2
        default: until == nil ? 0 : 1
        }
    }
}

/// What a vetoed request waits for; it is looked at again only when that changes.
enum Fact: Hashable, Sendable {
    /// Which manifests are in force.
    case handlers
    /// The end of the launch of this identifier.
    case launch(TaskIdentifier)
    /// What is remembered of a bundle: its switch, its dismissal, its budget.
    case bundle(BundleIdentifier)
    /// Whether external power is connected.
    case externalPower
    /// The network.
    case network
    /// Whether a GPU is offered.
    case gpu
    /// Whether a user is active.
    case user
    /// A custom condition.
    case condition(String)
    /// Any condition that a score looks at.
    case scores
    /// The wall clock alone.
    case time
    /// Something that holds everything of its lane.
    case lane
    /// A free slot of its lane.
    case slot

    /// The facts that differ between two snapshots.
    static func changed(from old: Conditions, to new: Conditions) -> [Fact] {
        var facts: [Fact] = []
        if old.isExternalPowerConnected != new.isExternalPowerConnected { facts.append(.externalPower) }
        if old.network != new.network { facts.append(.network) }
        if old.gpu != new.gpu { facts.append(.gpu) }
        if old.user != new.user { facts.append(.user) }
        if old.custom != new.custom {
            for name in Set(old.custom.keys).union(new.custom.keys).sorted()
            where old.custom[name] != new.custom[name] { facts.append(.condition(name)) }
        }
        if old.scored != new.scored { facts.append(.scores) }
        return facts
    }
}

extension Conditions {
    /// What scores look at: the charge in steps, no GPU and no custom condition.
    fileprivate var scored: Conditions {
        var copy = self
        copy.gpu = .unknown
        copy.custom = [:]
        if case .known(let power) = power {
            // Without a percentage the charge scores as if it were unknown, not as if it were empty.
            copy.power = .known(
                PowerCondition(
                    externalPower: power.externalPower, isCharging: false,
                    batteryPercent: power.externalPower || power.batteryPercent == nil
                        ? nil : power.chargeBand))
        }
        return copy
    }
}
