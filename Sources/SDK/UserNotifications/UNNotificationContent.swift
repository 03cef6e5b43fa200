public import Foundation

/// What a notification says.
open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying, @unchecked Sendable {
    // Unchecked: only `UNMutableNotificationContent` changes, and its owner synchronizes it, as on iOS.

    var facts = ContentFacts()

    /// Creates an empty content.
    public override init() { super.init() }

    init(_ facts: ContentFacts) {
        self.facts = facts
        super.init()
    }

    /// The first line.
    open var title: String { facts.title }
    /// The second line.
    open var subtitle: String { facts.subtitle }
    /// The text.
    open var body: String { facts.body }
    /// The number on the app's icon, which is not shown here; `nil` leaves it as it is.
    open var badge: NSNumber? { facts.badge.map { NSNumber(value: $0) } }
    /// The sound; never played here.
    open var sound: UNNotificationSound? { facts.sound.map(UNNotificationSound.init(stored:)) }
    /// The app's own data, which must be a property list.
    open var userInfo: [AnyHashable: Any] { facts.userInfo.flatMap(ContentFacts.decoded) ?? [:] }
    /// The identifier of the category; no actions are shown here.
    open var categoryIdentifier: String { facts.categoryIdentifier }
    /// The identifier of the group that the notification belongs to.
    open var threadIdentifier: String { facts.threadIdentifier }
    /// The window that a tap opens; not used here.
    open var targetContentIdentifier: String? { facts.targetContentIdentifier }
    /// How urgent the notification is.
    open var interruptionLevel: UNNotificationInterruptionLevel {
        UNNotificationInterruptionLevel(rawValue: facts.interruptionLevel) ?? .active
    }
    /// The weight of the notification in a summary, 0 through 1; not used here.
    open var relevanceScore: Double { facts.relevanceScore }
    /// The files that are shown with the notification; not shown here.
    open var attachments: [UNNotificationAttachment] { facts.attachments.map(UNNotificationAttachment.init) }

    /// A copy that can't change.
    public func copy(with zone: NSZone? = nil) -> Any { UNNotificationContent(facts) }
    /// A copy that can change.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { UNMutableNotificationContent(facts) }
}

/// The content of a notification while an app composes it.
open class UNMutableNotificationContent: UNNotificationContent, @unchecked Sendable {
    /// The first line.
    open override var title: String {
        get { facts.title }
        set { facts.title = newValue }
    }
    /// The second line.
    open override var subtitle: String {
        get { facts.subtitle }
        set { facts.subtitle = newValue }
    }
    /// The text.
    open override var body: String {
        get { facts.body }
        set { facts.body = newValue }
    }
    /// The number on the app's icon, which is not shown here; `nil` leaves it as it is.
    open override var badge: NSNumber? {
        get { super.badge }
        set { facts.badge = newValue?.intValue }
    }
    /// The sound; never played here.
    open override var sound: UNNotificationSound? {
        get { super.sound }
        set { facts.sound = newValue?.name }
    }
    /// The app's own data.
    ///
    /// It must be a property list with strings as its keys; otherwise, adding the request fails.
    open override var userInfo: [AnyHashable: Any] {
        get { super.userInfo }
        set {
            facts.userInfo = ContentFacts.encoded(newValue)
            facts.hasWrongUserInfo = facts.userInfo == nil
        }
    }
    /// The identifier of the category; no actions are shown here.
    open override var categoryIdentifier: String {
        get { facts.categoryIdentifier }
        set { facts.categoryIdentifier = newValue }
    }
    /// The identifier of the group that the notification belongs to.
    open override var threadIdentifier: String {
        get { facts.threadIdentifier }
        set { facts.threadIdentifier = newValue }
    }
    /// The window that a tap opens; not used here.
    open override var targetContentIdentifier: String? {
        get { facts.targetContentIdentifier }
        set { facts.targetContentIdentifier = newValue }
    }
    /// How urgent the notification is.
    open override var interruptionLevel: UNNotificationInterruptionLevel {
        get { super.interruptionLevel }
        set { facts.interruptionLevel = newValue.rawValue }
    }
    /// The weight of the notification in a summary, 0 through 1; not used here.
    open override var relevanceScore: Double {
        get { facts.relevanceScore }
        set { facts.relevanceScore = newValue }
    }
    /// The files that are shown with the notification; not shown here.
    open override var attachments: [UNNotificationAttachment] {
        get { super.attachments }
        set { facts.attachments = newValue.map(\.facts) }
    }
}

/// How urgent a notification is; the numbers are Apple's.
public enum UNNotificationInterruptionLevel: UInt, Sendable {
    /// Only the list of notifications has it.
    case passive = 0
    /// It is shown at once.
    case active = 1
    /// It is shown although the user wants quiet.
    case timeSensitive = 2
    /// It is shown, with a sound, although the device is muted.
    case critical = 3
}
