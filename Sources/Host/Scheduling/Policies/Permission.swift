import TaskModel

/// Holds requests that no manifest permits any more, and stops their launches.
///
/// The requests stay pending, and can start when a manifest permits them again.
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
