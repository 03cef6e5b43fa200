public import Foundation

/// A kind of notifications, with the actions that a user has; no actions are shown here.
open class UNNotificationCategory: NSObject, @unchecked Sendable {
    // Unchecked: the object never changes.

    /// The name of the category.
    public let identifier: String
    /// The actions.
    public let actions: [UNNotificationAction]
    /// The intents of Siri; not used here.
    public let intentIdentifiers: [String]
    /// The options.
    public let options: UNNotificationCategoryOptions

    /// Creates a category.
    public init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        options: UNNotificationCategoryOptions = []
    ) {
        self.identifier = identifier
        self.actions = actions
        self.intentIdentifiers = intentIdentifiers
        self.options = options
        super.init()
    }

    /// Creates a category; the texts for hidden previews are not used.
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        hiddenPreviewsBodyPlaceholder: String?, categorySummaryFormat: String? = nil,
        options: UNNotificationCategoryOptions = []
    ) {
        self.init(
            identifier: identifier, actions: actions, intentIdentifiers: intentIdentifiers, options: options)
    }

    /// Whether both have the same name.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? UNNotificationCategory)?.identifier == identifier
    }
    /// A hash of the name.
    open override var hash: Int { identifier.hashValue }
}

/// An action in a notification; not shown here.
open class UNNotificationAction: NSObject, @unchecked Sendable {
    // Unchecked: the object never changes.

    /// The name of the action.
    public let identifier: String
    /// The text of the button.
    public let title: String
    /// The options.
    public let options: UNNotificationActionOptions

    /// Creates an action.
    public init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        self.identifier = identifier
        self.title = title
        self.options = options
        super.init()
    }
}

/// An action with a field for a text; not shown here.
open class UNTextInputNotificationAction: UNNotificationAction, @unchecked Sendable {
    /// The text of the button that sends.
    public let textInputButtonTitle: String
    /// The text in the empty field.
    public let textInputPlaceholder: String

    /// Creates an action.
    public init(
        identifier: String, title: String, options: UNNotificationActionOptions = [],
        textInputButtonTitle: String, textInputPlaceholder: String
    ) {
        self.textInputButtonTitle = textInputButtonTitle
        self.textInputPlaceholder = textInputPlaceholder
        super.init(identifier: identifier, title: title, options: options)
    }
}

/// The options of a category; the numbers are Apple's.
public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt
    /// Makes options of bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The delegate learns when a user dismisses a notification.
    public static let customDismissAction = Self(rawValue: 1 << 0)
    /// Notifications are allowed in CarPlay.
    public static let allowInCarPlay = Self(rawValue: 1 << 1)
    /// A hidden preview shows the title.
    public static let hiddenPreviewsShowTitle = Self(rawValue: 1 << 2)
    /// A hidden preview shows the subtitle.
    public static let hiddenPreviewsShowSubtitle = Self(rawValue: 1 << 3)
}

/// The options of an action; the numbers are Apple's.
public struct UNNotificationActionOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt
    /// Makes options of bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The device must be unlocked.
    public static let authenticationRequired = Self(rawValue: 1 << 0)
    /// The action deletes something.
    public static let destructive = Self(rawValue: 1 << 1)
    /// The action opens the app.
    public static let foreground = Self(rawValue: 1 << 2)
}
