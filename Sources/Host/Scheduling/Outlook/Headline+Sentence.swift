import TaskModel

/// The sentence about a plan: what a request waits for, what to do, and what then follows.
extension Foresight {
    mutating func headline(of request: TaskRequest, _ plan: Plan) -> String {
        if plan.vetoes.isEmpty && !plan.isScore { return readiness(of: request) }
        guard plan.effect.isStart, !plan.acts.isEmpty else { return waiting(request, plan) }
        let isOne = plan.acts.count == 1
        var text =
            "\(lead(of: request)) \(plan.awaited.unique.inSentence): \(words(of: plan)), \(consequence(plan))"
        if case .startsAt(let date, _) = plan.natural {
            if failure(of: request, before: date) == nil { text += "; otherwise, \(words(plan.natural))" }
        } else if isOne, let end = endOfHolder(plan, request) {
            text += "; otherwise, \(end)"
        }
        return finish(
            text, request, plan.acts.filter { plan.alternatives[$0.key]?.isEmpty ?? true })
    }

    /// The acts of a plan as a part of a sentence; those with alternatives come last: `leave the device alone
    /// for 5 min and either plug in or connect to an unmetered network`.
    private func words(of plan: Plan) -> String {
        var (plain, choices): ([PossibleAct], [String]) = ([], [])
        for act in plan.acts {
            guard let others = plan.alternatives[act.key], !others.isEmpty else {
                plain.append(act)
                continue
            }
            let all = ([act] + others).map { act in
                let commands = act.commands.map { CommandText.line($0) }.joined(separator: " && ")
                return act.text.withSmallLetter + (commands.isEmpty ? "" : " (\(commands))")
            }
            let hasParts = ([act] + others).contains { !$0.parts.isEmpty }
            let comma = hasParts || all.count > 2 ? ", " : " "
            choices.append(
                (plan.acts.count > 1 ? "either " : "")
                    + all.dropLast().joined(separator: ", ") + "\(comma)or \(all[all.count - 1])")
        }
        if choices.isEmpty { return words(plain) }
        return (plain.map(\.text.withSmallLetter) + choices).inSentence
    }

    /// The acts as a part of a sentence.
    private func words(_ acts: [PossibleAct]) -> String {
        acts.map { ((acts.count == 1 ? $0.short : nil) ?? $0.text).withSmallLetter }.inSentence
    }

    /// The acts as a part of a sentence, each with its command; `nil` if there are none.
    private func wordsWithCommands(_ acts: [PossibleAct]) -> String? {
        if acts.isEmpty { return nil }
        return acts.map { act in
            let commands = act.commands.map { CommandText.line($0) }.joined(separator: " && ")
            return act.text.withSmallLetter + (commands.isEmpty ? "" : " (\(commands))")
        }.inSentence
    }

    /// The acts and what follows; `nil` if there is neither.
    func sentence(of acts: [PossibleAct], _ consequence: String?) -> String? {
        if acts.isEmpty { return consequence }
        return words(acts) + (consequence.map { ", and \($0)" } ?? "")
    }

    /// What must hold or be done before a date, as the end of a sentence.
    func conditions(_ acts: [PossibleAct], _ states: [String]) -> String {
        let states = (acts.compactMap(\.state) + states).unique
        let others = acts.filter { $0.state == nil }.map(\.text.withSmallLetter)
        let parts =
            (states.isEmpty ? [] : ["\(states.inSentence) then"])
            + (others.isEmpty ? [] : ["you \(others.inSentence) before"])
        return parts.isEmpty ? "" : ", if \(parts.inSentence)"
    }

    /// Ends a headline: with the date at which the request fails, and with the commands of the acts.
    func finish(_ text: String, _ request: TaskRequest, _ acts: [PossibleAct]) -> String {
        var text = text
        if let end = request.failsAt, end > now.wall {
            text += "; it fails \(date(end)) unless it has started"
        }
        let commands = acts.flatMap(\.commands).settingTogether
        guard !commands.isEmpty, commands.count <= 3 else { return text + "." }
        return "\(text): \(commands.map { CommandText.line($0) }.joined(separator: " && "))"
    }

    /// What a request does that can only start after its client's deadline; `nil` if it can start before.
    func failure(of request: TaskRequest, before start: WallTime) -> String? {
        guard let end = request.failsAt, end > now.wall, start >= end else { return nil }
        return "it fails \(date(end)), because it can't start before \(self.bareDate(start)); "
            + "submit it again with a later deadline"
    }

    /// Whether a date is so late that an act now would be too early: more than 10 min ahead, our choice.
    func isFar(_ date: WallTime) -> Bool { date - now.wall > .seconds(600) }

    /// The headline of a request to which no policy objects; it may wait for the end of its window.
    func readiness(of request: TaskRequest) -> String {
        guard scheduler.pending[request.id] != nil else { return "A request would start at once." }
        if scheduler.isShuttingDown { return "Waits for the next start of the host, which is stopping." }
        if isCrowded { return "May start, when its turn comes among more than a thousand pending requests." }
        guard let wake = scheduler.pending.alarm(of: request.id), wake > now.wall,
            !scheduler.pending.isSimulated(request.id)
        else { return "Starts now." }
        return "May start, and starts together with other work, at the latest \(date(wake))."
    }

    /// The headline of a request that no known act lets start now: all that it waits for, the date at which
    /// it can start, if that is known, and what must be done before or hold then.
    private mutating func waiting(_ request: TaskRequest, _ plan: Plan) -> String {
        var (acts, awaited) = (plan.acts, plan.awaited)
        var world = world(of: request, after: acts)
        var course = course(of: request, in: world)
        let isFar = course.date.map(isFar) ?? false
        if let permission = course.rest.first(where: { $0 is Permission }) {
            // No manifest permits the task, so what else the task needs is not known.
            (acts, awaited) = ([], [])
            course = Course(rest: [permission])
        } else if needsCorrection(request), let when = course.rest.first(where: { $0 is When }) {
            // Until the manifest is corrected, nothing else is of use.
            (acts, awaited) = ([], [])
            course = Course(rest: [when])
        } else if isFar, acts.contains(where: \.isStop) {
            // A slot that is free now may be taken then.
            awaited = zip(acts, awaited).filter { !$0.0.isStop }.map(\.1)
            acts.removeAll(where: \.isStop)
            world = self.world(of: request, after: acts)
            course = self.course(of: request, in: world)
        }
        let situation = world.scheduler.situation
        let subject = situation.subject(world.current(request), isTelling: false)
        // Without the acts, the slots are free: others would take them first.
        let others = isFar ? [] : laterRivals(of: request, course.rest, in: world)
        let rest = course.rest.filter { policy in !others.contains { $0.name == policy.name } }
            .map { $0.awaited(by: subject, in: situation, at: now) }
        let all = isFar ? course.awaited + awaited + rest : awaited + course.awaited + rest
        let lead = "\(lead(of: request)) \(all.unique.inSentence)"
        // Acts whose effect is not known in advance, such as repairs.
        var uncertain: [PossibleAct] = []
        for policy in course.rest {
            let act = policy.acts(for: subject, in: world.scheduler, at: now).first { !$0.isPredictable }
            // Two policies can miss the same sensor.
            if let act, !uncertain.contains(where: { $0.key == act.key }) { uncertain.append(act) }
        }
        guard let date = course.date, isFar || course.rest.isEmpty else {
            // No date: until then, or even later, something else may hold the request.
            let isTurn = uncertain.isEmpty && !others.isEmpty && others.count == course.rest.count
            let what = sentence(of: acts + uncertain, isTurn && !acts.isEmpty ? "it starts in its turn" : nil)
            let holder = course.rest.compactMap { policy -> String? in self.holder(of: request, policy) }
                .first
            // The date is too far away for a forecast.
            let begin =
                course.rest.contains { $0 is EarliestBeginDate }
                ? EarliestBeginDate.lastDate(of: request) : nil
            let notBefore = begin.map { "it can't start before \(bareDate($0))" }
            let text = [notBefore, what, holder].compactMap(\.self).joined(separator: "; ")
            let isStopping = slotHolders(of: request, course.rest).contains(where: \.isExpiring)
            if holder != nil, !isStopping, let launch = launchAct(request),
                effect(self.world(of: request, after: [launch]), on: request).0 == .starts
            {
                // To stop one of the launches would be of no use now: another request would get the slot.
                let told = [wordsWithCommands(acts + uncertain), holder].compactMap(\.self)
                return finish(
                    "\(lead): \(told.joined(separator: "; ")); to start it now"
                        + (what == nil ? "" : " in spite of that"), request, [launch])
            }
            return finish(
                text.isEmpty ? lead : "\(lead): \(text)", request, acts + uncertain)
        }
        if let failure = failure(of: request, before: date) { return "\(lead): \(failure)." }
        var start = "it can start \(self.date(date))"
        if course.rest.isEmpty, case .startsAt(let first, let latest?) = effect(world, on: request).0,
            first == date, request.failsAt.map({ $0 > latest }) ?? true
        {
            start += ", \(self.date(latest)) at the latest"
        }
        let note = pressureNote(acts, for: subject, in: situation)
        guard isFar else {
            let what = sentence(of: acts + uncertain, start) ?? start
            return finish("\(lead): \(what)\(note)", request, acts + uncertain)
        }
        let states = course.rest.compactMap { policy -> String? in
            switch policy.answer(for: subject, in: situation, at: now).fact {
            case .slot: "a slot is free"
            case .launch(request.identifier): "its running launch has ended"
            case .launch: "no conflicting task runs"
            default: nil
            }
        }
        let text = "\(lead): \(start)\(conditions(acts + uncertain, states))\(note)"
        // Conditions that a person sets remain, so that can be done now.
        return finish(text, request, acts.filter { $0.state == nil && !$0.isStop })
    }

    /// Why a request waits although an act brings about the pressure that its `when` asks for; empty for all
    /// others.
    private func pressureNote(
        _ acts: [PossibleAct], for subject: Subject, in situation: Situation
    ) -> String {
        guard acts.contains(where: { ([$0] + $0.parts).contains(where: \.isPressing) }),
            Pressure().answer(for: subject, in: situation, at: now).isVeto
        else { return "" }
        return "; under such pressure, the host holds deferrable tasks for at most "
            + situation.settings.pressureLimit.text
    }

    /// Whether the `when` of a request can never be true, and no other payload helps.
    func needsCorrection(_ request: TaskRequest) -> Bool {
        let subject = scheduler.situation.subject(request, isTelling: false)
        guard subject.needs.constraints?.when?.canBeTrue == false,
            !scheduler.pending.isSimulated(request.id)
        else { return false }
        return !When().acts(for: subject, in: scheduler, at: now).contains(where: \.isPredictable)
    }

    /// The policies that hold a request only in a world, because other requests have started there.
    private func laterRivals(
        of request: TaskRequest, _ policies: [any Policy], in world: World
    ) -> [any Policy] {
        let (present, later) = (scheduler.situation, world.scheduler.situation)
        let subject = present.subject(request, isTelling: false)
        let after = later.subject(world.current(request), isTelling: false)
        return policies.filter { policy in
            switch policy.answer(for: after, in: later, at: now).fact {
            case .slot, .launch: !policy.answer(for: subject, in: present, at: now).isVeto
            default: false
            }
        }
    }

    /// Who occupies the slot that a request waits for; `nil` if it waits for no slot.
    func holder(of request: TaskRequest, _ policy: any Policy) -> String? {
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
        let names = holders.prefix(3).map { "\($0.launch) (\($0.identifier))" }
        let rest = holders.count - names.count
        return (names + (rest > 0 ? ["\(rest) more"] : [])).inSentence + " occupy the slots"
            + (end.map { "; one of them \($0)" } ?? "")
    }

    /// The beginning of the sentence.
    func lead(of request: TaskRequest) -> String {
        scheduler.pending[request.id] == nil ? "A request would wait for" : "Waits for"
    }

    /// When the launch that a person can stop ends by itself, or another one in the slots: `L41 or L42
    /// (com.example.feed.index) ends at 16:00 at the latest`.
    private func endOfHolder(_ plan: Plan, _ request: TaskRequest) -> String? {
        let holders = slotHolders(of: request, plan.vetoes)
        let own = holders.first { holder in
            plan.acts.contains { $0.command == ["expire", "\(holder.launch)"] }
        }
        guard let own, let end = holders.compactMap(\.latestEnd).min() else { return nil }
        let others = holders.filter { $0.launch != own.launch }
        let names =
            others.count > 2
            ? ["one of \(others.count) others"] : others.map { "\($0.launch) (\($0.identifier))" }
        let all = ["\(own.launch)"] + names
        let subject =
            all.count == 1 ? all[0] : all.dropLast().joined(separator: ", ") + " or \(all[all.count - 1])"
        return "\(subject) ends \(date(end)) at the latest"
    }

    private func consequence(_ plan: Plan) -> String {
        let all = plan.acts + plan.alternatives.values.flatMap(\.self)
        return switch plan.effect {
        case .starts where all.contains(where: \.takesTime): "and it starts"
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

    /// The same after another preposition: `22:00`, `Monday at 17:05`, `40 s from now`.
    private func bareDate(_ time: WallTime) -> String {
        let text = date(time)
        let bare = String(text.dropFirst(3))
        return text.hasPrefix("in ") ? bare + " from now" : bare
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

extension [[String]] {
    /// The commands, with one `bgtask conditions set` in place of several.
    fileprivate var settingTogether: [[String]] {
        let start = ["conditions", "set"]
        var together: [[String]] = []
        for command in self {
            let index = together.firstIndex { $0.starts(with: start) }
            if command.starts(with: start), let index {
                together[index] += command.dropFirst(start.count)
            } else {
                together.append(command)
            }
        }
        return together
    }
}
