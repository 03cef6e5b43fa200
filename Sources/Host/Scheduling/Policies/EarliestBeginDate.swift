import TaskModel

/// Not before the request's date, nor before the back-off of one that was put back.
struct EarliestBeginDate: Policy {
    let name = "EarliestBeginDate"

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let request = subject.request
        // A back-off that lies further off than any can was made before the wall clock was set back.
        let backOff = request.notBefore.flatMap { $0 <= now.wall + subject.needs.longestBackOff ? $0 : nil }
        let begin = request.effectiveBeginDate
        // The later one decides when a look is worth while.
        guard let date = [begin, backOff].compactMap(\.self).max(), date > now.wall else {
            return subject.proceed()
        }
        return subject.wait(
            for: .time, until: date, since: request.submittedAt,
            Rationale(
                quantity: date == begin ? "earliestBeginDate" : "backOff",
                required: "not before \(date.text)",
                observed: "\(now.wall.text), \((date - now.wall).text) early", earliestChange: date,
                remedy: "Wait, or skip the policies: bgtask launch \(request.identifier)"))
    }
}

extension TaskRequest {
    /// The earliest begin date where it counts: continued tasks ignore it.
    var effectiveBeginDate: WallTime? { kind == .continuedProcessing ? nil : submission.earliestBeginDate }
}
