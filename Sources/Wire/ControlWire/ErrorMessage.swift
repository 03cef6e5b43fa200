public import TaskModel

/// The body of every response that is not a success.
public struct ErrorMessage: Error, Codable, Equatable, Sendable, CustomStringConvertible {
    /// The kind of the error, for programs: a ``SubmissionError/Code`` or an ``ErrorMessage/Code``.
    public var code: String
    /// The identifier, launch or path that the error is about.
    public var subject: String
    /// The fact that decided, with its numbers.
    public var finding: String
    /// What to do.
    public var remedy: String

    /// The kinds of errors that the control channel adds to those of ``SubmissionError``.
    public enum Code: String, Sendable, CaseIterable {
        /// The peer process may not do this: its user and groups lack the power, or it belongs to a launch of
        /// the host, or the host can't find out whether it does.
        case peerNotAllowed
        /// No route has this path and this method.
        case noSuchRoute
        /// The body is not a message of this route.
        case malformedBody
        /// The body is larger than ``ControlProtocol/maximumBodyLength`` bytes.
        case bodyTooLarge
        /// No complete head of a request arrived in time. If a body does not, the host ends the connection.
        case requestTimedOut
        /// All places for clients that follow the host are taken.
        case tooManyFollowers
        /// An internal error of the host; the host's log contains the cause.
        case internalError
        /// The command line of `bgtask` is invalid; hosts never send this code.
        case usage
    }

    /// Makes an error that the channel found before it called the host.
    public init(_ code: Code, subject: String, finding: String, remedy: String) {
        self.code = code.rawValue
        self.subject = subject
        self.finding = finding
        self.remedy = remedy
    }

    /// Makes the error for a refusal by the host.
    public init(_ error: SubmissionError) {
        code = error.code.rawValue
        subject = error.subject
        finding = error.finding
        remedy = error.remedy
    }

    /// The code of a refusal; `nil` for an error of the channel, or if only a newer host knows the code.
    public var submissionCode: SubmissionError.Code? { SubmissionError.Code(rawValue: code) }

    /// `org.example.sync: 10 of 10 pending requests are taken. Cancel one, or wait for a launch. [code]`.
    public var description: String { "\(subject): \(finding). \(remedy). [\(code)]" }
}
