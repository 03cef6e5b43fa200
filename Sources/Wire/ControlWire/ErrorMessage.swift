public import TaskModel

/// The body of every response that is not a success.
public struct ErrorMessage: Error, Codable, Equatable, Sendable, CustomStringConvertible {
    /// What a program can switch on: a ``SubmissionError/Code``, or a ``Code`` of the channel itself.
    public var code: String
    /// What was asked about.
    public var subject: String
    /// What decided.
    public var finding: String
    /// What to do.
    public var remedy: String

    /// Codes of the channel itself, besides those of ``SubmissionError``.
    public enum Code: String, Sendable, CaseIterable {
        /// Another user's process.
        case peerNotAllowed
        /// No such path, or not with this method.
        case noSuchRoute
        /// The body is not a message of this route.
        case malformedBody
        /// The body is larger than ``ControlProtocol/maximumBodyLength``.
        case bodyTooLarge
        /// The body did not come in time.
        case requestTimedOut
        /// The host has a fault; its log has the cause.
        case internalError
        /// The command line of `bgtask` is wrong; hosts never send this.
        case usage
    }

    /// An error that the channel itself found, before the host was asked.
    public init(_ code: Code, subject: String, finding: String, remedy: String) {
        self.code = code.rawValue
        self.subject = subject
        self.finding = finding
        self.remedy = remedy
    }

    /// Carries a refusal of the host.
    public init(_ error: SubmissionError) {
        code = error.code.rawValue
        subject = error.subject
        finding = error.finding
        remedy = error.remedy
    }

    /// The refusal's code; `nil` if it is the channel's, or of a newer host.
    public var submissionCode: SubmissionError.Code? { SubmissionError.Code(rawValue: code) }

    /// `org.example.sync: 10 of 10 pending requests are taken. Cancel one, or wait for a launch. [code]`.
    public var description: String { "\(subject): \(finding). \(remedy). [\(code)]" }
}
