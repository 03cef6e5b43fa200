import TaskModel

/// Holds a request that requires a GPU until the machine is known to offer one.
struct Resources: Policy {
    let name = "Resources"
    let reach = Reach.machine

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        guard subject.needs.gpu else { return subject.proceed() }
        let since = situation.since.gpu
        func rationale(_ observed: String, _ remedy: String?) -> Rationale {
            Rationale(quantity: "gpu", required: "offered", observed: observed, remedy: remedy)
        }
        switch situation.conditions.gpu {
        case .known(true): return subject.proceed(since: since, rationale("offered", nil))
        case .known(false):
            return subject.wait(
                for: .gpu, since: since,
                rationale("not offered", "Submit it without the GPU, or run it on a machine that offers one"))
        case .unknown:
            return subject.wait(
                for: .gpu, since: since,
                rationale(
                    "perhaps offered (the source of this condition does not answer)",
                    "Submit it without the GPU"))
        }
    }
}
