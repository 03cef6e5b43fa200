import TaskModel

/// The resources that the request asks for: the GPU.
struct Resources: Policy {
    let name = "Resources"

    func awaits(_ request: TaskRequest) -> Fact { .gpu }

    func verdict(for request: TaskRequest, in situation: Situation, at now: Moment) -> Verdict {
        guard situation.needs(of: request).gpu else { return proceed() }
        switch situation.conditions.gpu {
        case .known(true):
            return proceed(Rationale(quantity: "gpu", required: "offered", observed: "offered"))
        case .known(false):
            return veto(
                Rationale(
                    quantity: "gpu", required: "offered", observed: "not offered",
                    remedy: "Submit it without the GPU, or run it on a machine that offers one"))
        case .unknown:
            return veto(
                Rationale(
                    quantity: "gpu", required: "offered", observed: "unknown: its source does not answer"))
        }
    }
}
