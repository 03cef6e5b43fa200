import TaskModel

/// Holds the refresh and push requests of a dismissed bundle until the bundle is used again.
///
/// Its other requests still start. The dismissal itself cancels continued tasks that wait for a slot.
struct Dismissed: Policy {
    let name = "Dismissed"
    let reach = Reach.bundle

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard [.appRefresh, .push].contains(subject.request.kind),
            let since = subject.bundle.dismissedAt
        else { return subject.proceed() }
        return subject.wait(
            for: .bundle(subject.request.bundle), since: since,
            Rationale(
                quantity: "dismissed", required: "used again",
                observed: "dismissed by the user at \(since.text)",
                remedy: "Use the bundle again: bgtask used \(subject.request.bundle)"))
    }
}
