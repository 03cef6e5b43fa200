/// Why a text is not a calendar expression.
public struct CalendarExpressionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Where in the text, from 1, in characters.
    public let column: Int
    /// What was found.
    public let finding: String
    /// What to write instead.
    public let remedy: String

    /// The finding and the remedy.
    public var description: String { "\(finding) (column \(column)). \(remedy)" }
}
