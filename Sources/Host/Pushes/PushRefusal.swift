/// Why a push from the network is refused: the body of the answer, with its HTTP status.
public struct PushRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of refusals, for programs; Documentation/Pushes.md lists them.
    public enum Code: String, Sendable, CaseIterable {
        /// The head of the request is not valid HTTP.
        case malformedRequest
        /// A header is missing, given twice, or has a wrong form.
        case malformedHeader
        /// The body has more than ``PushBody/greatestSize`` bytes.
        case bodyTooLarge
        /// The body is not a JSON object in UTF-8.
        case malformedBody
        /// The payload has no `aps` with `"content-available": 1`.
        case notSilent
        /// No signature of the request was made with a secret of the bundle.
        case notSigned
        /// The time of the signature is more than 5 min away from the host's clock.
        case outsideWindow
        /// The path is not that of pushes.
        case noSuchRoute
        /// The method is not POST.
        case wrongMethod
        /// The request did not arrive in time.
        case requestTimedOut
        /// The bundle, or all bundles together, get too many pushes.
        case tooManyPushes
        /// The host refused the push, for a reason that ``finding`` names.
        case refused
        /// The host can't accept the push now.
        case unavailable
    }

    /// The kind of the refusal.
    public let code: Code
    /// The fact that decided, with its numbers.
    public let finding: String
    /// What to do.
    public let remedy: String
    /// After how many seconds the sender may try again; `nil` if that would not help.
    public let retryAfter: Int?

    /// Makes a refusal.
    public init(_ code: Code, _ finding: String, remedy: String, retryAfter: Int? = nil) {
        self.code = code
        self.finding = finding
        self.remedy = remedy
        self.retryAfter = retryAfter
    }

    /// The HTTP status of the answer.
    public var status: Int {
        switch code {
        case .malformedRequest, .malformedHeader, .malformedBody, .notSilent: 400
        case .notSigned, .outsideWindow: 401
        case .refused: 403
        case .noSuchRoute: 404
        case .wrongMethod: 405
        case .requestTimedOut: 408
        case .bodyTooLarge: 413
        case .tooManyPushes: 429
        case .unavailable: 503
        }
    }

    public var description: String { "\(finding). \(remedy). [\(code.rawValue)]" }
}
