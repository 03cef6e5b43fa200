public import TaskModel

/// The policies that keep one request waiting, and what to do about it.
struct Plan {
    /// What the request waits for, in the order of the acts.
    var awaited: [String] = []
    /// What lets it start or, if nothing does, brings it closer; empty if people can only wait.
    var acts: [PossibleAct] = []
    /// What can be done instead of an act, by the act's key; each is as good.
    var alternatives: [String: [PossibleAct]] = [:]
    /// What follows after all acts.
    var effect: Remedy.Effect
    /// What happens without any act.
    var natural: Remedy.Effect
    /// The policies that object now, without the score.
    var vetoes: [any Policy] = []
    /// Whether only the score is too low.
    var isScore = false
}

extension Foresight {
    /// What a request waits for, in one sentence for people.
    ///
    /// The sentence has no full stop if it ends with a command that people copy.
    public mutating func headline(of request: TaskRequest) -> String {
        if let text = contradiction(of: request) { return text }
        if isCrowded {
            let subject = scheduler.situation.subject(request, isTelling: false)
            return headline(of: subject, heldBy: presentVetoes(of: request))
        }
        return headline(of: request, plan(for: request))
    }

    /// The headline of a request in a listing of very many; it is made without trying acts on a copy of the
    /// scheduler, which would take too long.
    ///
    /// - Parameters:
    ///   - subject: The request with its needs.
    ///   - vetoes: The policies that object, in order; none if only the score or the window can keep it
    ///     waiting.
    /// - Returns: The sentence.
    mutating func headline(of subject: Subject, heldBy vetoes: [any Policy]) -> String {
        if let text = contradiction(of: subject) { return text }
        let request = subject.request
        // Requests with the same needs that only the machine holds have the same sentence. That of 'when' can
        // name keys of the payload.
        var key: CrowdKey?
        if !vetoes.isEmpty, request.failsAt == nil, vetoes.allSatisfy(\.isOfMachine) {
            let traits = MachineTraits(lane: request.lane, kind: request.kind, needs: subject.needs)
            key = CrowdKey(traits: traits, vetoes: vetoes.map(\.name))
        }
        if let key, let known = crowdHeadlines[key] { return known }
        let text = crowdHeadline(of: subject, vetoes)
        if let key { crowdHeadlines[key] = text }
        return text
    }

    private func crowdHeadline(of subject: Subject, _ vetoes: [any Policy]) -> String {
        let (situation, request) = (scheduler.situation, subject.request)
        if vetoes.isEmpty {
            let isSimulated = scheduler.pending.isSimulated(request.id)
            let judgement = scheduler.judge(subject, isSimulated: isSimulated, at: now)
            return judgement.scoreSuffices
                ? readiness(of: request) : "\(lead(of: request)) \(Scheduler.awaited("Score"))."
        }
        let awaited = vetoes.map { $0.awaited(by: subject, in: situation, at: now) }
        var (acts, dates, holder): ([PossibleAct], [WallTime], String?) = ([], [], nil)
        let target =
            vetoes.contains { $0 is When } ? When().target(of: subject, in: situation, at: now) : nil
        for policy in vetoes {
            if let date = policy.answer(for: subject, in: situation, at: now).until {
                dates.append(date)
            } else if let text = self.holder(of: request, policy) {
                // Another of the many requests would get the slot of a launch that is stopped.
                holder = text
            } else if let act = policy.acts(for: subject, in: scheduler, at: now).first,
                target?.agrees(with: act, in: situation.conditions) != false
            {
                if !acts.contains(where: { $0.key == act.key }) { acts.append(act) }
            }
        }
        let text = "\(lead(of: request)) \(awaited.unique.inSentence)"
        let date = dates.max()
        if let date, let failure = failure(of: request, before: date) { return "\(text): \(failure)." }
        let isFar = date.map(isFar) ?? false
        let start = date.map { "it can start \(self.date($0))" }
        let states = holder == nil ? [] : ["a slot is free"]
        let near = [sentence(of: acts, holder == nil ? start : nil), holder].compactMap(\.self)
        let what =
            isFar
            ? start.map { $0 + conditions(acts, states) }
            : near.isEmpty ? nil : near.joined(separator: "; ")
        return finish(
            text + (what.map { ": \($0)" } ?? ""), request,
            isFar ? acts.filter { $0.state == nil && !$0.isStop } : acts)
    }

    /// The headline of a request whose `when` can't be true together with what else it requires; `nil` for
    /// all others.
    ///
    /// Each of the two can be fulfilled, but then the other one is not. So what to do about one of them would
    /// be false advice.
    mutating func contradiction(of request: TaskRequest) -> String? {
        contradiction(of: scheduler.situation.subject(request, isTelling: false))
    }

    private mutating func contradiction(of subject: Subject) -> String? {
        let request = subject.request
        guard let expression = subject.needs.constraints?.when,
            !scheduler.pending.isSimulated(request.id)
        else { return nil }
        let others: [String]
        if let known = contradictions[subject.needs] {
            others = known
        } else {
            others = When().contradictions(of: subject, scheduler.settings)
            contradictions[subject.needs] = others
        }
        if others.isEmpty { return nil }
        let whole = When().told(subject, scheduler.situation, expression).text
        let text =
            "\(lead(of: request)) \((["'when' (\(whole))"] + others).inSentence), which can't all be true: "
            + correction(of: request).text.withSmallLetter
        return finish(text, request, [])
    }

    /// What to do about a `when` that contradicts another requirement.
    func correction(of request: TaskRequest) -> PossibleAct {
        PossibleAct(
            text: "Correct 'when' or the other requirement in the manifest of \(request.bundle)",
            effect: .unknown)
    }

    /// The policies that object to a request now.
    func presentVetoes(of request: TaskRequest) -> [any Policy] {
        let subject = scheduler.situation.subject(request, isTelling: false)
        return scheduler.judgeWithVetoes(
            subject, isSimulated: scheduler.pending.isSimulated(request.id), at: now
        ).vetoes
    }

    /// Finds the smallest set of acts that lets a request start.
    ///
    /// It goes from veto to veto: each needs an act, unless that of another ends it, too. At the end, acts
    /// that turn out to be unnecessary are left out.
    mutating func plan(for request: TaskRequest) -> Plan {
        let present = world(of: request, after: [])
        let natural = effect(present, on: request).0
        var plan = Plan(effect: natural, natural: natural)
        // Only a request that is not pending yet can start without any act.
        if natural == .starts { return plan }
        plan.vetoes = vetoes(of: request, in: present)
        plan.isScore = plan.vetoes.isEmpty && !present.judge(request, at: now).scoreSuffices
        // Until the manifest is corrected, no act is of use.
        if needsCorrection(request) { return plan }
        var world = present
        for _ in 0..<8 {
            if world.launched[request.id] != nil { break }
            guard let (act, awaited, others) = nextAct(for: request, in: world, after: plan.acts) else {
                break
            }
            plan.acts.append(act)
            plan.alternatives[act.key] = others
            plan.awaited.append(awaited)
            world = self.world(of: request, after: plan.acts)
            plan.effect = effect(world, on: request).0
        }
        // An act for one policy can make an earlier one for another policy unnecessary or useless.
        if plan.effect.isStart || plan.awaited.unique.count < plan.awaited.count { prune(&plan, request) }
        for act in plan.acts {
            let others = plan.alternatives[act.key] ?? []
            plan.alternatives[act.key] = others.filter { other in
                let acts = plan.acts.map { $0.key == act.key ? other : $0 }
                let result = effect(self.world(of: request, after: acts), on: request).0
                return plan.effect.isStart ? result.isStart : result == plan.effect
            }
        }
        return plan
    }

    /// Leaves out acts without which the request also starts, or waits for the same.
    private mutating func prune(_ plan: inout Plan, _ request: TaskRequest) {
        let held = vetoes(of: request, in: world(of: request, after: plan.acts)).map(\.name)
        for index in plan.acts.indices.reversed() where plan.acts.count > 1 {
            var fewer = plan.acts
            fewer.remove(at: index)
            let world = world(of: request, after: fewer)
            if effect(world, on: request).0 == plan.effect,
                plan.effect.isStart || vetoes(of: request, in: world).map(\.name) == held
            {
                plan.acts = fewer
                plan.awaited.remove(at: index)
            }
        }
    }

    /// The policies that object to a request in a world, in order.
    func vetoes(of request: TaskRequest, in world: World) -> [any Policy] {
        let isSimulated = scheduler.pending.isSimulated(request.id)
        let situation = world.scheduler.situation
        let subject = situation.subject(world.current(request), isTelling: false)
        return Scheduler.policies.filter { policy in
            (!isSimulated || policy.isPermission)
                && policy.answer(for: subject, in: situation, at: now).isVeto
        }
    }

    /// The next act that helps a request in a world, with what it waits for there, and what can be done
    /// instead; `nil` if there is none.
    private mutating func nextAct(
        for request: TaskRequest, in world: World, after acts: [PossibleAct]
    ) -> (PossibleAct, awaited: String, others: [PossibleAct])? {
        let vetoes = vetoes(of: request, in: world)
        let subject = world.scheduler.situation.subject(world.current(request), isTelling: false)
        let target = target(of: request, in: world)
        for policy in vetoes {
            var first: PossibleAct?
            var others: [PossibleAct] = []
            for act in self.acts(of: policy, towards: target, for: request, in: world, after: acts) {
                let after = self.world(of: request, after: acts + [act])
                let vetoesAfter = self.vetoes(of: request, in: after)
                let remains = vetoesAfter.contains { $0.name == policy.name }
                if !remains, policy is When, target?.isChoice ?? false, first != nil {
                    others.append(act)
                    continue
                }
                let starts = effect(after, on: request).0.isStart
                if first == nil, starts || !remains || act.isStep { first = act }
                if starts, !(policy is When) {
                    first = act
                    break
                }
            }
            if let first {
                // An expression is told once, as it is now, even if it needs another payload and other
                // conditions.
                let asked =
                    policy is When ? scheduler.situation.subject(request, isTelling: false) : subject
                let awaited = policy.awaited(by: asked, in: world.scheduler.situation, at: now)
                return (first, awaited, others)
            }
        }
        guard vetoes.isEmpty, !world.judge(request, at: now).scoreSuffices else { return nil }
        var best: (act: PossibleAct, score: Double)?
        for act in self.acts(for: subject, in: world) {
            let after = self.world(of: request, after: acts + [act])
            // A better score is of no use if a policy then objects.
            let isLaunched = after.launched[request.id] != nil
            guard isLaunched || self.vetoes(of: request, in: after).isEmpty else { continue }
            let (_, score) = effect(after, on: request)
            guard let score, score > (best?.score ?? world.judge(request, at: now).score?.mean ?? 0) + 0.005
            else { continue }
            best = (act, score)
        }
        return best.map { ($0.act, Scheduler.awaited("Score", of: request), []) }
    }

    /// What the facts that the `when` of a request tests must be; `nil` if it has none.
    func target(of request: TaskRequest, in world: World) -> WhenTarget? {
        if scheduler.pending.isSimulated(request.id) { return nil }
        let situation = world.scheduler.situation
        let subject = situation.subject(world.current(request), isTelling: false)
        return When().target(of: subject, in: situation, at: now)
    }

    /// The acts of a policy that objects, without those that would have to be undone for `when`.
    ///
    /// If `when` is true, but not with what the policy needs, these are the acts that bring about both.
    private mutating func acts(
        of policy: any Policy, towards target: WhenTarget?, for request: TaskRequest, in world: World,
        after acts: [PossibleAct]
    ) -> [PossibleAct] {
        let conditions = world.scheduler.situation.conditions
        let subject = world.scheduler.situation.subject(world.current(request), isTelling: false)
        let all = policy.acts(for: subject, in: world.scheduler, at: now).filter(\.isPredictable)
        guard let target, !(policy is When) else { return all }
        let agreeing = all.filter { target.agrees(with: $0, in: conditions) }
        if agreeing.count == all.count { return all }
        let vetoes = vetoes(of: request, in: world)
        guard !vetoes.contains(where: { $0 is When }), let set = target.sets.first, !set.isEmpty else {
            return agreeing
        }
        let after = self.world(of: request, after: acts + set)
        let remains = self.vetoes(of: request, in: after).contains { $0.name == policy.name }
        return remains ? agreeing : set + agreeing
    }

    /// All different acts of all policies that have a predictable effect.
    func acts(for subject: Subject, in world: World) -> [PossibleAct] {
        var seen: Set<String> = []
        let target = target(of: subject.request, in: world)
        let conditions = world.scheduler.situation.conditions
        return Scheduler.policies.flatMap { $0.acts(for: subject, in: world.scheduler, at: now) }
            .filter { act in
                act.isPredictable && seen.insert(act.key).inserted
                    && target?.agrees(with: act, in: conditions) != false
            }
    }
}

/// What the headline of a request depends on in a listing of very many, if only the machine holds it.
struct CrowdKey: Hashable {
    let traits: MachineTraits
    let vetoes: [String]
}

extension Policy {
    /// Whether the headline of a request that the policy holds depends only on its ``MachineTraits``.
    fileprivate var isOfMachine: Bool {
        if case .machine = reach { !(self is When) } else { false }
    }
}

extension PossibleAct {
    /// Whether the scheduler can try the act.
    var isPredictable: Bool {
        if case .unknown = effect { return false }
        return true
    }
}

extension Remedy.Effect {
    /// Whether the request starts without further acts, now or when its turn comes.
    var isStart: Bool { self == .starts || self == .takesTurn }
}

extension [String] {
    /// The elements without repetitions.
    var unique: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
