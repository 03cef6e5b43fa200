public import TaskModel

/// Answers what a waiting request would do if a fact were different, by trying that on a copy of the
/// scheduler.
///
/// Nothing here knows the policies' rules: an act becomes the events that the host would get, the copy
/// handles them, and what the copy launches is what the host would launch. So a promise is true even where
/// several requests compete for one slot.
///
/// A foresight is valid for one time and one state of the scheduler. It keeps the copies, so that a listing
/// of many requests that wait for power tries only once what external power would change.
public struct Foresight {
    /// With more pending requests, each is tried alone, because a copy of the scheduler takes too long.
    ///
    /// Whatever would start then only starts "when its turn comes", and headlines promise nothing. Our
    /// choice.
    static let largestCrowd = 1000

    /// A copy of the scheduler after some acts.
    struct World {
        var scheduler: Scheduler
        /// The score of each request that was launched; `nil` where scores do not count.
        var launched: [RequestID: Double?] = [:]

        /// The request as it is in this world, where it may have been submitted again.
        func current(_ request: TaskRequest) -> TaskRequest { scheduler.pending[request.id] ?? request }
    }

    let scheduler: Scheduler
    let now: Moment
    let isCrowded: Bool
    private var worlds: [String: World] = [:]
    /// What contradicts the `when` of requests with these needs.
    var contradictions: [Needs: [String]] = [:]
    /// The headlines of a listing of very many requests.
    var crowdHeadlines: [CrowdKey: String] = [:]

    /// How many requests with long expressions had a headline.
    private var longExpressions = 0

    /// Whether a listing makes the headline of a request without trying acts, because that would take long.
    ///
    /// This is true for each of very many requests, and for those with long expressions after the first ones
    /// of a listing: more than 12 tests and 20 requests, our choice. To try all acts of an expression with 40
    /// tests takes some milliseconds.
    mutating func isBrief(for subject: Subject) -> Bool {
        if isCrowded { return true }
        guard let expression = subject.needs.constraints?.when, expression.tests.count > 12 else {
            return false
        }
        longExpressions += 1
        return longExpressions > 20
    }

    /// Creates a foresight for the scheduler's present state.
    public init(_ scheduler: Scheduler, at now: Moment) {
        self.scheduler = scheduler
        self.now = now
        isCrowded = scheduler.pending.count > Self.largestCrowd
    }

    // MARK: Worlds

    /// The world in which the acts have happened.
    mutating func world(of request: TaskRequest, after acts: [PossibleAct]) -> World {
        if isCrowded { return lonely(request, after: acts) }
        let isPending = scheduler.pending[request.id] != nil
        let key = (isPending ? [] : ["new \(request.identifier)"]) + acts.map(\.key)
        let name = key.joined(separator: "\n")
        if let known = worlds[name] { return known }
        var world: World
        if let last = acts.last {
            world = self.world(of: request, after: acts.dropLast())
            world.undergo(last, at: now)
        } else {
            world = World(scheduler: scheduler)
            if !isPending { world.hear(.submitted(request), at: now) }
        }
        worlds[name] = world
        return world
    }

    /// A world in which the acts have happened, and the request is the only pending one.
    private func lonely(_ request: TaskRequest, after acts: [PossibleAct]) -> World {
        var world = World(scheduler: scheduler)
        world.scheduler.pending = PendingIndex()
        world.scheduler.schedules = ScheduleBook()
        world.scheduler.pending.insert(request, scheduler.situation.needs(of: request), at: now.wall)
        if scheduler.pending.isSimulated(request.id) { world.scheduler.pending.markSimulated(request.id) }
        for act in acts { world.undergo(act, at: now) }
        return world
    }

    /// What a request still waits for in a world, if no further act follows.
    struct Course {
        /// What the request waits for until the date.
        var awaited: [String] = []
        /// When the last wait ends of those that end by themselves; `nil` if there are none.
        var date: WallTime?
        /// The policies that still object at that date.
        var rest: [any Policy] = []
    }

    /// Follows the dates of the policies that object.
    ///
    /// The deadline does not count, because the headline says what it does.
    func course(of request: TaskRequest, in world: World) -> Course {
        var (course, copy, time) = (Course(), world.scheduler, now)
        let request = world.current(request)
        let isSimulated = scheduler.pending.isSimulated(request.id)
        for _ in 0..<16 {
            let subject = copy.situation.subject(request, isTelling: false)
            var next: WallTime?
            course.rest = []
            for policy in Scheduler.policies where !isSimulated || policy.isPermission {
                let answer = policy.answer(for: subject, in: copy.situation, at: time)
                guard answer.isVeto, !(policy is Deadline) || time.wall == now.wall else { continue }
                if let date = answer.until, date > time.wall, date < now.wall + Forecast.horizon {
                    next = max(next ?? date, date)
                    course.awaited.append(policy.awaited(by: subject, in: copy.situation, at: time))
                } else {
                    course.rest.append(policy)
                }
            }
            if next == nil, course.rest.isEmpty {
                let judgement = copy.judge(subject, isSimulated: isSimulated, at: time)
                guard !judgement.scoreSuffices, let score = judgement.score else { break }
                next = copy.dateOfScore(score, subject, judgement.choice, at: time)
                course.awaited.append(Scheduler.awaited("Score"))
            }
            guard let next, next > time.wall, next < now.wall + Forecast.horizon else { break }
            course.date = next
            time = now.advanced(by: next - now.wall)
            copy.situation.notice(time.wall)
        }
        return course
    }

    /// What a request would do in a world, and its score there.
    func effect(_ world: World, on request: TaskRequest) -> (Remedy.Effect, score: Double?) {
        if let score = world.launched[request.id] { return (isCrowded ? .takesTurn : .starts, score) }
        let judgement = world.judge(request, at: now)
        if judgement.mayStart { return (.takesTurn, judgement.score?.mean) }
        return (world.later(request, judgement, at: now), judgement.score?.mean)
    }
}

extension Foresight.World {
    /// Lets an act happen.
    mutating func undergo(_ act: PossibleAct, at now: Moment) {
        switch act.effect {
        case .conditions(let change):
            var conditions = scheduler.situation.conditions
            change(&conditions)
            hear(.conditionsChanged(conditions), at: now)
        case .event(let event): hear(event, at: now)
        case .unknown: break
        }
    }

    /// Gives an event to the copy, and continues a pass that reached its limit of candidates.
    fileprivate mutating func hear(_ event: SchedulerEvent, at now: Moment) {
        note(scheduler.handle(event, at: now))
        for _ in 0..<4 where scheduler.isPassCut { note(scheduler.handle(.timePassed, at: now)) }
    }

    private mutating func note(_ actions: [SchedulerAction]) {
        for case .launch(let id, _, _, let explanation) in actions { launched[id] = explanation.score }
    }

    func judge(_ request: TaskRequest, at now: Moment) -> Judgement {
        let isSimulated = scheduler.pending.isSimulated(request.id)
        return scheduler.judge(
            scheduler.situation.subject(current(request), isTelling: false), isSimulated: isSimulated, at: now
        )
    }

    /// When a request that does not start now could start by itself, or what it waits for.
    fileprivate func later(
        _ request: TaskRequest, _ first: Judgement, at now: Moment
    ) -> Remedy.Effect {
        var (copy, judgement, time, isRate) = (scheduler, first, now, false)
        let request = current(request)
        // Each step goes to the next date of a policy. The limit ends the search if there are very many.
        for _ in 0..<16 {
            if judgement.mayStart {
                let wake = copy.alarm(
                    of: copy.situation.subject(request, isTelling: false), after: time.wall,
                    isRate: isRate, at: time)
                return .startsAt(time.wall, latest: wake > time.wall ? wake : nil)
            }
            guard let next = copy.nextDate(judgement, of: request, at: time), next > time.wall,
                next < now.wall + Forecast.horizon
            else { break }
            isRate = Scheduler.isRate(judgement)
            time = now.advanced(by: next - now.wall)
            copy.situation.notice(time.wall)
            judgement = copy.judge(
                copy.situation.subject(request, isTelling: false), isSimulated: false, at: time)
        }
        let subject = scheduler.situation.subject(request, isTelling: false)
        let policy = Scheduler.policies.first { $0.name == first.waitPolicy }
        return .waits(
            policy?.awaited(by: subject, in: scheduler.situation, at: now) ?? Scheduler.awaited("Score"))
    }
}

extension Scheduler {
    /// When a judgement can change by itself; `nil` if no date is known.
    fileprivate func nextDate(_ judgement: Judgement, of request: TaskRequest, at now: Moment) -> WallTime? {
        if let wait = judgement.wait { return wait.until }
        guard let score = judgement.score else { return nil }
        let subject = situation.subject(request, isTelling: false)
        return dateOfScore(score, subject, judgement.choice, at: now)
    }

    /// What a request waits for while a policy objects, after the words "waits for".
    public static func awaited(_ policy: String, of request: TaskRequest? = nil) -> String {
        switch policy {
        case "Score": "better conditions"
        case "Window": "other work to start with"
        case "Host": "the host to start"
        case "EarlierHost": "reasons that only the earlier host knew"
        case "EarliestBeginDate" where request?.notBefore != nil: EarliestBeginDate.backOff
        default: policies.first { $0.name == policy }?.awaited ?? policy.wordsOfName
        }
    }
}
