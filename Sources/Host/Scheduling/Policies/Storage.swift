import TaskModel

/// Holds a request until there is as much free space as its manifest requires (`storage`).
///
/// A launch under way continues, because it may itself use the space that it asked for. Unknown space holds
/// the request.
struct Storage: Policy {
    let name = "Storage"
    let reach = Reach.machine

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard let required = subject.needs.constraints?.storage else { return subject.proceed() }
        let since = situation.since.storage
        let free = situation.conditions.storage.value
        func rationale(_ remedy: String?) -> Rationale {
            Rationale(
                quantity: "freeSpace", required: "\(required) or more",
                observed: free.map { "\($0)" } ?? "unknown (the file system does not report it)",
                remedy: remedy)
        }
        if let free, free >= required { return subject.proceed(since: since, rationale(nil)) }
        let wait =
            free == nil
            ? "Check the file system of the host's state directory"
            : "Free space on the file system of the host's state directory"
        return subject.wait(
            for: .storage, since: since,
            rationale(situation.remedy(wait, orLaunch: subject)))
    }
}
