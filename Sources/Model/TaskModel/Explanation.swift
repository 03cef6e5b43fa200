/// Why the scheduler did, or does not do, something: the record behind `explain`, kept with every launch.
///
/// It is made by the code that decides; there is no second logic.
public struct Explanation: Equatable, Hashable, Sendable, Codable {
    /// What it explains.
    public enum Question: String, Sendable, Codable, CaseIterable {
        /// Whether a pending request may start.
        case start
        /// Why a launch was asked to stop.
        case stop
    }

    /// What it explains.
    public var question: Question
    /// When it was true.
    public var at: WallTime
    /// Every policy's answer, in a fixed order.
    ///
    /// For a stop: the answer that decided, alone.
    public var verdicts: [Verdict]
    /// The weighted mean of the scores; `nil` where no score counts (what a user asked for, simulated
    /// launches, stops).
    public var score: Double?
    /// What the score must reach now; 0 at the deadline.
    public var threshold: Double?
    /// When the falling threshold meets the score if nothing else changes; `nil` if it does already, or no
    /// score counts.
    public var scoreSuffices: WallTime?

    public init(
        question: Question, at: WallTime, verdicts: [Verdict], score: Double? = nil, threshold: Double? = nil,
        scoreSuffices: WallTime? = nil
    ) {
        self.question = question
        self.at = at
        self.verdicts = verdicts
        self.score = score
        self.threshold = threshold
        self.scoreSuffices = scoreSuffices
    }

    /// The answers that keep it from starting, the score's among them.
    public var vetoes: [Verdict] { verdicts.filter(\.isVeto) }

    /// Whether nothing keeps it from starting.
    public var mayStart: Bool { !verdicts.contains(where: \.isVeto) }
}
