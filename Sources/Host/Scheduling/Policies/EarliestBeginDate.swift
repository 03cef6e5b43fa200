import TaskModel

/// Not before the request's date, nor before the back-off of one that was put back.
struct EarliestBeginDate: Policy {
    let name = "EarliestBeginDate"

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let request = subject.request
        guard let date = Self.date(of: request, subject.needs, at: now.wall) else { return subject.proceed() }
        return subject.wait(
            for: .time, until: date, since: request.submittedAt,
            Rationale(
                quantity: date == request.effectiveBeginDate ? "earliestBeginDate" : "backOff",
                required: "\(date.text) or later",
                observed: "\((date - now.wall).text) too early", earliestChange: date,
                remedy: situation.remedy("Wait", orLaunch: request.identifier)))
    }

    /// The date that the request waits for by itself; `nil` if it has come, or there is none.
    static func date(of request: TaskRequest, _ needs: Needs, at now: WallTime) -> WallTime? {
        // A back-off that lies further off than any can was made before the wall clock was set back.
        let backOff = request.notBefore.flatMap { $0 <= now + needs.longestBackOff ? $0 : nil }
        guard let begin = request.effectiveBeginDate else { return backOff.flatMap { $0 > now ? $0 : nil } }
        // The later one decides when a look is worthwhile.
        let date = backOff.map { max($0, begin) } ?? begin
        return date > now ? date : nil
    }
}
