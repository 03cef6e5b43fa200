import TaskModel

/// What all policies together say of one request.
struct Judgement {
    /// The veto that says where the request waits.
    var wait: Answer?
    /// The reach of the policy that gave it.
    fileprivate(set) var waitReach = Reach.request
    /// The policy that gave it.
    var waitPolicy: String?
    /// The scores, where they count.
    var score: ScoreSum?
    /// Whether the score reaches the threshold; true where no score counts.
    var scoreSuffices = true

    /// Whether it may start.
    var mayStart: Bool { wait == nil && scoreSuffices }
}

/// The weighted scores of one request.
struct ScoreSum {
    /// A part that changes without a change of conditions.
    enum Moving: Sendable { case usage, coalescing }

    private(set) var sum = 0.0
    private(set) var weight = 0.0
    fileprivate(set) var usage: (score: Double, weight: Double)?
    fileprivate(set) var coalescing: (score: Double, weight: Double)?

    /// The weighted mean; 1 where no policy has an opinion.
    var mean: Double { weight > 0 ? sum / weight : 1 }

    /// The mean with another likelihood of use.
    func mean(usage likelihood: Double) -> Double {
        guard let usage, weight > 0 else { return mean }
        return (sum + (likelihood - usage.score) * usage.weight) / weight
    }

    /// The mean if the machine were busy, or idle.
    func mean(coalescing score: Double) -> Double {
        guard let coalescing, weight > 0 else { return mean }
        return (sum + (score - coalescing.score) * coalescing.weight) / weight
    }

    fileprivate mutating func add(_ score: Double, _ weight: Double) {
        sum += score * weight
        self.weight += weight
    }
}

/// What the mean must reach: the standard threshold until the request could begin, then less and less, 0 at
/// the deadline.
struct Threshold {
    let standard: Double
    let start: WallTime
    let deadline: WallTime

    init(_ request: TaskRequest, _ settings: SchedulerSettings) {
        standard = settings.scoreThreshold
        start = max(request.effectiveBeginDate ?? request.submittedAt, request.submittedAt)
        deadline = request.deadline
    }

    func value(at time: WallTime) -> Double {
        guard time < deadline, start < deadline else { return 0 }
        return standard * min(1, (deadline - time).inSeconds / (deadline - start).inSeconds)
    }

    /// Whether a mean is enough; the margin is for rounding alone.
    func isMet(by mean: Double, at time: WallTime) -> Bool { mean + 1e-9 >= value(at: time) }

    /// When the threshold has fallen to a mean: to the next millisecond, never later than the deadline.
    ///
    /// The distant past where the standard threshold is met: also before the start, which lies ahead once the
    /// wall clock was set back.
    func date(for mean: Double) -> WallTime {
        guard mean + 1e-9 < standard else { return .distantPast }
        guard start < deadline else { return start }
        let share = min(1, max(0, mean / standard))
        let ahead = Int64(share * (deadline - start).inSeconds * 1000)
        return max(start, WallTime(sinceEpoch: deadline.sinceEpoch - .milliseconds(ahead)))
    }
}

extension Scheduler {
    /// Asks every policy, without texts: what ``handle(_:at:)`` acts on.
    func judge(_ subject: Subject, isSimulated: Bool, at now: Moment) -> Judgement {
        var judgement = Judgement()
        var score = ScoreSum()
        for policy in Self.policies where !isSimulated || policy.isPermission {
            let answer = policy.answer(for: subject, in: situation, at: now)
            add(answer, of: policy, to: &judgement, &score)
        }
        conclude(&judgement, score, subject, isSimulated: isSimulated, at: now)
        return judgement
    }

    /// The same with texts: what ``explain(_:at:)`` prints.
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
        let threshold = Threshold(subject.request, situation.settings)
        explanation.score = sum.mean
        explanation.threshold = threshold.value(at: now.wall)
        if !judgement.scoreSuffices {
            explanation.scoreSuffices = dateOfScore(sum, threshold, subject, at: now)
        }
        explanation.verdicts.append(verdict(of: explanation, subject))
        return explanation
    }

    private func add(
        _ answer: Answer, of policy: any Policy, to judgement: inout Judgement, _ score: inout ScoreSum
    ) {
        if answer.isVeto {
            guard let wait = judgement.wait else {
                judgement.wait = answer
                judgement.waitReach = policy.reach
                judgement.waitPolicy = policy.name
                return
            }
            // Among dates the latest decides when a look is worthwhile.
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
        judgement.scoreSuffices = Threshold(subject.request, situation.settings)
            .isMet(by: score.mean, at: now.wall)
    }

    /// When the score alone would let it start: where the falling threshold meets it, or a learnt hour of use
    /// lifts it.
    func dateOfScore(_ score: ScoreSum, _ threshold: Threshold, _ subject: Subject, at now: Moment)
        -> WallTime
    {
        let date = max(threshold.date(for: score.mean), now.wall + .milliseconds(1))
        guard score.usage != nil else { return date }
        return subject.bundle.usage.next(after: now.wall, until: date, in: situation) {
            threshold.isMet(by: score.mean(usage: $1), at: $0)
        } ?? date
    }

    /// The score as one more line, so that whatever waits has a line that says why.
    private func verdict(of explanation: Explanation, _ subject: Subject) -> Verdict {
        let (score, threshold) = (explanation.score ?? 1, explanation.threshold ?? 0)
        let isEnough = explanation.scoreSuffices == nil
        return Verdict(
            policy: "Score", decision: isEnough ? .proceed : .mustNotProceed, score: score, weight: 0,
            rationale: [
                Rationale(
                    quantity: "score",
                    required:
                        "\(threshold.text) or more, and this limit falls to 0 by \(subject.request.deadline.text)",
                    observed: score.text, earliestChange: explanation.scoreSuffices,
                    remedy: isEnough
                        ? nil
                        : "Wait for better conditions, or start it now without the policies: bgtask launch \(subject.request.identifier)"
                )
            ])
    }
}

extension WallTime {
    /// Before every date that is ever compared.
    static let distantPast = WallTime(sinceEpoch: .seconds(Int64.min / 4))
}
