import TaskModel

/// Holds a request until its earliest begin date, and a request that was put back until its back-off ends.
struct EarliestBeginDate: Policy {
    let name = "EarliestBeginDate"

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let request = subject.request
        guard let date = Self.date(of: request, subject.needs, at: now.wall) else { return subject.proceed() }
        let isBackOff = date != request.effectiveBeginDate
        return subject.wait(
            for: .time, until: date, since: isBackOff ? request.waitingSince : request.submittedAt,
            Rationale(
                quantity: isBackOff ? "backOff" : "earliestBeginDate",
                required: "\(date.text) or later"
                    + (isBackOff ? "" : Self.jitter(of: request, situation)),
                observed: "\((date - now.wall).exactText) too early"
                    + (isBackOff ? Self.row(of: request, situation) : ""), earliestChange: date,
                remedy: situation.remedy("Wait", orLaunch: subject)))
    }

    /// How much later this device begins because of the jitter of its schedule, for people; empty if it does
    /// not.
    private static func jitter(of request: TaskRequest, _ situation: Situation) -> String {
        let schedule = situation.permits.declaration(for: request.identifier, of: request.bundle)?.schedule
        guard request.submission.origin == .schedule, let offset = schedule?.offset, offset > .zero else {
            return ""
        }
        return " (with \(offset.text) of jitter on this device)"
    }

    /// How many attempts in a row made no progress, or which condition stops them again and again, for
    /// people; empty if neither is the cause.
    private static func row(of request: TaskRequest, _ situation: Situation) -> String {
        if let stopped = situation.stoppedByCondition[request.identifier], stopped.request == request.id {
            return " (conditions stopped several attempts soon after their start, the last one with "
                + "\(stopped.reason.rawValue))"
        }
        let count = request.attempts.withoutProgress
        guard count > 0 else { return "" }
        let attempts = count == 1 ? "the last attempt" : "the last \(count) attempts"
        return " (\(attempts) brought no progress; after "
            + "\(situation.settings.attemptsWithoutProgress) in a row, the request fails)"
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
