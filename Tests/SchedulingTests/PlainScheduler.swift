import TaskHostTestSupport
import TaskModel

@testable import Scheduling

/// The decision of a scheduler without an index: after every event it asks every policy about every pending
/// request.
struct PlainDecision {
    /// The requests that start, in order.
    private(set) var launches: [RequestID] = []
    /// The earliest date at which a request that has a free slot could start, with that request.
    private(set) var alarm: (date: WallTime, id: RequestID)?

    /// Computes the decision for a scheduler that has handled an event, but has not started any launch yet.
    init(_ scheduler: Scheduler, known: some Sequence<RequestID>, at now: Moment) {
        var (scheduler, ignored) = (scheduler, [SchedulerAction]())
        guard scheduler.isStarted, !scheduler.isShuttingDown else { return }
        let known = Array(known)
        for lane in Lane.allCases {
            while scheduler.situation.hasSlot(in: lane),
                let request = Self.first(in: lane, of: known, scheduler, now)
            {
                launches.append(request.id)
                let isSimulated = lane == .simulated
                let judgement = Self.judge(request, isSimulated, scheduler, now)
                scheduler.start(request, isSimulated: isSimulated, judgement, at: now, &ignored)
            }
        }
        for lane in Lane.allCases where scheduler.situation.hasSlot(in: lane) {
            let dates = Self.requests(in: lane, of: known, scheduler).compactMap { request in
                Self.date(of: request, lane, scheduler, now).map { (date: $0, id: request.id) }
            }
            // A request holds the whole lane, so the lane has no alarm, unless the hold ends by itself.
            if let holder = dates.first(where: { $0.date == .distantPast }) {
                guard let end = Self.endOfHold(in: lane, of: known, scheduler, now), end > now.wall else {
                    continue
                }
                alarm = [(date: end, id: holder.id), alarm].compactMap(\.self).min { $0.date < $1.date }
                continue
            }
            alarm = (dates + [alarm].compactMap(\.self)).min { $0.date < $1.date }
        }
    }

    /// When the last of the requests that hold a lane stops doing so by itself; `nil` if one never does.
    private static func endOfHold(
        in lane: Lane, of known: [RequestID], _ scheduler: Scheduler, _ now: Moment
    ) -> WallTime? {
        let holders = requests(in: lane, of: known, scheduler)
            .compactMap { judge($0, lane == .simulated, scheduler, now).wait }.filter { $0.rank >= 2 }
        let ends = holders.map(\.until)
        return ends.contains(nil) ? nil : ends.compactMap(\.self).max()
    }

    /// When a request could start without another event. The distant past means that the request holds its
    /// lane.
    private static func date(
        of request: TaskRequest, _ lane: Lane, _ scheduler: Scheduler, _ now: Moment
    ) -> WallTime? {
        let judgement = Self.judge(request, lane == .simulated, scheduler, now)
        let subject = scheduler.situation.subject(request, isTelling: false)
        var date = judgement.wait?.until
        if let wait = judgement.wait {
            if wait.rank >= 2 { return .distantPast }
            if wait.rank == 0 { return nil }
        }
        if let score = judgement.score, !judgement.scoreSuffices {
            // While other work runs, the score is higher. No alarm depends on that, because the work may end
            // before it.
            guard !scheduler.situation.occupancy.isBusy else { return nil }
            let later = scheduler.dateOfScore(score, subject, judgement.choice, at: now)
            date = date.map { max($0, later) } ?? later
        }
        let isRate = Scheduler.isRate(judgement)
        return date.map { scheduler.alarm(of: subject, after: $0, isRate: isRate, at: now) }
    }

    private static func requests(in lane: Lane, of known: [RequestID], _ scheduler: Scheduler)
        -> [TaskRequest]
    {
        let all = known.compactMap { scheduler.pending[$0] }
            .filter { (scheduler.pending.isSimulated($0.id) ? .simulated : $0.lane) == lane }
        return all.sorted { left, right in
            if lane.isFair {
                let ranks = [left, right].map { request in
                    let state = scheduler.bundleState(request.bundle)
                    return (lane == .short ? state.shortService : state.service).rank
                }
                if ranks[0] != ranks[1] { return ranks[0] < ranks[1] }
            }
            if left.attempt > 1 || right.attempt > 1 {
                if left.attempt == 1 || right.attempt == 1 { return left.attempt == 1 }
                if left.waitingSince != right.waitingSince { return left.waitingSince < right.waitingSince }
                return left.id < right.id
            }
            if lane.isFair, left.deadline != right.deadline {
                return left.deadline < right.deadline
            }
            return left.id < right.id
        }
    }

    private static func first(
        in lane: Lane, of known: [RequestID], _ scheduler: Scheduler, _ now: Moment
    ) -> TaskRequest? {
        let startable = requests(in: lane, of: known, scheduler)
            .filter { judge($0, lane == .simulated, scheduler, now).mayStart }
        let running = scheduler.situation.occupancy.slots(of: lane).byBundle
        let preferred = startable.first {
            !lane.isFair || running[$0.bundle] ?? 0 < scheduler.settings.discretionarySlotsPerBundle
        }
        return preferred ?? startable.first
    }

    private static func judge(
        _ request: TaskRequest, _ isSimulated: Bool, _ scheduler: Scheduler, _ now: Moment
    ) -> Judgement {
        scheduler.judge(
            scheduler.situation.subject(request, isTelling: false), isSimulated: isSimulated, at: now)
    }
}

extension RandomHost {
    /// The decision that a scheduler must take for an event.
    func plainDecision(_ event: SchedulerEvent, _ now: Moment) -> PlainDecision {
        var (copy, ignored) = (scheduler, [SchedulerAction]())
        copy.takeIn(event, at: now, &ignored)
        return PlainDecision(copy, known: pending.keys, at: now)
    }

    func compare(_ actions: [SchedulerAction], _ plain: PlainDecision, _ event: SchedulerEvent) {
        let launches = actions.compactMap { action in
            if case .launch(let id, _, _, _) = action { id } else { nil }
        }
        if launches != plain.launches {
            faults.append("after \(event): launched \(launches), and plainly \(plain.launches)")
        }
        guard let alarm = plain.alarm else { return }
        guard let wake = scheduler.announcedWake.wall, wake <= alarm.date else {
            let wake = scheduler.announcedWake.wall?.text ?? "never"
            let explanation = scheduler.explain(alarm.id, at: moments.now())
            return faults.append(
                """
                after \(event): wakes \(wake), and \(alarm.id) could start \(alarm.date.text): \
                \(explanation?.vetoes.map(\.policy) ?? []), score \(explanation?.score ?? -1), \
                \(pending[alarm.id].map { "\($0)" } ?? "")
                """)
        }
    }
}

extension RandomHost {
    private struct Question: Hashable {
        let policy: String
        let traits: MachineTraits
        let bundle: BundleIdentifier?
    }

    /// Checks that no policy's answer depends on more than its declared reach.
    ///
    /// A policy that understates its reach would keep requests waiting that may start.
    func checkReaches() {
        var answers: [Question: Fact?] = [:]
        for id in pending.keys.sorted() {
            guard let (request, needs, isSimulated) = scheduler.pending.look(id), !isSimulated else {
                continue
            }
            let traits = MachineTraits(lane: request.lane, kind: request.kind, needs: needs)
            let subject = scheduler.situation.subject(request, needs, isTelling: false)
            for policy in Scheduler.policies where policy.reach != .request {
                let answer = policy.answer(for: subject, in: scheduler.situation, at: moments.now())
                let fact = answer.isVeto && answer.rank == 0 ? answer.fact : nil
                let question = Question(
                    policy: policy.name, traits: traits,
                    bundle: policy.reach == .bundle ? request.bundle : nil)
                if let other = answers.updateValue(fact, forKey: question), other != fact {
                    faults.append("\(policy.name) looks at more than its reach: \(request.identifier)")
                }
            }
        }
    }
}
