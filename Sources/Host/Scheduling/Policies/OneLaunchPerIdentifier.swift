import TaskModel

/// Prevents two launches of one identifier at the same time, or more than its queue permits; this also
/// applies to `bgtask launch`.
struct OneLaunchPerIdentifier: Policy {
    let name = "OneLaunchPerIdentifier"
    let isPermission = true

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let identifier = subject.request.identifier
        guard let other = situation.occupancy.requests[identifier] else { return subject.proceed() }
        let queue = situation.permits.declaration(for: identifier, of: subject.request.bundle)?.queue
        if let queue {
            let count = situation.occupancy.count(of: identifier)
            func rationale(_ remedy: String?) -> Rationale {
                Rationale(
                    quantity: "launchesOfIdentifier", required: "less than \(queue.concurrency)",
                    observed: "\(count)", remedy: remedy)
            }
            guard count >= queue.concurrency else { return subject.proceed(rationale(nil)) }
            return subject.wait(
                for: .launch(identifier),
                rationale(
                    "Wait until one ends, or permit more in the manifest: queue: {concurrency: "
                        + "\(queue.concurrency + 1)}"))
        }
        return subject.wait(
            for: .launch(identifier),
            Rationale(
                quantity: "launchesOfIdentifier", required: "over",
                observed: "still running, for request \(other)",
                remedy: "Wait until it ends, or stop it: bgtask expire \(identifier)"))
    }
}
