/// A mistake in an expression of `when:`.
public struct WhenError: Error, Equatable, Sendable {
    /// The position of the mistake in characters, counted from 1.
    public var column: Int
    /// What is wrong, in words.
    public var finding: String
    /// What to write instead; `nil` if ``candidates`` make that clear.
    public var remedy: String?
    /// The word that is unknown, with the words that are valid in its place; `nil` for other mistakes.
    public var unknown: Unknown?

    /// A word that is unknown.
    public struct Unknown: Equatable, Sendable {
        /// The word.
        public var word: String
        /// The valid words.
        public var candidates: [String]
    }

    init(column: Int, finding: String, remedy: String?, unknown: Unknown? = nil) {
        self.column = column
        self.finding = finding
        self.remedy = remedy
        self.unknown = unknown
    }
}
