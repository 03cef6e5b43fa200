import TaskModel

/// Holds requests whose manifest is gone or no longer permits them; they wait rather than vanish.
struct Permission: Policy {
    let name = "Permission"
    let isPermission = true
    let endReason: Reason? = .manifestRemoved

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let request = subject.request
        let refusal = situation.permits.refusal(
            of: request.identifier, kind: request.kind, bundle: request.bundle)
        guard let refusal else { return subject.proceed() }
        return subject.stop(
            until: .handlers,
            Rationale(
                quantity: "manifest", required: refusal.required, observed: refusal.observed,
                remedy: refusal.remedy))
    }
}
