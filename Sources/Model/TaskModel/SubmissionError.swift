/// Why the host refused what a client or a handler asked for.
public struct SubmissionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller can switch on; raw values are part of the control API and never change.
    public enum Code: String, Sendable, Codable, CaseIterable {
        /// Background work is switched off, or the host stops or can't store it.
        case unavailable
        /// The bundle's limit is reached.
        case tooManyPendingTaskRequests
        /// No manifest permits it.
        case notPermitted
        /// `fail` strategy, and it can't start now.
        case immediateRunIneligible
        /// The request itself is malformed.
        case invalidRequest
        /// There is nothing by that name.
        case notFound

        /// The number of the code in `bgtask.h`; 1 to 4 are Apple's.
        public var wireValue: UInt64 {
            switch self {
            case .unavailable: 1
            case .tooManyPendingTaskRequests: 2
            case .notPermitted: 3
            case .immediateRunIneligible: 4
            case .invalidRequest, .notFound: 65
            }
        }
    }

    /// The stable code.
    public let code: Code
    /// What was asked about: an identifier, a launch, a file.
    public let subject: String
    /// What decided, with its numbers.
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
