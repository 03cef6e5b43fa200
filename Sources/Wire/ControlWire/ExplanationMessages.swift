public import TaskModel

/// A record of a decision, as `bgtask explain --json` prints it and the store keeps it.
public struct ExplanationMessage: Codable, Equatable, Sendable {
    /// `start` or `stop`.
    public var question: Explanation.Question
    /// When it was true.
    public var at: Timestamp
    /// Whether nothing keeps it from starting.
    public var mayStart: Bool
    /// The weighted mean of the scores; `null` where no score counts.
    @Explicit public var score: Double?
    /// What the score must reach.
    @Explicit public var threshold: Double?
    /// When the falling threshold meets the score by itself.
    @Explicit public var scoreSuffices: Timestamp?
    /// Every policy's answer.
    public var verdicts: [VerdictMessage]

    /// Copies a record.
    public init(_ explanation: Explanation) {
        question = explanation.question
        at = Timestamp(explanation.at)
        mayStart = explanation.mayStart
        verdicts = explanation.verdicts.map(VerdictMessage.init)
        score = explanation.score
        threshold = explanation.threshold
        scoreSuffices = explanation.scoreSuffices.map(Timestamp.init)
    }

    /// The record.
    public var explanation: Explanation {
        Explanation(
            question: question, at: at.time, verdicts: verdicts.map(\.verdict), score: score,
            threshold: threshold, scoreSuffices: scoreSuffices?.time)
    }
}

/// The body of `GET /v1/explain/IDENTIFIER`.
public struct TaskExplanationMessage: Codable, Equatable, Sendable {
    /// The task.
    public var identifier: TaskIdentifier
    /// Its kind.
    public var kind: TaskKind
    /// The request that waits; `null` if none is pending, and the answer is about one submitted now.
    @Explicit public var pending: RequestID?
    /// The launch that runs.
    @Explicit public var running: LaunchID?
    /// Every policy's answer about starting it now.
    public var explanation: ExplanationMessage
    /// When it would likely start; `null` where it may start now.
    @Explicit public var forecast: ForecastMessage?

    /// Copies an answer.
    public init(_ answer: TaskExplanation) {
        identifier = answer.identifier
        kind = answer.kind
        explanation = ExplanationMessage(answer.explanation)
        pending = answer.pending
        running = answer.running
        forecast = answer.forecast.map(ForecastMessage.init)
    }
}

/// When a request would likely start, from the recorded conditions of earlier days.
public struct ForecastMessage: Codable, Equatable, Sendable {
    /// How many recorded days were asked.
    public var days: Int
    /// On how many of them it would have started within 24 hours.
    public var starts: Int
    /// Their share, 0 through 1; `null` with fewer than 3 days.
    @Explicit public var confidence: Double?
    /// The middle one of the starts, moved to the 24 hours to come.
    @Explicit public var usual: Timestamp?
    /// A quarter of the starts came before this.
    @Explicit public var early: Timestamp?
    /// A quarter of the starts came after this.
    @Explicit public var late: Timestamp?

    /// Copies a forecast.
    public init(_ forecast: Forecast) {
        days = forecast.days
        starts = forecast.starts
        confidence = forecast.confidence
        usual = forecast.usual.map(Timestamp.init)
        early = forecast.early.map(Timestamp.init)
        late = forecast.late.map(Timestamp.init)
    }
}

/// The body of `GET /v1/launches/LAUNCH/explanation`.
public struct LaunchExplanationMessage: Codable, Equatable, Sendable {
    /// The launch.
    public var launch: LaunchMessage
    /// Why it started when it did.
    @Explicit public var start: ExplanationMessage?
    /// Why it was asked to stop.
    @Explicit public var stop: ExplanationMessage?

    /// Copies an answer.
    public init(_ answer: LaunchExplanation) {
        launch = LaunchMessage(answer.record)
        start = answer.start.map(ExplanationMessage.init)
        stop = answer.stop.map(ExplanationMessage.init)
    }
}

extension VerdictMessage {
    /// The value.
    var verdict: Verdict {
        Verdict(
            policy: policy, decision: decision, score: score, weight: weight,
            rationale: rationale.map(\.rationale), since: since?.time)
    }
}
