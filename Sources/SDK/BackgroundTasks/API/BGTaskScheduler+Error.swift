public import Foundation

extension BGTaskScheduler {
    /// Why a request was refused.
    ///
    /// This is a plain struct, because the base type that Foundation provides for such errors traps on Linux
    /// when it is hashed. All the ways to handle Apple's error work: `catch
    /// BGTaskScheduler.Error.notPermitted`, `as? BGTaskScheduler.Error` with ``code``, and `as NSError` with
    /// ``BGTaskScheduler/errorDomain``.
    ///
    /// The printed text is a sentence with the subject, the reason and what to do, followed by the name of
    /// the code.
    public struct Error: CustomNSError, LocalizedError, CustomStringConvertible, Hashable, Sendable {
        /// The kind of the error.
        public enum Code: Int, Sendable {
            /// No host can be reached, the host can't take the request now, or background refresh is off for
            /// the bundle.
            case unavailable = 1
            /// The bundle has reached its limit of pending requests.
            case tooManyPendingTaskRequests = 2
            /// The manifest does not permit the request.
            case notPermitted = 3
            /// The request cannot start now, and its strategy is `fail`.
            case immediateRunIneligible = 4

            /// Compares an error with a code, for `catch BGTaskScheduler.Error.notPermitted`.
            ///
            /// - Parameters:
            ///   - code: The code in the `catch` clause.
            ///   - error: The error that was thrown.
            /// - Returns: Whether the error has this code and belongs to ``BGTaskScheduler/errorDomain``.
            public static func ~= (code: Code, error: any Swift.Error) -> Bool {
                let error = error as NSError
                return error.domain == errorDomain && error.code == code.rawValue
            }
        }

        /// ``Code/unavailable``, for `catch` and comparisons.
        public static var unavailable: Code { .unavailable }
        /// ``Code/tooManyPendingTaskRequests``, for `catch` and comparisons.
        public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
        /// ``Code/notPermitted``, for `catch` and comparisons.
        public static var notPermitted: Code { .notPermitted }
        /// ``Code/immediateRunIneligible``, for `catch` and comparisons.
        public static var immediateRunIneligible: Code { .immediateRunIneligible }

        /// The kind of the error.
        public let code: Code

        private let text: String?

        /// Makes an error.
        ///
        /// - Parameters:
        ///   - code: The kind of the error.
        ///   - userInfo: The error keeps the text under `NSLocalizedDescriptionKey` and ignores other keys.
        public init(_ code: Code, userInfo: [String: Any] = [:]) {
            self.code = code
            text = userInfo[NSLocalizedDescriptionKey] as? String
        }

        /// The same as ``BGTaskScheduler/errorDomain``.
        public static var errorDomain: String { BGTaskScheduler.errorDomain }

        /// The number of ``code``.
        public var errorCode: Int { code.rawValue }

        /// A dictionary with the text of ``errorDescription``.
        public var errorUserInfo: [String: Any] {
            [NSLocalizedDescriptionKey: text ?? Self.standardText(of: code)]
        }

        /// A sentence with the subject, the reason and what to do.
        public var errorDescription: String? { text ?? Self.standardText(of: code) }

        /// The text of ``errorDescription``, followed by the code: `org.example.sync: ... [notPermitted]`.
        public var description: String { "\(text ?? Self.standardText(of: code)) [\(code)]" }

        private static func standardText(of code: Code) -> String {
            switch code {
            case .unavailable:
                "Background work is not available: no host can be reached, or background refresh is off."
            case .tooManyPendingTaskRequests: "The limit of pending requests is reached: cancel one."
            case .notPermitted:
                "The manifest does not permit the task: add its identifier and its mode to the manifest."
            case .immediateRunIneligible: "The task can't start now, and its strategy is 'fail'."
            }
        }
    }
}
