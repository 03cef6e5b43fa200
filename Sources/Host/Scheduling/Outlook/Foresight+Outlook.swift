public import TaskModel

extension Foresight {
    /// The greatest number of remedies in an outlook.
    ///
    /// Our choice: more would not be read.
    private static let mostRemedies = 6

    /// What a request waits for, in one sentence, and what would let it start.
    public mutating func outlook(of request: TaskRequest, offersLaunch: Bool = true) -> Outlook {
        let plan = plan(for: request)
        var outlook = Outlook(
            headline: isCrowded
                ? headline(of: request) : contradiction(of: request) ?? headline(of: request, plan),
            remedies: remedies(for: request, plan),
            holders: slotHolders(of: request, plan.vetoes),
            waited: scheduler.waited(request, at: now))
        for index in outlook.holders.indices {
            let command = ["expire", "\(outlook.holders[index].launch)"]
            outlook.holders[index].isDecisive = outlook.remedies.contains { remedy in
                remedy.effect.isStart && remedy.acts.count == 1 && remedy.acts[0].command == command
            }
        }
        return outlook
    }

    /// The remedies: each act that is enough; otherwise the smallest combination, and what brings the request
    /// closer to its start.
    ///
    /// Last come acts with an uncertain effect.
    private mutating func remedies(for request: TaskRequest, _ plan: Plan) -> [Remedy] {
        if plan.vetoes.isEmpty && !plan.isScore { return [] }
        if contradiction(of: request) != nil {
            let launch = launchAct(request).map { act in
                Remedy(acts: act.remedies, effect: effect(world(of: request, after: [act]), on: request).0)
            }
            return [Remedy(acts: correction(of: request).remedies, effect: .unknown)]
                + [launch].compactMap(\.self)
        }
        let present = world(of: request, after: [])
        let subject = scheduler.situation.subject(request, isTelling: false)
        let score = plan.vetoes.isEmpty ? effect(present, on: request).score : scoreNow(request)
        func remedy(_ acts: [PossibleAct], _ world: World) -> Remedy {
            let (effect, after) = effect(world, on: request)
            return Remedy(acts: acts.flatMap(\.remedies), effect: effect, score: score, scoreAfter: after)
        }
        var (enough, steps): ([Remedy], [Remedy]) = ([], [])
        for act in acts(for: subject, in: present) {
            let world = world(of: request, after: [act])
            let found = remedy([act], world)
            if found.effect.isStart {
                enough.append(found)
            } else if vetoes(of: request, in: world).count < plan.vetoes.count {
                steps.append(found)
            }
        }
        if enough.isEmpty, plan.acts.count > 1 {
            enough = [remedy(plan.acts, world(of: request, after: plan.acts))]
        }
        var all = enough.isEmpty ? steps : enough
        for policy in plan.vetoes {
            for act in policy.acts(for: subject, in: scheduler, at: now) where !act.isPredictable {
                all.append(Remedy(acts: act.remedies, effect: .unknown, score: score))
            }
        }
        if !enough.contains(where: { $0.effect == .starts }), let act = launchAct(request) {
            all.append(
                Remedy(
                    acts: act.remedies, effect: effect(world(of: request, after: [act]), on: request).0))
        }
        return Array(all.prefix(Self.mostRemedies))
    }

    /// The act `bgtask launch` for the request; `nil` if that would be refused or change nothing.
    func launchAct(_ request: TaskRequest) -> PossibleAct? {
        let situation = scheduler.situation
        let isConflicting =
            Conflicts().answer(
                for: situation.subject(request, isTelling: false), in: situation, at: now
            ).isVeto
        guard !isCrowded, !isConflicting, scheduler.pending[request.id] != nil,
            !scheduler.pending.isSimulated(request.id),
            situation.occupancy.requests[request.identifier] == nil, situation.sleepSince == nil,
            situation.permits.refusal(of: request.identifier, kind: request.kind, bundle: request.bundle)
                == nil
        else { return nil }
        return PossibleAct(
            text: "Start it now without the policies", command: ["launch", "\(request.identifier)"],
            effect: .event(.simulate(request.id)))
    }

    /// The score of the request now, although policies object; `nil` if scores do not count.
    private func scoreNow(_ request: TaskRequest) -> Double? {
        scheduler.judge(
            scheduler.situation.subject(request, isTelling: false),
            isSimulated: scheduler.pending.isSimulated(request.id), at: now
        ).score?.mean
    }

    /// The launches that occupy the slots for which these policies hold a request, or that it conflicts with.
    func slotHolders(of request: TaskRequest, _ policies: [any Policy]) -> [SlotHolder] {
        let subject = scheduler.situation.subject(request, isTelling: false)
        var found: [LaunchID: ActiveLaunch] = [:]
        for policy in policies {
            let answer = policy.answer(for: subject, in: scheduler.situation, at: now)
            switch answer.fact {
            case .slot where policy is Concurrency:
                for (id, launch) in scheduler.holders(of: [request.lane]) { found[id] = launch }
            case .slot: for (id, launch) in scheduler.holders(of: [.short, .long]) { found[id] = launch }
            case .launch(let identifier):
                let launch = scheduler.situation.occupancy.requests[identifier].flatMap {
                    scheduler.launches[$0]
                }
                if let launch, let id = launch.id { found[id] = launch }
            default: break
            }
        }
        if found.isEmpty { return [] }
        let awaited = scheduler.awaitedEnds(by: request, at: now)
        return found.sorted { $0.key < $1.key }.map { id, launch in
            SlotHolder(
                launch: id, identifier: launch.request.identifier,
                latestEnd: scheduler.latestEnd(
                    of: launch,
                    awaitedFrom: awaited.flatMap { $0.isAwaited(launch) ? $0.date : nil }, at: now),
                isExpiring: launch.isExpiring,
                isDecisive: false)
        }
    }
}

extension Scheduler {
    /// When a launch has ended at the latest: at the end of its lease, or earlier if another request waits
    /// for it; each with the grace period.
    ///
    /// If its end is awaited, this is the end of the launch's turn, but not before the request that waits
    /// could use it. If a conflicting request of another bundle waits, it is the end of the time for which
    /// the launch may hold that one.
    ///
    /// `nil` if nothing limits the launch.
    func latestEnd(of launch: ActiveLaunch, awaitedFrom: WallTime?, at now: Moment) -> WallTime? {
        let awaited = awaitedFrom.map { now.boot + ($0 - now.wall) }
        let end = launch.latestEnd(awaitedFrom: awaited, at: now, settings)
        guard let holdEnd = endOfHold(by: launch) else { return end }
        let held = now.wall + max(.zero, holdEnd + launch.lease.gracePeriod - now.boot)
        return min(end ?? held, held)
    }
}

extension Scheduler {
    /// The launches for whose end alone a request waits, or will wait soon.
    struct AwaitedEnds {
        /// From when on nothing else holds the request, the host looks at it, and the turns of all
        /// ``together`` are over.
        let date: WallTime
        /// The launches that end together for the request: the conflicting ones, and those in whose slot it
        /// would start; empty if the request waits only for a slot.
        let together: [RequestID]

        /// Whether the turn of a launch ends for the request.
        ///
        /// A slot is not enough for a request that also waits for a conflicting task.
        func isAwaited(_ launch: ActiveLaunch) -> Bool {
            together.isEmpty || together.contains(launch.request.id)
        }
    }

    /// Follows the dates of the policies that hold a request beside other launches; `nil` if one of them has
    /// no date, or if the end of launches with a turn would not let the request start.
    func awaitedEnds(by request: TaskRequest, at now: Moment) -> AwaitedEnds? {
        let isSimulated = pending.isSimulated(request.id)
        guard let together = launchesEndingTogether(for: request, isSimulated: isSimulated) else {
            return nil
        }
        // Each of them goes on until the turns of all are over.
        let turnsEnd = together.filter { !$0.isStopping }.compactMap(\.turnEnd).max().map {
            now.wall + max(.zero, $0 - now.boot)
        }
        var (copy, time, isRate) = (self, now, false)
        for _ in 0..<16 {
            let subject = copy.situation.subject(request, isTelling: false)
            let (judgement, vetoes) = copy.judgeWithVetoes(subject, isSimulated: isSimulated, at: time)
            var next: WallTime?
            for policy in vetoes where !(policy is Conflicts) {
                let answer = policy.answer(for: subject, in: copy.situation, at: time)
                if answer.fact == .slot { continue }
                guard let date = answer.until, date > time.wall else { return nil }
                next = max(next ?? date, date)
            }
            if next == nil {
                guard !judgement.scoreSuffices, let score = judgement.score else {
                    let alarm =
                        time.wall == now.wall
                        ? now.wall : copy.alarm(of: subject, after: time.wall, isRate: isRate, at: time)
                    return AwaitedEnds(
                        date: max(alarm, turnsEnd ?? alarm), together: together.map(\.request.id))
                }
                next = copy.dateOfScore(score, subject, judgement.choice, at: time)
            }
            guard let next, next > time.wall, next < now.wall + Forecast.horizon else { return nil }
            isRate = Self.isRate(judgement)
            time = now.advanced(by: next - now.wall)
            copy.situation.notice(time.wall)
        }
        return nil
    }
}
