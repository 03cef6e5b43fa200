public import Foundation

/// A request to deliver a notification.
open class UNNotificationRequest: NSObject, @unchecked Sendable {
    // Unchecked: the object never changes.

    /// The name of the request; a newer request of the same name replaces it.
    public let identifier: String
    /// What the notification says.
    public let content: UNNotificationContent
    /// When it is delivered; `nil` means at once.
    public let trigger: UNNotificationTrigger?

    /// Creates a request with a copy of the content.
    ///
    /// - Parameters:
    ///   - identifier: The name of the request.
    ///   - content: What the notification says.
    ///   - trigger: When it is delivered; `nil` means at once.
    public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.identifier = identifier
        self.content = UNNotificationContent(content.facts)
        self.trigger = trigger
        super.init()
    }
}

/// A notification that was delivered.
open class UNNotification: NSObject, @unchecked Sendable {
    // Unchecked: the object never changes.

    /// When it was delivered.
    public let date: Date
    /// The request that it was delivered for.
    public let request: UNNotificationRequest

    init(_ stored: StoredNotification) {
        date = stored.date
        request = stored.request
        super.init()
    }
}

/// The user's answer to a notification; never made here, because no user can answer.
open class UNNotificationResponse: NSObject, @unchecked Sendable {
    // Unchecked: the object never changes.

    /// The notification.
    public let notification: UNNotification
    /// The action that the user chose.
    public let actionIdentifier: String

    init(_ notification: UNNotification, _ actionIdentifier: String) {
        self.notification = notification
        self.actionIdentifier = actionIdentifier
        super.init()
    }
}

/// The answer to an action with a text; never made here.
open class UNTextInputNotificationResponse: UNNotificationResponse, @unchecked Sendable {
    /// The text that the user wrote.
    open var userText: String { "" }
}

/// The action of a user who opens the app from a notification.
public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
/// The action of a user who dismisses a notification.
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"
