import TaskModel

/// The dates that the scheduler has asked for, and the answers, for each identifier with a calendar schedule.
///
/// The scheduler knows no time zones. It asks the host for a date with an action and gets the answer as an
/// event. So a replay of the events gives the same dates, even if the time zone database has changed.
struct CalendarQuestions: Sendable {
    enum Step: Equatable {
        /// Nothing: the pending request has the right date, an answer is awaited, or no dates are left.
        case nothing
        /// Ask for the first date after this time.
        case ask(after: WallTime)
        /// Use this date.
        case date(WallTime)
    }

    /// The answer to a question: a date, or `none` if the schedule has no further dates.
    private enum Answer {
        case date(WallTime)
        case none
    }

    /// The questions without an answer; the date must be after this time.
    private var questions: [TaskIdentifier: WallTime] = [:]
    private var answers: [TaskIdentifier: Answer] = [:]
    /// The identifiers whose pending request may have a wrong date.
    private var doubted: Set<TaskIdentifier> = []
    /// The dates of cancelled requests, which must not be used again.
    private(set) var skippedDates: [TaskIdentifier: WallTime] = [:]

    /// Whether all questions are answered.
    var isSettled: Bool { questions.isEmpty }

    /// Discards the dates of an identifier, because its schedule changed or the clock was set.
    mutating func doubt(_ identifier: TaskIdentifier) {
        questions[identifier] = nil
        answers[identifier] = nil
        doubted.insert(identifier)
    }

    /// Discards everything about an identifier, because a launch began: the next date must be after it.
    mutating func forget(_ identifier: TaskIdentifier) {
        questions[identifier] = nil
        answers[identifier] = nil
        doubted.remove(identifier)
        skippedDates[identifier] = nil
    }

    mutating func skip(_ identifier: TaskIdentifier, _ date: WallTime) { skippedDates[identifier] = date }

    /// Stores an answer; returns false if the question has changed since.
    mutating func answer(_ identifier: TaskIdentifier, after: WallTime, next: WallTime?) -> Bool {
        guard questions[identifier] == after else { return false }
        questions[identifier] = nil
        answers[identifier] = next.map(Answer.date) ?? Answer.none
        return true
    }

    /// Determines the next step for an identifier.
    ///
    /// - Parameters:
    ///   - identifier: The task.
    ///   - base: The start of the last launch; if there is none, the present time.
    ///   - scheduled: The date of the pending request, which is in the future; `nil` if there is no such
    ///     request.
    /// - Returns: The step; each date is returned only once.
    mutating func next(_ identifier: TaskIdentifier, after base: WallTime, scheduled: WallTime?) -> Step {
        if scheduled != nil, !doubted.contains(identifier) { return .nothing }
        switch answers[identifier] {
        case .date(let date):
            answers[identifier] = nil
            doubted.remove(identifier)
            return date == scheduled ? .nothing : .date(date)
        case .some(.none): return .nothing
        case nil:
            guard questions[identifier] == nil else { return .nothing }
            let after = max(base, skippedDates[identifier] ?? base)
            questions[identifier] = after
            return .ask(after: after)
        }
    }
}
