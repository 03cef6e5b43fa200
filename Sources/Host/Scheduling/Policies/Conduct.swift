import TaskModel

/// Scores how a bundle's launches ended in the last days.
///
/// Launches that finish early, or that stop soon after an expiration, raise the score. Kills, crashes and
/// assertions that were never ended lower it.
struct Conduct: Policy {
    let name = "Conduct"

    func weight(_ weights: PolicyWeights) -> Double { weights.conduct }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard subject.isDiscretionary else { return subject.proceed() }
        let settings = situation.settings
        let points = subject.bundle.conduct.points(on: situation.localDay(now.wall), settings)
        return subject.proceed(
            score: subject.bundle.conduct.score(on: situation.localDay(now.wall), settings),
            Rationale(
                quantity: "conduct",
                required: "without kills, crashes and leaks for \(settings.conductDays) days",
                observed: points == 0 ? "neutral" : "\(points > 0 ? "+" : "")\(points) points"))
    }
}
