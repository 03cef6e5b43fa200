import TaskModel

/// The combined answer of all policies about one request.
struct Judgement {
    /// The veto that determines what the request waits for; `nil` if there is no veto.
    var wait: Answer?
    /// The reach of the policy with that veto.
    fileprivate(set) var waitReach = Reach.request
    /// The name of the policy with that veto.
    var waitPolicy: String?
    /// The latest date at which a veto ends by itself, without that of ``Conflicts``; `nil` if there is none.
    fileprivate(set) var lastDate: WallTime?
    /// The sum of the scores; `nil` if the request starts without regard to scores.
    var score: ScoreSum?
    /// Whether the score reaches the threshold; true if scores do not count.
    var scoreSuffices = true
    /// The moments that the request can choose now; computed with the score, because it takes longer than
    /// all policies together.
    fileprivate(set) var choice: MomentChoice?

    /// Whether the request may start.
    var mayStart: Bool { wait == nil && scoreSuffices }
}

/// The weighted scores of one request.
struct ScoreSum {
    /// A part of the score that can change while the conditions stay the same.
    enum Moving: Sendable { case usage, coalescing }

    private(set) var sum = 0.0
    private(set) var weight = 0.0
    fileprivate(set) var usage: (score: Double, weight: Double)?
    fileprivate(set) var coalescing: (score: Double, weight: Double)?

    /// The weighted mean of the scores; 1 if no policy gave a score.
    var mean: Double { weight > 0 ? sum / weight : 1 }

    /// The weighted mean if the likelihood of use were this value.
    func mean(usage likelihood: Double) -> Double {
        guard let usage, weight > 0 else { return mean }
        return (sum + (likelihood - usage.score) * usage.weight) / weight
    }

    /// The weighted mean if the likelihood of use were this value; as it is now if the value is `nil`.
    func mean(usage likelihood: Double?) -> Double { likelihood.map { mean(usage: $0) } ?? mean }

    /// The sum if the score of the policy Coalescing were this value.
    func replacing(coalescing score: Double) -> ScoreSum {
        guard let old = coalescing else { return self }
        var copy = self
        copy.sum += (score - old.score) * old.weight
        copy.coalescing = (score, old.weight)
        return copy
    }

    fileprivate mutating func add(_ score: Double, _ weight: Double) {
        sum += score * weight
        self.weight += weight
    }
}

/// The threshold that a request's mean score must reach.
///
/// It has its standard value until the request is ripe. Then it falls linearly, to 0 when the request is due;
/// see ``LaunchWindow``.
struct Threshold {
    let standard: Double
    let start: WallTime
    let deadline: WallTime

    init(_ request: TaskRequest, _ settings: SchedulerSettings) {
        standard = settings.scoreThreshold
        let window = LaunchWindow(request, settings)
        (start, deadline) = (window.ripe, window.due)
    }

    func value(at time: WallTime) -> Double {
        guard time < deadline, start < deadline else { return 0 }
        return standard * min(1, (deadline - time).inSeconds / (deadline - start).inSeconds)
    }

    /// Whether a mean reaches the threshold at a time, with a margin for rounding errors.
    func isMet(by mean: Double, at time: WallTime) -> Bool { mean + 1e-9 >= value(at: time) }

    /// When the threshold falls to a mean, to the millisecond, and at the latest at the deadline.
    ///
    /// Returns ``WallTime/distantPast`` if the mean reaches the standard threshold. This is also right before
    /// the request could begin, which is possible after the wall clock was set back.
    func date(for mean: Double) -> WallTime {
        guard mean + 1e-9 < standard else { return .distantPast }
        guard start < deadline else { return start }
        let share = min(1, max(0, mean / standard))
        let ahead = Int64(share * (deadline - start).inSeconds * 1000)
        return max(start, WallTime(sinceEpoch: deadline.sinceEpoch - .milliseconds(ahead)))
    }
}

extension Scheduler {
    /// Asks the policies that apply, without texts for people; ``handle(_:at:)`` acts on the result.
    ///
    /// If `isDeciding` is true, the score of a request with a veto is not compared with anything.
    func judge(
        _ subject: Subject, isSimulated: Bool, isDeciding: Bool = false, at now: Moment
    ) -> Judgement {
        var judgement = Judgement()
        var score = ScoreSum()
        for policy in Self.policies where !isSimulated || policy.isPermission {
            let answer = policy.answer(for: subject, in: situation, at: now)
            add(answer, of: policy, to: &judgement, &score)
        }
        if isDeciding, judgement.wait != nil { return judgement }
        conclude(&judgement, score, subject, isSimulated: isSimulated, at: now)
        return judgement
    }

    /// The same as ``judge(_:isSimulated:isDeciding:at:)``, with all policies that object, in order.
    func judgeWithVetoes(
        _ subject: Subject, isSimulated: Bool, at now: Moment
    ) -> (judgement: Judgement, vetoes: [any Policy]) {
        var judgement = Judgement()
        var score = ScoreSum()
        var vetoes: [any Policy] = []
        for policy in Self.policies where !isSimulated || policy.isPermission {
            let answer = policy.answer(for: subject, in: situation, at: now)
            if answer.isVeto { vetoes.append(policy) }
            add(answer, of: policy, to: &judgement, &score)
        }
        conclude(&judgement, score, subject, isSimulated: isSimulated, at: now)
        return (judgement, vetoes)
    }

    /// Asks the policies that apply, with texts for people.
    func explain(_ subject: Subject, isSimulated: Bool, at now: Moment) -> Explanation {
        var judgement = Judgement()
        var score = ScoreSum()
        var explanation = Explanation(question: .start, at: now.wall, verdicts: [])
        explanation.verdicts.reserveCapacity(Self.policies.count + 1)
        for policy in Self.policies where !isSimulated || policy.isPermission {
            let answer = policy.answer(for: subject, in: situation, at: now)
            add(answer, of: policy, to: &judgement, &score)
            explanation.verdicts.append(policy.verdict(answer, in: situation))
        }
        conclude(&judgement, score, subject, isSimulated: isSimulated, at: now)
        guard let sum = judgement.score else { return explanation }
        explanation.score = sum.mean
        explanation.threshold = Threshold(subject.request, settings).value(at: now.wall)
        if let choice = judgement.choice, choice.measure == .score,
            let position = choice.position(ofQuarter: situation.localQuarter(now.wall)),
            let demand = choice.demand(at: position)
        {
            explanation.threshold = max(explanation.threshold ?? 0, demand)
        }
        if !judgement.scoreSuffices {
            explanation.scoreSuffices = dateOfScore(sum, subject, judgement.choice, at: now)
        }
        explanation.verdicts.append(verdict(of: explanation, subject, sum, judgement.choice, at: now))
        return explanation
    }

    private func add(
        _ answer: Answer, of policy: any Policy, to judgement: inout Judgement, _ score: inout ScoreSum
    ) {
        if answer.isVeto {
            if answer.rank == 1, policy.name != Conflicts.name {
                judgement.lastDate = [judgement.lastDate, answer.until].compactMap(\.self).max()
            }
            guard let wait = judgement.wait else {
                judgement.wait = answer
                judgement.waitReach = policy.reach
                judgement.waitPolicy = policy.name
                return
            }
            // Of several dates, the latest counts, because the request can't start before it.
            let isBetter =
                answer.rank < wait.rank
                || (answer.rank == 1 && wait.rank == 1
                    && (answer.until ?? .distantPast) > (wait.until ?? .distantPast))
            if isBetter {
                judgement.wait = answer
                judgement.waitReach = policy.reach
                judgement.waitPolicy = policy.name
            }
            return
        }
        guard let value = answer.score else { return }
        let weight = policy.weight(situation.settings.weights)
        score.add(value, weight)
        switch policy.moving {
        case .usage: score.usage = (value, weight)
        case .coalescing: score.coalescing = (value, weight)
        case nil: break
        }
    }

    private func conclude(
        _ judgement: inout Judgement, _ score: ScoreSum, _ subject: Subject, isSimulated: Bool, at now: Moment
    ) {
        guard subject.isDiscretionary, !isSimulated else { return }
        judgement.score = score
        judgement.choice = momentChoice(of: subject, at: now)
        judgement.scoreSuffices = suffices(score, subject, judgement.choice, at: now)
    }

    /// Whether a score is enough now: it reaches the threshold, and no better moment is expected.
    ///
    /// - Parameters:
    ///   - score: The score.
    ///   - subject: The request.
    ///   - choice: ``momentChoice(of:at:)`` of the request.
    ///   - now: The present time.
    /// - Returns: Whether it is enough.
    func suffices(_ score: ScoreSum, _ subject: Subject, _ choice: MomentChoice?, at now: Moment) -> Bool {
        // Only the use of its bundle decides about a task with `prefetch` or a refresh with a habit.
        if choice?.measure != .use,
            !Threshold(subject.request, settings).isMet(by: score.mean, at: now.wall)
        {
            return false
        }
        guard let choice, let position = choice.position(ofQuarter: situation.localQuarter(now.wall)) else {
            return true
        }
        return choice.suffices(score, at: position)
    }

    /// When the score alone permits a start, if the conditions stay as they are.
    ///
    /// This is when the threshold has fallen to the score, or when an hour of likely use raises the score;
    /// and when nothing better is expected any more.
    ///
    /// - Parameters:
    ///   - score: The score.
    ///   - subject: The request.
    ///   - choice: ``momentChoice(of:at:)`` of the request.
    ///   - now: The present time.
    /// - Returns: The date, which is later than now.
    func dateOfScore(
        _ score: ScoreSum, _ subject: Subject, _ choice: MomentChoice?, at now: Moment
    ) -> WallTime {
        let threshold = Threshold(subject.request, settings)
        var soonest = now.wall + .milliseconds(1)
        if let choice {
            for position in choice.values.indices {
                let quarter = choice.first + Int64(position)
                let end = situation.start(ofQuarter: quarter + 1)
                let start = max(soonest, situation.start(ofQuarter: quarter))
                guard start < end, choice.isOpen(at: position), choice.suffices(score, at: position) else {
                    continue
                }
                if choice.measure == .use { return start }
                let date = max(start, threshold.date(for: score.mean(usage: choice.uses?[position])))
                if date < end { return date }
            }
            soonest = max(soonest, situation.start(ofQuarter: choice.first + Int64(choice.values.count)))
        }
        let date = max(threshold.date(for: score.mean), soonest)
        guard score.usage != nil else { return date }
        return subject.bundle.usage.next(after: soonest, until: date, in: situation) {
            threshold.isMet(by: score.mean(usage: $1), at: $0)
        } ?? date
    }

    /// The score and the threshold as a verdict, so that a request that waits only for its score has a line,
    /// too.
    private func verdict(
        of explanation: Explanation, _ subject: Subject, _ sum: ScoreSum, _ choice: MomentChoice?,
        at now: Moment
    ) -> Verdict {
        let (score, threshold) = (explanation.score ?? 1, explanation.threshold ?? 0)
        let isEnough = explanation.scoreSuffices == nil
        let deadline = Threshold(subject.request, settings).deadline
        var rationale = Rationale(
            quantity: "score",
            required: deadline > now.wall
                ? "\(threshold.text) or more, and this limit falls to 0 by \(deadline.text)"
                : "\(threshold.text) or more, since \(deadline.text)",
            observed: score.text, earliestChange: explanation.scoreSuffices,
            remedy: isEnough
                ? nil
                : situation.remedy(
                    adviceOnScore(of: subject, sum, at: now), orLaunch: subject))
        if let choice, let position = choice.position(ofQuarter: situation.localQuarter(now.wall)),
            let best = choice.best(after: position), !isEnough, !choice.suffices(sum, at: position)
        {
            tell(choice, best, explanation, subject, in: &rationale)
        }
        return Verdict(
            policy: "Score", decision: isEnough ? .proceed : .mustNotProceed, score: score, weight: 0,
            rationale: [rationale])
    }

    /// Says which better moment a request waits for.
    private func tell(
        _ choice: MomentChoice, _ best: (position: Int, value: Double), _ explanation: Explanation,
        _ subject: Subject, in rationale: inout Rationale
    ) {
        let time = situation.start(ofQuarter: choice.first + Int64(best.position))
        if choice.measure == .score {
            rationale.required =
                "\((explanation.threshold ?? 0).text) or more, because \(best.value.text) is expected at \(time.text)"
        } else {
            rationale = Rationale(
                quantity: "expectedUse", required: (explanation.scoreSuffices ?? time).text,
                observed: "expected within half an hour of \(time.text)",
                earliestChange: explanation.scoreSuffices, remedy: nil)
            rationale.remedy = situation.remedy("Wait", orLaunch: subject)
        }
    }
}

extension WallTime {
    /// Earlier than every date in the scheduler.
    static let distantPast = WallTime(sinceEpoch: .seconds(Int64.min / 4))
}
