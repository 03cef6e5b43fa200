/// Why launches can't be started on this machine.
public struct LauncherError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller can switch on.
    public enum Code: String, Sendable, CaseIterable {
        /// The isolation that was asked for is not to be had.
        case isolationUnavailable
        /// Processes of an earlier host do not die.
        case leftovers
        /// The launcher could not be started.
        case launcherUnavailable
        /// The launcher speaks another version of the protocol.
        case protocolVersion
    }

    /// The stable code.
    public let code: Code
    /// What it is about: a path, a layer.
    public let subject: String
    /// What was found.
    public let finding: String
    /// What to do.
    public let remedy: String

    /// Makes an error.
    public init(code: Code, subject: String, finding: String, remedy: String) {
        self.code = code
        self.subject = subject
        self.finding = finding
        self.remedy = remedy
    }

    /// Subject, finding, remedy and code.
    public var description: String { "\(subject): \(finding). \(remedy). [\(code.rawValue)]" }
}
