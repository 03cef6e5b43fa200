import TaskModel

/// Gives a higher score in the half hour before the bundle is usually used.
struct Usage: Policy {
    let name = "Usage"
    let moving: ScoreSum.Moving? = .usage

    func weight(_ weights: PolicyWeights) -> Double { weights.usage }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard subject.isDiscretionary else { return subject.proceed() }
        let history = subject.bundle.usage
        guard let likelihood = history.likelihood(at: now.wall, in: situation) else {
            return subject.proceed()
        }
        return subject.proceed(
            score: likelihood,
            Rationale(
                quantity: "usage", required: "on all of them, by preference",
                observed: "on \(Int(likelihood * 100 + 0.5)) % of the recorded days",
                earliestChange: history.nextRise(after: now.wall, above: likelihood, in: situation)))
    }
}
