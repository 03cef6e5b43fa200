import TaskModel

/// Launches that end early and heed expiration raise a bundle's score; kills, crashes and leaks lower it.
struct Conduct: Policy {
    let name = "Conduct"

    func weight(_ weights: PolicyWeights) -> Double { weights.conduct }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard subject.isDiscretionary else { return subject.proceed() }
        let settings = situation.settings
        let points = subject.bundle.conduct.points(on: situation.localDay(now.wall), settings)
        return subject.proceed(
            score: settings.conductStart + Double(points) / 100,
            Rationale(
                quantity: "conduct",
                required: "without kills, crashes and leaks for \(settings.conductDays) days",
                observed: points == 0 ? "neutral" : "\(points > 0 ? "+" : "")\(points) points"))
    }
}
