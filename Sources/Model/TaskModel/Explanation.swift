/// Why the scheduler did, or does not do, something.
///
/// `bgtask explain` prints this record, and the host stores one with every launch. The code that decides also
/// writes the record, so the two cannot disagree.
public struct Explanation: Equatable, Hashable, Sendable, Codable {
    /// The question that an explanation answers.
    public enum Question: String, Sendable, Codable, CaseIterable {
        /// Whether a pending request may start.
        case start
        /// Why a launch was asked to stop.
        case stop
    }

    /// The question that this explanation answers.
    public var question: Question
    /// When the verdicts were valid.
    public var at: WallTime
    /// Every policy's answer, in a fixed order.
    ///
    /// For a stop, the array contains only the answer that caused it.
    public var verdicts: [Verdict]
    /// The weighted mean of the policies' scores.
    ///
    /// `nil` where scores do not count: for work that a user requested, for simulated launches, and for
    /// stops.
    public var score: Double?
    /// The score that is necessary now; it falls to 0 at the request's deadline.
    ///
    /// `nil` where scores do not count.
    public var threshold: Double?
    /// When the falling threshold reaches the score, if nothing else changes.
    ///
    /// `nil` if the score suffices already, or where scores do not count.
    public var scoreSuffices: WallTime?
    /// What the request had waited for when it started, the longest wait first; empty for a stop.
    public var waited: [WaitSpan] = []

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

    /// The answers that prevent the start, including that of the score.
    public var vetoes: [Verdict] { verdicts.filter(\.isVeto) }

    /// Whether no answer prevents the start.
    public var mayStart: Bool { !verdicts.contains(where: \.isVeto) }
}
