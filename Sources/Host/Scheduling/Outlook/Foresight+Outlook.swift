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
        let judgement = scheduler.judge(
            subject, isSimulated: scheduler.pending.isSimulated(request.id), at: now)
        let isForSlot = judgement.wait?.fact == .slot && judgement.scoreSuffices
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
        return found.sorted { $0.key < $1.key }.map { id, launch in
            SlotHolder(
                launch: id, identifier: launch.request.identifier,
                latestEnd: scheduler.latestEnd(of: launch, isAwaited: isForSlot, at: now),
                isExpiring: launch.isExpiring,
                isDecisive: false)
        }
    }
}

extension Scheduler {
    /// When a launch has ended at the latest: at the end of its lease, or earlier if another request waits
    /// for it; each with the grace period.
    ///
    /// If the slot is awaited, this is the end of the launch's turn. If a conflicting request of another
    /// bundle waits, it is the end of the time for which the launch may hold that one.
    ///
    /// `nil` if nothing limits the launch.
    func latestEnd(of launch: ActiveLaunch, isAwaited: Bool, at now: Moment) -> WallTime? {
        let end = launch.latestEnd(isAwaited: isAwaited, at: now, settings)
        guard let holdEnd = endOfHold(by: launch) else { return end }
        let held = now.wall + max(.zero, holdEnd + launch.lease.gracePeriod - now.boot)
        return min(end ?? held, held)
    }
}
