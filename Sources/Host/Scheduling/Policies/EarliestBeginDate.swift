import TaskModel

/// Not before the request's date, nor before the back-off of one that was put back.
struct EarliestBeginDate: Policy {
    let name = "EarliestBeginDate"

    func awaits(_ request: TaskRequest) -> Fact { .time }

    func verdict(for request: TaskRequest, in situation: Situation, at now: Moment) -> Verdict {
        let waits = [("earliestBeginDate", request.effectiveBeginDate), ("backOff", request.notBefore)]
            .compactMap {
                (quantity, date) in
                date.flatMap { date in
                    date > now.wall
                        ? Rationale(
                            quantity: quantity, required: "not before \(date.text)",
                            observed: "\(now.wall.text), \((date - now.wall).text) early",
                            earliestChange: date)
                        : nil
                }
            }
        // The later one decides when a look is worth while.
        guard let last = waits.max(by: { ($0.earliestChange ?? now.wall) < ($1.earliestChange ?? now.wall) })
        else {
            return proceed()
        }
        return veto(last)
    }
}

extension TaskRequest {
    /// The earliest begin date where it counts: continued tasks ignore it.
    var effectiveBeginDate: WallTime? { kind == .continuedProcessing ? nil : submission.earliestBeginDate }
}
