/// The reason why launches can't be started on this machine.
public struct LauncherError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of error, for programs.
    public enum Code: String, Sendable, CaseIterable {
        /// The wanted isolation, or any isolation, is not available.
        case isolationUnavailable
        /// Processes of an earlier host do not end.
        case leftovers
        /// The launcher could not be started.
        case launcherUnavailable
        /// The launcher uses another version of the protocol.
        case protocolVersion
    }

    /// The kind of the error; part of ``description``, for example `[leftovers]`.
    public let code: Code
    /// What the error is about, such as a path or a layer of isolation.
    public let subject: String
    /// What is wrong.
    public let finding: String
    /// What the user should do.
    public let remedy: String

    /// Creates an error.
    public init(code: Code, subject: String, finding: String, remedy: String) {
        self.code = code
        self.subject = subject
        self.finding = finding
        self.remedy = remedy
    }

    /// Subject, finding, remedy and code, in one line.
    public var description: String { "\(subject): \(finding). \(remedy). [\(code.rawValue)]" }
}
