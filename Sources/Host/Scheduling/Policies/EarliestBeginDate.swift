import TaskModel

/// Not before the request's date, nor before the back-off of one that was put back.
struct EarliestBeginDate: Policy {
    let name = "EarliestBeginDate"

    func awaits(_ request: TaskRequest) -> Fact { .time }

    func verdict(for request: TaskRequest, in situation: Situation, at now: Moment) -> Verdict {
        // A back-off that lies further off than any can was made before the wall clock was set back.
        let longest = now.wall + situation.settings.backOffLimit
        let backOff = request.notBefore.flatMap { $0 <= longest ? $0 : nil }
        let dates = [("earliestBeginDate", request.effectiveBeginDate), ("backOff", backOff)]
        let waits = dates.compactMap { quantity, date in
            date.flatMap { $0 > now.wall ? (quantity, $0) : nil }
        }
        // The later one decides when a look is worth while.
        guard let (quantity, date) = waits.max(by: { $0.1 < $1.1 }) else { return proceed() }
        return veto(
            Rationale(
                quantity: quantity, required: "not before \(date.text)",
                observed: "\(now.wall.text), \((date - now.wall).text) early", earliestChange: date))
    }
}

extension TaskRequest {
    /// The earliest begin date where it counts: continued tasks ignore it.
    var effectiveBeginDate: WallTime? { kind == .continuedProcessing ? nil : submission.earliestBeginDate }
}
