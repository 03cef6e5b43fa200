public import Foundation

/// The domain of ``UNError``.
public let UNErrorDomain = "UNErrorDomain"

/// Why a notification was refused.
public struct UNError: CustomNSError, LocalizedError, CustomStringConvertible, Hashable, Sendable {
    /// The kind of the error; the numbers are Apple's.
    public enum Code: Int, Sendable {
        /// The app may not notify.
        case notificationsNotAllowed = 1
        /// An attachment is no file.
        case attachmentInvalidURL = 100
        /// The type of an attachment is unknown.
        case attachmentUnrecognizedType = 101
        /// An attachment is too large.
        case attachmentInvalidFileSize = 102
        /// An attachment is not in the store of attachments.
        case attachmentNotInDataStore = 103
        /// An attachment could not be moved into the store of attachments.
        case attachmentMoveIntoDataStoreFailed = 104
        /// The file of an attachment is damaged.
        case attachmentCorrupt = 105
        /// The trigger has no date.
        case notificationInvalidNoDate = 1400
        /// The content is wrong or empty.
        case notificationInvalidNoContent = 1401

        /// Compares an error with a code, for `catch UNError.notificationInvalidNoDate`.
        public static func ~= (code: Code, error: any Error) -> Bool {
            let error = error as NSError
            return error.domain == UNErrorDomain && error.code == code.rawValue
        }
    }

    /// ``Code/notificationsNotAllowed``, for `catch` and comparisons.
    public static var notificationsNotAllowed: Code { .notificationsNotAllowed }
    /// ``Code/attachmentInvalidURL``, for `catch` and comparisons.
    public static var attachmentInvalidURL: Code { .attachmentInvalidURL }
    /// ``Code/notificationInvalidNoDate``, for `catch` and comparisons.
    public static var notificationInvalidNoDate: Code { .notificationInvalidNoDate }
    /// ``Code/notificationInvalidNoContent``, for `catch` and comparisons.
    public static var notificationInvalidNoContent: Code { .notificationInvalidNoContent }

    /// The kind of the error.
    public let code: Code
    private let text: String

    init(_ code: Code, _ text: String) {
        self.code = code
        self.text = text
    }

    /// The same as ``UNErrorDomain``.
    public static var errorDomain: String { UNErrorDomain }
    /// The number of ``code``.
    public var errorCode: Int { code.rawValue }
    /// A dictionary with the text of ``errorDescription``.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: text] }
    /// A sentence with the subject, the reason and what to do.
    public var errorDescription: String? { text }
    /// The text of ``errorDescription``, followed by the code.
    public var description: String { "\(text) [\(code)]" }
}
