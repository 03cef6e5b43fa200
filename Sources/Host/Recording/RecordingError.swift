/// The reason why a log can't be read.
public struct RecordingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file or directory, followed by the line number if a line is wrong.
    public let subject: String
    /// What is wrong.
    public let finding: String
    /// What the user should do.
    public let remedy: String

    /// Subject, finding and remedy, in one line.
    public var description: String { "\(subject): \(finding). \(remedy)" }
}
