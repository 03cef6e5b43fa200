import TaskModel

/// Holds a request until its earliest begin date, and a request that was put back until its back-off ends.
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

    /// The date until which the policy holds the request; `nil` if it does not hold it now.
    static func date(of request: TaskRequest, _ needs: Needs, at now: WallTime) -> WallTime? {
        // Ignores a back-off that ends later than the longest back-off allows: the wall clock was set back
        // after the back-off began.
        let backOff = request.notBefore.flatMap { $0 <= now + needs.longestBackOff ? $0 : nil }
        guard let begin = request.effectiveBeginDate else { return backOff.flatMap { $0 > now ? $0 : nil } }
        // Both must have passed, so the later one counts.
        let date = backOff.map { max($0, begin) } ?? begin
        return date > now ? date : nil
    }
}
