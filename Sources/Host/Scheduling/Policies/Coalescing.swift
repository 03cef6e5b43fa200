import TaskModel

/// Gives a higher score while another launch is under way, because the machine is awake anyway.
struct Coalescing: Policy {
    let name = "Coalescing"
    let moving: ScoreSum.Moving? = .coalescing

    func weight(_ weights: PolicyWeights) -> Double { weights.coalescing }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let isBusy = situation.occupancy.isBusy
        return subject.proceed(
            score: isBusy ? 1 : situation.settings.scores.nothingRunning, since: situation.occupancy.since,
            Rationale(
                quantity: "launchesUnderWay", required: isBusy ? "1 or more" : "1 or more, by preference",
                observed: "\(situation.occupancy.requests.count)"))
    }
}
