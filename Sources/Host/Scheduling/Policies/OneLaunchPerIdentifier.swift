import TaskModel

/// Never two launches of one identifier at once, not even a simulated one.
struct OneLaunchPerIdentifier: Policy {
    let name = "OneLaunchPerIdentifier"
    let isPermission = true

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let identifier = subject.request.identifier
        guard let other = situation.occupancy.requests[identifier] else { return subject.proceed() }
        return subject.wait(
            for: .launch(identifier),
            Rationale(
                quantity: "launchesOfIdentifier", required: "0 under way",
                observed: "1 under way, of request \(other)",
                remedy: "Wait for it, or end it: bgtask expire \(identifier)"))
    }
}
