import TaskModel

/// Prevents two launches of one identifier at the same time; this also applies to `bgtask launch`.
struct OneLaunchPerIdentifier: Policy {
    let name = "OneLaunchPerIdentifier"
    let isPermission = true

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let identifier = subject.request.identifier
        guard let other = situation.occupancy.requests[identifier] else { return subject.proceed() }
        return subject.wait(
            for: .launch(identifier),
            Rationale(
                quantity: "launchesOfIdentifier", required: "over",
                observed: "still running, for request \(other)",
                remedy: "Wait until it ends, or stop it: bgtask expire \(identifier)"))
    }
}
