/// Why a command for plugin authors could not do what was asked.
public struct AuthoringError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What it is about: a file, a name.
    public let subject: String
    /// What was found.
    public let finding: String
    /// What to do.
    public let remedy: String

    public init(_ subject: String, _ finding: String, _ remedy: String) {
        self.subject = subject
        self.finding = finding
        self.remedy = remedy
    }

    /// `Info.plist: CFBundleIdentifier is missing. Give it: --bundle com.example.app`.
    public var description: String { "\(subject): \(finding). \(remedy)" }
}
