import TaskModel

/// A rule for starting requests and stopping launches.
///
/// A new policy needs a file in `Policies/` and a line in ``Scheduler/policies``. A policy is a pure
/// function: the same request, situation and time give the same answer. ``Scheduler/handle(_:at:)`` acts on
/// this answer, and `explain` prints it.
protocol Policy: Sendable {
    /// The name that `explain` prints.
    var name: String { get }
    /// Whether the policy also applies to launches by `bgtask launch`; this is the case for permissions, and
    /// for what no launch can do without.
    var isPermission: Bool { get }
    /// The values on which a veto of the policy depends.
    var reach: Reach { get }
    /// The part of the score that this policy gives and that can change while the conditions stay the same.
    var moving: ScoreSum.Moving? { get }
    /// The reason for stopping a launch if the policy demands that; `nil` if it never does.
    var endReason: Reason? { get }
    /// The reason for stopping an activity that does not obey a veto; `nil` if vetoes only prevent a start.
    var deferralReason: Reason? { get }
    /// What a request waits for while the policy objects, after the words "waits for": `power`.
    ///
    /// The past of a request ("3 h for power") uses it.
    var awaited: String { get }
    /// The same about one request, for its headline; ``awaited`` unless the policy can be more exact.
    func awaited(by subject: Subject, in situation: Situation, at now: Moment) -> String
    /// The weight of the policy's score.
    func weight(_ weights: PolicyWeights) -> Double
    /// What a person can do so that the policy does not object any more, or gives a higher score; the easiest
    /// first.
    ///
    /// The scheduler tries each act on a copy of itself, see ``Foresight``. So the policy need not know
    /// whether the request would start, and a policy without this function still has a headline: its veto's
    /// finding and remedy.
    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct]
    /// The policy's answer about a request at a time.
    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer
}

/// The values, besides settings, on which a policy's vetoes depend.
///
/// The fewer these values are, the more requests a single veto keeps waiting. A policy must not declare fewer
/// values than it uses: requests that may start would wait. ``Reach/request`` is always correct.
enum Reach: Sendable {
    /// The machine's conditions, and the request's lane, kind and needs.
    ///
    /// A veto that waits for a fact without a date applies to all requests with the same ``MachineTraits``.
    case machine
    /// The same as for ``Reach/machine``, and the state of the bundle.
    ///
    /// Such a veto applies to all requests of the bundle with the same traits.
    case bundle
    /// Any property of the request, the time and the launches under way.
    case request
}

extension Policy {
    var isPermission: Bool { false }
    var reach: Reach { .request }
    var moving: ScoreSum.Moving? { nil }
    var endReason: Reason? { nil }
    var deferralReason: Reason? { isPermission ? nil : endReason }
    /// The policy's name in words: `battery level` for `BatteryLevel`.
    var awaited: String { name.wordsOfName }
    func awaited(by subject: Subject, in situation: Situation, at now: Moment) -> String { awaited }
    func weight(_ weights: PolicyWeights) -> Double { 0 }
    func acts(for subject: Subject, in scheduler: Scheduler, at now: Moment) -> [PossibleAct] { [] }

    /// Converts an answer to a verdict with the policy's name.
    func verdict(_ answer: Answer, in situation: Situation) -> Verdict {
        Verdict(
            policy: name, decision: answer.decision,
            score: answer.isVeto ? 0 : answer.score ?? 1,
            weight: answer.score == nil ? 0 : weight(situation.settings.weights),
            rationale: answer.rationale.map { [$0] + answer.details } ?? [], since: answer.since)
    }
}

/// The request about which policies are asked, with values that several of them need.
struct Subject {
    let request: TaskRequest
    let needs: Needs
    let bundle: BundleState
    /// Whether the request is deferrable.
    let isDiscretionary: Bool
    /// Whether the request has a launch already, so that only demands to stop it matter.
    let isRunning: Bool
    /// Whether answers need texts for people, which take more time than the decision.
    let isTelling: Bool
    /// Whether this is a transfer, which `bgtask launch` can't start.
    var isTransfer = false

    /// No objection, and no score.
    func proceed() -> Answer { Answer(decision: .proceed) }

    /// No objection.
    func proceed(
        score: Double? = nil, since: WallTime? = nil, _ rationale: @autoclosure () -> Rationale
    ) -> Answer {
        Answer(
            decision: .proceed, score: isDiscretionary ? score.map { min(1, max(0, $0)) } : nil, since: since,
            rationale: isTelling ? rationale() : nil)
    }

    /// A veto until the fact changes or the date comes.
    func wait(
        for fact: Fact, until date: WallTime? = nil, since: WallTime? = nil,
        _ rationale: @autoclosure () -> Rationale
    ) -> Answer {
        Answer(
            decision: .mustNotProceed, fact: fact, until: date, since: since,
            rationale: isTelling ? rationale() : nil)
    }

    /// A veto until the fact changes, and a demand to stop a launch under way.
    func stop(
        until fact: Fact, orDate date: WallTime? = nil, since: WallTime? = nil, because reason: Reason? = nil,
        _ rationale: @autoclosure () -> Rationale, details: @autoclosure () -> [Rationale] = []
    ) -> Answer {
        var answer = Answer(
            decision: .absolutelyMustNotProceed, fact: fact, until: date, since: since,
            rationale: isTelling ? rationale() : nil, details: isTelling ? details() : [])
        answer.reason = reason
        return answer
    }
}

extension Situation {
    /// Advice to wait, or to start a request without the policies.
    ///
    /// While a launch of the identifier runs, the advice is only to wait: `bgtask launch` would be refused.
    func remedy(_ wait: String, orLaunch subject: Subject) -> String {
        let identifier = subject.request.identifier
        if subject.isTransfer || occupancy.requests[identifier] != nil { return wait }
        return "\(wait), or start it now without the policies: bgtask launch \(identifier)"
    }
}

/// A policy's answer; see ``Subject`` for the ways to make one.
struct Answer {
    var decision: Decision
    /// The score, from 0 to 1; `nil` if the policy gives none.
    var score: Double?
    /// The fact for which a vetoed request waits.
    var fact: Fact?
    /// When the veto ends by itself; `nil` if it does not.
    var until: WallTime?
    /// The reason for stopping a launch because of this answer; `nil` means that of the policy.
    var reason: Reason?
    var since: WallTime?
    /// The text, stored in an object, because few answers have one.
    private var told: Told?

    private final class Told: Sendable {
        let rationale: Rationale
        let details: [Rationale]
        init(_ rationale: Rationale, _ details: [Rationale]) {
            self.rationale = rationale
            self.details = details
        }
    }

    init(
        decision: Decision, score: Double? = nil, fact: Fact? = nil, until: WallTime? = nil,
        since: WallTime? = nil, rationale: Rationale? = nil, details: [Rationale] = []
    ) {
        self.decision = decision
        self.score = score
        self.fact = fact
        self.until = until
        self.since = since
        told = rationale.map { Told($0, details) }
    }

    var rationale: Rationale? { told?.rationale }
    /// Further findings, which explain the first one.
    var details: [Rationale] { told?.details ?? [] }

    var isVeto: Bool { decision != .proceed }

    /// The precedence among vetoes; the smallest rank determines what the request waits for.
    ///
    /// Facts come first, so that no alarm wakes the host for a request that could not start anyway. Then come
    /// dates, then the lane, and then a slot.
    var rank: Int {
        switch fact {
        case .slot: 3
        case .lane: 2
        default: until == nil ? 0 : 1
        }
    }
}

/// A fact for which a vetoed request waits; the request is judged again when the fact changes.
enum Fact: Hashable, Sendable {
    /// The manifests.
    case handlers
    /// The end of this identifier's launch.
    case launch(TaskIdentifier)
    /// The state of a bundle: its refresh permission, its dismissal and its budget.
    case bundle(BundleIdentifier)
    /// Whether external power is connected.
    case externalPower
    /// The network.
    case network
    /// Whether the machine has a GPU.
    case gpu
    /// Whether a user is active.
    case user
    /// The power supply and the charge of the battery.
    case charge
    /// The free space.
    case storage
    /// Any condition.
    case conditions
    /// Low-power mode.
    case lowPowerMode
    /// The temperature.
    case thermal
    /// What is under pressure.
    case pressure
    /// Whether memory is under pressure.
    case memoryPressure
    /// The value of a custom condition.
    case condition(String)
    /// Any condition that affects scores.
    case scores
    /// The end of the preparation for a sleep.
    case sleep
    /// The pause of the host.
    case pause
    /// Only the wall clock.
    case time
    /// The end of a state in which no request of the lane can start.
    case lane
    /// A free slot of the request's lane.
    case slot

    /// Whether the fact is about a condition that no score depends on.
    var isUnscored: Bool {
        switch self {
        case .gpu, .storage, .condition: true
        default: false
        }
    }

    /// All facts about conditions, with the custom conditions that are defined.
    static func ofConditions(_ conditions: Conditions) -> [Fact] {
        [
            .conditions, .charge, .externalPower, .lowPowerMode, .network, .thermal, .user, .pressure,
            .memoryPressure, .gpu, .storage,
        ] + conditions.custom.keys.sorted().map(Fact.condition)
    }

    /// The facts that differ between two states of the conditions.
    static func changed(from old: Conditions, to new: Conditions) -> [Fact] {
        if old == new { return [] }
        var facts: [Fact] = [.conditions]
        if old.power != new.power { facts.append(.charge) }
        if old.storage != new.storage { facts.append(.storage) }
        if old.isExternalPowerConnected != new.isExternalPowerConnected { facts.append(.externalPower) }
        if old.network != new.network { facts.append(.network) }
        if old.gpu != new.gpu { facts.append(.gpu) }
        if old.lowPowerMode != new.lowPowerMode { facts.append(.lowPowerMode) }
        if old.thermal != new.thermal { facts.append(.thermal) }
        if old.pressure != new.pressure { facts.append(.pressure) }
        if old.user != new.user { facts.append(.user) }
        if old.isShortOfMemory != new.isShortOfMemory { facts.append(.memoryPressure) }
        if old.custom != new.custom {
            for name in Set(old.custom.keys).union(new.custom.keys).sorted()
            where old.custom[name] != new.custom[name] { facts.append(.condition(name)) }
        }
        if old.scored != new.scored { facts.append(.scores) }
        return facts
    }
}

extension Conditions {
    /// The conditions that affect scores: without the GPU, the free space and custom conditions, and with the
    /// charge in steps.
    var scored: Conditions {
        var copy = self
        copy.gpu = .unknown
        copy.storage = .unknown
        copy.custom = [:]
        if case .known(let power) = power {
            // An unknown charge must not count as an empty battery.
            copy.power = .known(
                PowerCondition(
                    externalPower: power.externalPower, isCharging: false,
                    batteryPercent: power.externalPower || power.batteryPercent == nil
                        ? nil : power.chargeBand))
        }
        return copy
    }
}
