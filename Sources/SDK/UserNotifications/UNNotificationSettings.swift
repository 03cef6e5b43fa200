public import Foundation

/// What a user permits; here, every bundle may notify, and nothing makes sounds or shows badges.
open class UNNotificationSettings: NSObject, @unchecked Sendable {
    // Unchecked: the object has no state.

    /// Always authorized, because no one can be asked in the background.
    open var authorizationStatus: UNAuthorizationStatus { .authorized }
    /// Always enabled.
    open var alertSetting: UNNotificationSetting { .enabled }
    /// Always enabled.
    open var notificationCenterSetting: UNNotificationSetting { .enabled }
    /// Never supported.
    open var soundSetting: UNNotificationSetting { .notSupported }
    /// Never supported.
    open var badgeSetting: UNNotificationSetting { .notSupported }
    /// Never supported.
    open var lockScreenSetting: UNNotificationSetting { .notSupported }
    /// Never supported.
    open var carPlaySetting: UNNotificationSetting { .notSupported }
    /// Never supported.
    open var criticalAlertSetting: UNNotificationSetting { .notSupported }
    /// Never supported.
    open var announcementSetting: UNNotificationSetting { .notSupported }
    /// Never supported.
    open var timeSensitiveSetting: UNNotificationSetting { .notSupported }
    /// Never supported.
    open var scheduledDeliverySetting: UNNotificationSetting { .notSupported }
    /// Always false.
    open var providesAppNotificationSettings: Bool { false }
}

/// Whether an app may notify; the numbers are Apple's.
public enum UNAuthorizationStatus: Int, Sendable {
    /// The user was not asked.
    case notDetermined = 0
    /// The user said no.
    case denied = 1
    /// The app may notify.
    case authorized = 2
    /// The app may notify quietly.
    case provisional = 3
    /// The app may notify for some hours.
    case ephemeral = 4
}

/// Whether a part of notifications is on; the numbers are Apple's.
public enum UNNotificationSetting: Int, Sendable {
    /// The machine does not have it.
    case notSupported = 0
    /// It is off.
    case disabled = 1
    /// It is on.
    case enabled = 2
}

/// What an app asks a user for; the numbers are Apple's.
public struct UNAuthorizationOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt
    /// Makes options of bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// A number on the app's icon.
    public static let badge = Self(rawValue: 1 << 0)
    /// Sounds.
    public static let sound = Self(rawValue: 1 << 1)
    /// Texts.
    public static let alert = Self(rawValue: 1 << 2)
    /// Notifications in CarPlay.
    public static let carPlay = Self(rawValue: 1 << 3)
    /// Sounds of critical alerts.
    public static let criticalAlert = Self(rawValue: 1 << 4)
    /// A button for the app's own settings.
    public static let providesAppNotificationSettings = Self(rawValue: 1 << 5)
    /// Quiet notifications, without a question to the user.
    public static let provisional = Self(rawValue: 1 << 6)
}

/// How a notification is shown while its app is in front; the numbers are Apple's.
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt
    /// Makes options of bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Set the number on the app's icon.
    public static let badge = Self(rawValue: 1 << 0)
    /// Play the sound.
    public static let sound = Self(rawValue: 1 << 1)
    /// Keep the notification in the list.
    public static let list = Self(rawValue: 1 << 3)
    /// Show a banner.
    public static let banner = Self(rawValue: 1 << 4)
}
