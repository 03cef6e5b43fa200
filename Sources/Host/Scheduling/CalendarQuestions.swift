import TaskModel

/// What was asked of the calendar, and what it answered, for each identifier with a calendar schedule.
///
/// The scheduler knows no time zones: it asks for a date, and the answer comes as an event, so that a replay
/// of the events gives the same dates whatever the zone database says by then.
struct CalendarQuestions: Sendable {
    enum Step: Equatable {
        /// The pending request stands, an answer is on its way, or no date is left.
        case nothing
        /// Ask for the first date after this.
        case ask(after: WallTime)
        /// This is the date.
        case date(WallTime)
    }

    /// The answer to a question.
    private enum Answer {
        case date(WallTime)
        case none
    }

    /// Asked and not answered, with the time after which the date must lie.
    private var questions: [TaskIdentifier: WallTime] = [:]
    private var answers: [TaskIdentifier: Answer] = [:]
    /// Those whose pending request may have a wrong date.
    private var doubted: Set<TaskIdentifier> = []
    /// Dates whose requests were cancelled.
    private var skippedDates: [TaskIdentifier: WallTime] = [:]

    /// Whether no answer is awaited.
    var isSettled: Bool { questions.isEmpty }

    /// Asks again: the schedule changed, or the clock was set.
    mutating func doubt(_ identifier: TaskIdentifier) {
        questions[identifier] = nil
        answers[identifier] = nil
        doubted.insert(identifier)
    }

    /// A launch began: dates count from there.
    mutating func forget(_ identifier: TaskIdentifier) {
        questions[identifier] = nil
        answers[identifier] = nil
        doubted.remove(identifier)
        skippedDates[identifier] = nil
    }

    mutating func skip(_ identifier: TaskIdentifier, _ date: WallTime) { skippedDates[identifier] = date }

    /// Takes an answer; false if the question is no longer open.
    mutating func answer(_ identifier: TaskIdentifier, after: WallTime, next: WallTime?) -> Bool {
        guard questions[identifier] == after else { return false }
        questions[identifier] = nil
        answers[identifier] = next.map(Answer.date) ?? Answer.none
        return true
    }

    /// What to do now.
    ///
    /// - Parameters:
    ///   - identifier: The task.
    ///   - base: The last launch, or now.
    ///   - scheduled: The date ahead of the request that is pending; `nil` if none is.
    /// - Returns: The step; a date is given once.
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
