public import TaskModel

/// The explanation of a decision, as `bgtask explain --json` prints it, and as old hosts stored it.
public struct ExplanationMessage: Codable, Equatable, Sendable {
    /// The question that the explanation answers: `start` or `stop`.
    public var question: Explanation.Question
    /// When the verdicts were valid.
    public var at: Timestamp
    /// Whether no answer prevents the start.
    public var mayStart: Bool
    /// The weighted mean of the policies' scores; `null` where scores do not count.
    @Explicit public var score: Double?
    /// The score that is necessary; `null` where scores do not count.
    @Explicit public var threshold: Double?
    /// When the falling threshold reaches the score, if nothing else changes; `null` if it already does, or
    /// where scores do not count.
    @Explicit public var scoreSuffices: Timestamp?
    /// Every policy's answer.
    public var verdicts: [VerdictMessage]

    public init(_ explanation: Explanation) {
        question = explanation.question
        at = Timestamp(explanation.at)
        mayStart = explanation.mayStart
        verdicts = explanation.verdicts.map(VerdictMessage.init)
        score = explanation.score
        threshold = explanation.threshold
        scoreSuffices = explanation.scoreSuffices.map(Timestamp.init)
    }

    /// The explanation as a value of the model.
    public var explanation: Explanation {
        Explanation(
            question: question, at: at.time, verdicts: verdicts.map(\.verdict), score: score,
            threshold: threshold, scoreSuffices: scoreSuffices?.time)
    }
}

/// The body of `GET /v1/explain/IDENTIFIER`.
public struct TaskExplanationMessage: Codable, Equatable, Sendable {
    /// The task's identifier.
    public var identifier: TaskIdentifier
    /// The task's kind.
    public var kind: TaskKind
    /// The pending request; `null` if none is pending, so that the answer is about a request submitted now.
    @Explicit public var pending: RequestID?
    /// The running launch; `null` if none is running.
    @Explicit public var running: LaunchID?
    /// The answer of every policy to the question whether the task may start now.
    public var explanation: ExplanationMessage
    /// When the task would probably start; `null` if it may start now.
    @Explicit public var forecast: ForecastMessage?
    /// What the request waits for, in one sentence; `null` from an older host.
    @Explicit public var headline: String?
    /// What would let the request start or bring it closer to its start; `null` from an older host.
    @Explicit public var remedies: [RemedyMessage]?
    /// The launches that occupy what the request waits for; `null` from an older host.
    @Explicit public var holders: [SlotHolderMessage]?
    /// What the request has waited for until now, the longest wait first; `null` from an older host.
    @Explicit public var waited: [WaitMessage]?

    public init(_ answer: TaskExplanation) {
        headline = answer.outlook.headline
        remedies = answer.outlook.remedies.map(RemedyMessage.init)
        holders = answer.outlook.holders.map(SlotHolderMessage.init)
        waited = answer.outlook.waited.map(WaitMessage.init)
        identifier = answer.identifier
        kind = answer.kind
        explanation = ExplanationMessage(answer.explanation)
        pending = answer.pending
        running = answer.running
        forecast = answer.forecast.map(ForecastMessage.init)
    }
}

/// When a request will probably start, according to the conditions now and on earlier days.
public struct ForecastMessage: Codable, Equatable, Sendable {
    /// How many recorded days the forecast uses.
    public var days: Int
    /// How many of these days lead to a start within seven days, if the conditions change as they did on
    /// that day and the days after it.
    public var starts: Int
    /// The probability of a start within seven days, 0 through 1; `null` with fewer than 3 days.
    @Explicit public var confidence: Double?
    /// The median of the start times; `null` if there is none.
    @Explicit public var usual: Timestamp?
    /// The beginning of the window that contains the start with a probability of 80 %.
    @Explicit public var early: Timestamp?
    /// The end of that window; `null` if the request may well not start within seven days.
    @Explicit public var late: Timestamp?
    /// When the request starts if no condition changes; `null` if not within seven days.
    @Explicit public var unchanged: Timestamp?

    public init(_ forecast: Forecast) {
        days = forecast.days
        starts = forecast.starts
        confidence = forecast.confidence
        usual = forecast.usual.map(Timestamp.init)
        early = forecast.early.map(Timestamp.init)
        late = forecast.late.map(Timestamp.init)
        unchanged = forecast.unchanged.map(Timestamp.init)
    }
}

/// The body of `GET /v1/launches/LAUNCH/explanation`.
public struct LaunchExplanationMessage: Codable, Equatable, Sendable {
    /// The launch that is explained.
    public var launch: LaunchMessage
    /// Why the launch started when it did; `null` if the host did not record it.
    @Explicit public var start: ExplanationMessage?
    /// Why the launch was asked to stop; `null` if it was not asked, or if a user or client requested the
    /// stop.
    @Explicit public var stop: ExplanationMessage?

    public init(_ answer: LaunchExplanation) {
        launch = LaunchMessage(answer.record)
        start = answer.start.map(ExplanationMessage.init)
        stop = answer.stop.map(ExplanationMessage.init)
    }
}

extension VerdictMessage {
    /// The verdict as a value of the model.
    var verdict: Verdict {
        Verdict(
            policy: policy, decision: decision, score: score, weight: weight,
            rationale: rationale.map(\.rationale), since: since?.time)
    }
}
