/// Why the host refused a request of a client or a handler.
public struct SubmissionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of a refusal, for callers to switch on; the control API contains the raw values, which never
    /// change.
    public enum Code: String, Sendable, Codable, CaseIterable {
        /// Background refresh is off for the bundle, or the host is stopping or can't store the request, or
        /// a launch that was asked for can't start.
        case unavailable
        /// The bundle has reached its limit of pending requests.
        case tooManyPendingTaskRequests
        /// No manifest permits the task.
        case notPermitted
        /// The request has the strategy `fail`, and it cannot start now.
        case immediateRunIneligible
        /// The request is malformed.
        case invalidRequest
        /// The launch, request or task does not exist.
        case notFound
        /// The launch can't be prepared before its administrator changes the configuration or files. Only the
        /// record of a launch has this code.
        case unprepared

        /// The number of the code in `bgtask.h`; 1 to 4 are Apple's numbers.
        public var wireValue: UInt64 {
            switch self {
            case .unavailable: 1
            case .tooManyPendingTaskRequests: 2
            case .notPermitted: 3
            case .immediateRunIneligible: 4
            case .invalidRequest, .notFound, .unprepared: 65
            }
        }
    }

    /// The kind of the refusal.
    public let code: Code
    /// The identifier, launch or file that the refusal is about.
    public let subject: String
    /// The fact that decided, with its numbers.
    public let finding: String
    /// What to do.
    public let remedy: String

    public init(code: Code, subject: String, finding: String, remedy: String) {
        self.code = code
        self.subject = subject
        self.finding = finding
        self.remedy = remedy
    }

    /// `org.example.sync: 10 of 10 pending requests are taken. Cancel one, or wait for a launch. [code]`.
    public var description: String { "\(subject): \(finding). \(remedy). [\(code.rawValue)]" }
}

extension SubmissionError {
    /// A push of priority 10 waits, and one of priority 5 does not take its place.
    public static func moreUrgentWaits(_ identifier: TaskIdentifier, _ urgent: RequestID) -> Self {
        Self(
            code: .tooManyPendingTaskRequests, subject: identifier.rawValue,
            finding: "\(urgent), a push of priority 10, waits, and one of priority 5 does not take its place",
            remedy: "Send it with priority 10, or after \(urgent) has been launched")
    }

    /// A request of the identifier waits already for another one to end.
    public static func alreadyAppended(_ identifier: TaskIdentifier, waiting: RequestID) -> Self {
        Self(
            code: .tooManyPendingTaskRequests, subject: identifier.rawValue,
            finding: "\(waiting) waits already to run after the present request",
            remedy: "Submit it when \(waiting) is no longer waiting, or cancel that: bgtask cancel \(waiting)"
        )
    }
}
