import TaskModel

/// A bundle that the user dismissed gets no refresh and no push until it is used again; processing still
/// runs.
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
                remedy: "Use it again: bgtask used \(subject.request.bundle)"))
    }
}
