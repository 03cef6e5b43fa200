public import Foundation

extension BGTaskScheduler {
    /// Why a request was refused.
    ///
    /// A plain struct: Foundation's own base for such errors traps on Linux when it is hashed. All of Apple's
    /// ways to look at it work: `catch BGTaskScheduler.Error.notPermitted`, `as? BGTaskScheduler.Error` with
    /// ``code``, and `as NSError` with ``BGTaskScheduler/errorDomain``.
    ///
    /// Printed, it is a sentence: what was asked, what decided and what to do, with the code's name behind
    /// it.
    public struct Error: CustomNSError, LocalizedError, CustomStringConvertible, Hashable, Sendable {
        /// What decided.
        public enum Code: Int, Sendable {
            /// Background work is switched off, or no host can be reached.
            case unavailable = 1
            /// The bundle's limit of pending requests is reached.
            case tooManyPendingTaskRequests = 2
            /// The manifest does not permit it.
            case notPermitted = 3
            /// It can't start now, and its strategy is to fail then.
            case immediateRunIneligible = 4

            /// Whether an error is one of this domain with that code: what `catch
            /// BGTaskScheduler.Error.notPermitted` asks.
            ///
            /// - Parameters:
            ///   - code: The code in a `catch`.
            ///   - error: What was thrown.
            /// - Returns: Whether it is.
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

        /// What decided.
        public let code: Code

        private let text: String?

        /// Makes an error.
        ///
        /// - Parameters:
        ///   - code: What decided.
        ///   - userInfo: Its `NSLocalizedDescriptionKey` is kept.
        public init(_ code: Code, userInfo: [String: Any] = [:]) {
            self.code = code
            text = userInfo[NSLocalizedDescriptionKey] as? String
        }

        /// The domain of such errors.
        public static var errorDomain: String { BGTaskScheduler.errorDomain }

        /// The number of ``code``.
        public var errorCode: Int { code.rawValue }

        /// What was asked, what decided, and what to do.
        public var errorUserInfo: [String: Any] {
            [NSLocalizedDescriptionKey: text ?? Self.standardText(of: code)]
        }

        /// What was asked, what decided, and what to do.
        public var errorDescription: String? { text ?? Self.standardText(of: code) }

        /// What was asked, what decided, what to do, and the code: `org.example.sync: ... [notPermitted]`.
        public var description: String { "\(text ?? Self.standardText(of: code)) [\(code)]" }

        private static func standardText(of code: Code) -> String {
            switch code {
            case .unavailable:
                "Background work is not available: it is switched off, or no host can be reached."
            case .tooManyPendingTaskRequests: "The limit of pending requests is reached: cancel one."
            case .notPermitted: "The manifest does not permit it: add the identifier and its mode."
            case .immediateRunIneligible: "It can't start now, and its strategy is to fail then."
            }
        }
    }
}
