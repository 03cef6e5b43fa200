/// Why a text is not a calendar expression.
public struct CalendarExpressionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The position of the mistake in the text, in characters; the first is 1.
    public let column: Int
    /// The mistake.
    public let finding: String
    /// What to write instead.
    public let remedy: String

    /// The finding and the remedy.
    public var description: String { "\(finding) (column \(column)). \(remedy)" }
}
