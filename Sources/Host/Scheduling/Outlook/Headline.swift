public import TaskModel

/// The policies that keep one request waiting, and what to do about it.
struct Plan {
    /// What the request waits for, in the order of the acts.
    var awaited: [String] = []
    /// What lets it start or, if nothing does, brings it closer; empty if people can only wait.
    var acts: [PossibleAct] = []
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
        if isCrowded { return headline(of: request, first: firstVeto(of: request)) }
        return headline(of: request, plan(for: request))
    }

    /// The headline of one of very many requests, in which nothing was tried.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - policy: The first policy that objects; `nil` if only the score or the window can keep it waiting.
    /// - Returns: The sentence.
    func headline(of request: TaskRequest, first policy: (any Policy)?) -> String {
        let situation = scheduler.situation
        let subject = situation.subject(request, isTelling: false)
        guard let policy else {
            let isSimulated = scheduler.pending.isSimulated(request.id)
            let judgement = scheduler.judge(subject, isSimulated: isSimulated, at: now)
            return judgement.scoreSuffices
                ? readiness(of: request) : "\(lead(of: request)) \(Scheduler.awaited("Score"))."
        }
        let text = "\(lead(of: request)) \(policy.awaited(by: subject, in: situation, at: now))"
        if let until = policy.answer(for: subject, in: situation, at: now).until {
            return "\(text): it can start \(date(until))."
        }
        guard let act = policy.acts(for: subject, in: scheduler, at: now).first else { return text + "." }
        let line = "\(text): \((act.short ?? act.text).withSmallLetter)"
        return act.command.map { "\(line): \(CommandText.line($0))" } ?? line + "."
    }

    private func firstVeto(of request: TaskRequest) -> (any Policy)? {
        let subject = scheduler.situation.subject(request, isTelling: false)
        let isSimulated = scheduler.pending.isSimulated(request.id)
        return Scheduler.policies.first { policy in
            (!isSimulated || policy.isPermission)
                && policy.answer(for: subject, in: scheduler.situation, at: now).isVeto
        }
    }

    /// Finds the smallest set of acts that lets a request start.
    ///
    /// It goes from veto to veto: each needs an act, unless that of another ends it, too. At the end, acts
    /// that turn out to be unnecessary are left out.
    mutating func plan(for request: TaskRequest) -> Plan {
        let present = world(of: request, after: [])
        let natural = effect(present, on: request).0
        var plan = Plan(effect: natural, natural: natural)
        // A request that is not pending would start at once.
        if natural == .starts { return plan }
        plan.vetoes = vetoes(of: request, in: present)
        plan.isScore = plan.vetoes.isEmpty && !present.judge(request, at: now).scoreSuffices
        var world = present
        for _ in 0..<6 {
            if world.launched[request.id] != nil { break }
            guard let (act, awaited) = nextAct(for: request, in: world, after: plan.acts) else { break }
            plan.acts.append(act)
            plan.awaited.append(awaited)
            world = self.world(of: request, after: plan.acts)
            plan.effect = effect(world, on: request).0
        }
        if plan.effect.isStart { prune(&plan, request) }
        return plan
    }

    /// Leaves out acts without which the request also starts.
    private mutating func prune(_ plan: inout Plan, _ request: TaskRequest) {
        for index in plan.acts.indices.reversed() where plan.acts.count > 1 {
            var fewer = plan.acts
            fewer.remove(at: index)
            let result = effect(world(of: request, after: fewer), on: request).0
            if result == plan.effect {
                plan.acts = fewer
                plan.awaited.remove(at: index)
            }
        }
    }

    /// The policies that object to a request in a world, in order.
    func vetoes(of request: TaskRequest, in world: World) -> [any Policy] {
        let isSimulated = scheduler.pending.isSimulated(request.id)
        let situation = world.scheduler.situation
        let subject = situation.subject(request, isTelling: false)
        return Scheduler.policies.filter { policy in
            (!isSimulated || policy.isPermission)
                && policy.answer(for: subject, in: situation, at: now).isVeto
        }
    }

    /// The next act that helps a request in a world, with what it waits for there; `nil` if there is none.
    private mutating func nextAct(
        for request: TaskRequest, in world: World, after acts: [PossibleAct]
    ) -> (PossibleAct, String)? {
        let vetoes = vetoes(of: request, in: world)
        let subject = world.scheduler.situation.subject(request, isTelling: false)
        for policy in vetoes {
            var first: (PossibleAct, String)?
            for act in policy.acts(for: subject, in: world.scheduler, at: now) where act.isPredictable {
                let after = self.world(of: request, after: acts + [act])
                let awaited = policy.awaited(by: subject, in: world.scheduler.situation, at: now)
                if effect(after, on: request).0.isStart { return (act, awaited) }
                let remains = self.vetoes(of: request, in: after).contains { $0.name == policy.name }
                if first == nil, !remains { first = (act, awaited) }
            }
            if let first { return first }
        }
        guard vetoes.isEmpty, !world.judge(request, at: now).scoreSuffices else { return nil }
        var best: (act: PossibleAct, score: Double)?
        for act in self.acts(for: subject, in: world) {
            let (_, score) = effect(self.world(of: request, after: acts + [act]), on: request)
            guard let score, score > (best?.score ?? world.judge(request, at: now).score?.mean ?? 0) + 0.005
            else { continue }
            best = (act, score)
        }
        return best.map { ($0.act, Scheduler.awaited("Score", of: request)) }
    }

    /// All different acts of all policies that have a predictable effect.
    func acts(for subject: Subject, in world: World) -> [PossibleAct] {
        var seen: Set<String> = []
        return Scheduler.policies.flatMap { $0.acts(for: subject, in: world.scheduler, at: now) }
            .filter { $0.isPredictable && seen.insert($0.key).inserted }
    }

    // MARK: The sentence

    func headline(of request: TaskRequest, _ plan: Plan) -> String {
        if plan.vetoes.isEmpty && !plan.isScore { return readiness(of: request) }
        if plan.acts.isEmpty || plan.effect == plan.natural { return waiting(request, plan) }
        let isOne = plan.acts.count == 1
        let acts = plan.acts.map { ((isOne ? $0.short : nil) ?? $0.text).withSmallLetter }.inSentence
        var text = "\(lead(of: request)) \(plan.awaited.unique.inSentence): \(acts), \(consequence(plan))"
        if case .startsAt = plan.natural, plan.natural != plan.effect {
            text += "; otherwise, \(words(plan.natural))"
        } else if isOne, let end = endOfHolder(plan, request) {
            text += "; otherwise, \(end)"
        }
        let commands = plan.acts.compactMap(\.command)
        guard let command = commands.first, commands.count == 1 else { return text + "." }
        return "\(text): \(CommandText.line(command))"
    }

    /// The headline of a request that nothing holds but perhaps its window.
    private func readiness(of request: TaskRequest) -> String {
        guard scheduler.pending[request.id] != nil else { return "A request would start at once." }
        if scheduler.isShuttingDown { return "Waits for the next start of the host, which is stopping." }
        if isCrowded { return "May start, and takes its turn." }
        guard let wake = scheduler.pending.alarm(of: request.id), wake > now.wall,
            !scheduler.pending.isSimulated(request.id)
        else { return "Starts now." }
        return "May start, and starts together with other work, at the latest \(date(wake))."
    }

    /// The headline of a request for which people can do nothing whose effect is certain.
    private func waiting(_ request: TaskRequest, _ plan: Plan) -> String {
        let subject = scheduler.situation.subject(request, isTelling: true)
        let judgement = scheduler.judge(
            scheduler.situation.subject(request, isTelling: false),
            isSimulated: scheduler.pending.isSimulated(request.id), at: now)
        let main = plan.vetoes.first { $0.name == judgement.waitPolicy } ?? plan.vetoes.first
        let awaited =
            main?.awaited(by: subject, in: scheduler.situation, at: now) ?? Scheduler.awaited("Score")
        let lead = "\(lead(of: request)) \(awaited)"
        if case .startsAt = plan.natural { return "\(lead): \(words(plan.natural))." }
        guard let main else { return "\(lead)." }
        if let holder = holder(of: request, main) { return "\(lead): \(holder)." }
        if let act = main.acts(for: subject, in: scheduler, at: now).first(where: { !$0.isPredictable }) {
            let text = "\(lead): \(act.text.withSmallLetter)"
            return act.command.map { "\(text): \(CommandText.line($0))" } ?? text + "."
        }
        if case .waits(let next) = plan.natural, next != awaited, next != main.awaited {
            return "\(lead), and then for \(next)."
        }
        let answer = main.answer(for: subject, in: scheduler.situation, at: now)
        guard let rationale = answer.rationale, main.awaited == main.name.wordsOfName else {
            return "\(lead)."
        }
        // A policy without words of its own.
        let text = "\(lead): \(rationale.statement.withSmallLetter)"
        return rationale.remedy.map { "\(text). \($0)" } ?? text + "."
    }

    /// Who occupies the slot that a request waits for; `nil` if it waits for no slot.
    private func holder(of request: TaskRequest, _ policy: any Policy) -> String? {
        let holders = slotHolders(of: request, [policy])
        let first = holders.min { ($0.latestEnd ?? .distantFuture) < ($1.latestEnd ?? .distantFuture) }
        guard let first else { return nil }
        let name = "\(first.launch) (\(first.identifier))"
        let end = first.latestEnd.map { "ends \(date($0)) at the latest" }
        if case .launch = policy.answer(
            for: scheduler.situation.subject(request, isTelling: false), in: scheduler.situation, at: now
        ).fact {
            return "\(name) \(end ?? "runs")"
        }
        if holders.count == 1 { return "\(name) has it" + (end.map { ", and \($0)" } ?? "") }
        return "\(name) and \(holders.count - 1) more have them"
            + (end.map { "; the first of them \($0)" } ?? "")
    }

    /// The beginning of the sentence.
    private func lead(of request: TaskRequest) -> String {
        scheduler.pending[request.id] == nil ? "A request would wait for" : "Waits for"
    }

    /// When the launch that a person can stop ends by itself: `L41 ends at 16:00 at the latest`.
    private func endOfHolder(_ plan: Plan, _ request: TaskRequest) -> String? {
        let holder = slotHolders(of: request, plan.vetoes).first { holder in
            plan.acts.contains { $0.command == ["expire", "\(holder.launch)"] }
        }
        return holder.flatMap { holder in
            holder.latestEnd.map { "\(holder.launch) ends \(date($0)) at the latest" }
        }
    }

    private func consequence(_ plan: Plan) -> String {
        switch plan.effect {
        case .starts where plan.acts.contains(where: \.takesTime): "and it starts"
        case .starts: "and it starts at once"
        case .startsAt: "and \(words(plan.effect))"
        case .takesTurn: "and it starts in its turn"
        case .waits(let next): "and then it waits for \(next)"
        case .unknown: "and the host decides again"
        }
    }

    /// What a request does at a date, as a part of a sentence.
    private func words(_ effect: Remedy.Effect) -> String {
        guard case .startsAt(let first, let latest) = effect else { return "it waits" }
        return latest.map { "it can start \(date(first)), \(date($0)) at the latest" }
            ?? "it can start \(date(first))"
    }

    /// A date for people, in local time: `in 40 s`, `at 17:05`, `on Monday at 17:05`, `on 2026-12-03 at
    /// 17:05`.
    func date(_ time: WallTime) -> String {
        let ahead = time - now.wall
        if ahead < .seconds(90) { return "in \(max(.seconds(1), ahead).text)" }
        let local = CivilTime(second: (time + scheduler.situation.localOffset).wholeSeconds)
        let clock = "at \("\(local.clock)".prefix(5))"
        let (day, today) = (scheduler.situation.localDay(time), scheduler.situation.localDay(now.wall))
        if day == today { return clock }
        // 1970-01-01 was a Thursday.
        let weekdays = [
            "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday",
        ]
        return day - today < 7
            ? "on \(weekdays[Int(day.floorRemainder(by: 7))]) \(clock)" : "on \(local.date) \(clock)"
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
    fileprivate var unique: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
