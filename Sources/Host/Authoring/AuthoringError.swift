/// Why a command for plugin authors (`bgtask new`, `dev`, `lint`, `manifest`) failed.
public struct AuthoringError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What the error is about: a file, a directory, or a name.
    public let subject: String
    /// What is wrong with the subject.
    public let finding: String
    /// What the user should do.
    public let remedy: String

    public init(_ subject: String, _ finding: String, _ remedy: String) {
        self.subject = subject
        self.finding = finding
        self.remedy = remedy
    }

    /// The subject, the finding and the remedy in one line: `SUBJECT: FINDING. REMEDY`.
    public var description: String { "\(subject): \(finding). \(remedy)" }
}
