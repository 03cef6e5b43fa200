import BackgroundTasks
@_exported public import Foundation

/// The number of a background-task assertion.
public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    /// The number, from 1; 0 is ``invalid``.
    public let rawValue: Int
    /// Wraps a number.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// No assertion; the result when the time for assertions is over.
    public static let invalid = Self(rawValue: 0)
}

/// Whether the user allows the app to refresh in the background.
public enum UIBackgroundRefreshStatus: Int, Sendable {
    /// The administrator switched background refresh off, and the user cannot change this.
    case restricted = 0
    /// The user switched background refresh off.
    case denied = 1
    /// Background refresh is allowed.
    case available = 2
}

/// The result of handling a silent push.
public enum UIBackgroundFetchResult: UInt, Sendable {
    /// There were new data.
    case newData = 0
    /// There were no new data.
    case noData = 1
    /// The app could not look for data.
    case failed = 2
}

/// The base class of objects that handle events; here, only the base class of app delegates.
open class UIResponder: NSObject {}

/// The process as an app, with the members that code in the background uses.
///
/// Windows, scenes and events do not exist here. You can use all members from any thread.
open class UIApplication: UIResponder, @unchecked Sendable {
    // Unchecked: the only variable state that matters is the delegate, set once on the main thread before
    // other code runs.

    /// Whether the app is in the foreground.
    public enum State: Int, Sendable {
        /// In the foreground, receiving events from the user.
        case active = 0
        /// In the foreground, but not receiving events.
        case inactive = 1
        /// In the background.
        case background = 2
    }

    /// A key of the dictionary that says why the app was launched.
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        /// The raw value, which is the same as Apple's.
        public let rawValue: String
        /// Wraps a raw value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A silent push launched the app; the value is the push's JSON object.
        public static let remoteNotification = Self(
            rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
        /// A change of location launched the app; this never happens here.
        public static let location = Self(rawValue: "UIApplicationLaunchOptionsLocationKey")
    }

    private static let theApplication = UIApplication()

    /// The only application object of the process.
    public class var shared: UIApplication { theApplication }

    /// The app's delegate.
    ///
    /// `nonisolated(unsafe)` is correct here: launch code sets the delegate on the main thread before it
    /// calls any method of the delegate.
    nonisolated(unsafe) public weak var delegate: (any UIApplicationDelegate)?

    /// Always `background`, because an app here never has a window.
    open var applicationState: State { .background }

    /// Whether files that are protected while the screen is locked can be read; always true, because files
    /// are not protected.
    open var isProtectedDataAvailable: Bool { true }

    /// A stored value without any effect, because there is no screen to keep on.
    nonisolated(unsafe) open var isIdleTimerDisabled = false

    // MARK: Assertions

    /// Begins an assertion, which keeps the process alive after its task has completed.
    ///
    /// All assertions of the app together may last about 30 s.
    ///
    /// - Parameters:
    ///   - taskName: The name in reports; `nil` selects a fixed text.
    ///   - handler: Called on the main thread shortly before the time is over; it must end the assertion.
    /// - Returns: The number of the assertion; ``UIBackgroundTaskIdentifier/invalid`` if the time is over.
    open func beginBackgroundTask(
        withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        let name = taskName ?? "Called by an app without a name"
        return UIBackgroundTaskIdentifier(rawValue: AssertionBook.shared.begin(name, handler: handler))
    }

    /// Begins an assertion without a name, like ``beginBackgroundTask(withName:expirationHandler:)``.
    ///
    /// - Parameter handler: Called on the main thread shortly before the time is over; it must end the
    ///   assertion.
    /// - Returns: The number of the assertion; ``UIBackgroundTaskIdentifier/invalid`` if the time is over.
    open func beginBackgroundTask(
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        beginBackgroundTask(withName: nil, expirationHandler: handler)
    }

    /// Ends an assertion; to end it twice, or to end ``UIBackgroundTaskIdentifier/invalid``, has no effect.
    ///
    /// - Parameter identifier: The number from `beginBackgroundTask`.
    open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
        AssertionBook.shared.end(identifier.rawValue)
    }

    /// The seconds that remain for assertions: the largest finite number while the task is running, then an
    /// estimate.
    open var backgroundTimeRemaining: TimeInterval { AssertionBook.shared.timeRemaining }

    // MARK: Refresh and push

    /// Whether the user allows the app to refresh in the background; the host supplies the current value.
    open var backgroundRefreshStatus: UIBackgroundRefreshStatus {
        UIBackgroundRefreshStatus(rawValue: App.shared.host.conditions.refresh.rawValue) ?? .available
    }

    /// Does nothing but give the author advice: the host registers bundles itself.
    ///
    /// With UnifiedPush, `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)` gets the
    /// endpoint.
    open func registerForRemoteNotifications() {
        App.shared.host.advise(
            "noPushTokens",
            "registerForRemoteNotifications() is not needed: pushes come to the task of the kind push in the manifest, "
                + "from 'bgtask push BUNDLE', signed webhooks or UnifiedPush. With UnifiedPush, the device token is the "
                + "endpoint.")
    }

    /// Does nothing.
    open func unregisterForRemoteNotifications() {}

    /// Unavailable: Apple's older fetch API does not exist here.
    @available(
        *, unavailable,
        message:
            "Register a BGAppRefreshTask with BGTaskScheduler, or give the task a 'schedule:' in its manifest"
    )
    open func setMinimumBackgroundFetchInterval(_ interval: TimeInterval) {}

    /// Unavailable: Apple's older fetch API does not exist here.
    @available(*, unavailable, message: "Use BGTaskScheduler; the host decides when")
    public static let backgroundFetchIntervalMinimum: TimeInterval = 0

    // MARK: Opening URLs

    /// The URL that opens the app's settings on iOS; here, nothing opens it (use `bgtask settings` instead).
    public static let openSettingsURLString = "app-settings:"

    /// The URL that opens the app's notification settings on iOS; here, nothing opens it.
    public static let openNotificationSettingsURLString = "app-settings:notifications"

    /// An option for opening a URL; none has an effect here.
    public struct OpenExternalURLOptionsKey: RawRepresentable, Hashable, Sendable {
        /// The raw value, which is the same as Apple's.
        public let rawValue: String
        /// Wraps a raw value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Opens only universal links.
        public static let universalLinksOnly = Self(
            rawValue: "UIApplicationOpenURLOptionUniversalLinksOnly")
    }

    /// Whether an app can open URLs of this scheme; always false, because an app in the background opens
    /// nothing.
    open func canOpenURL(_ url: URL) -> Bool { false }

    /// Opens nothing, as on iOS for an app in the background, and gives the author advice.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - options: Not used.
    ///   - completion: Called later on the main thread, with `false`.
    open func open(
        _ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:],
        completionHandler completion: (@MainActor @Sendable (Bool) -> Void)? = nil
    ) {
        refuse(url)
        guard let completion else { return }
        DispatchQueue.main.async { MainActor.assumeIsolated { completion(false) } }
    }

    /// Opens nothing, as on iOS for an app in the background, and gives the author advice.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - options: Not used.
    /// - Returns: Always `false`.
    @discardableResult
    open func open(_ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:]) async -> Bool {
        refuse(url)
        return false
    }

    private func refuse(_ url: URL) {
        let settings = [Self.openSettingsURLString, Self.openNotificationSettingsURLString]
        App.shared.host.advise(
            "nothingOpensURLs",
            "open(_:options:completionHandler:) opens nothing here, because the app has no window. "
                + (settings.contains(url.absoluteString)
                    ? "The user changes what the app may do in the background with 'bgtask settings'."
                    : "Log the URL, or give it to the user in a window of a program of your own."))
    }

    // MARK: Notifications

    /// Posted when ``backgroundRefreshStatus`` has changed.
    public static let backgroundRefreshStatusDidChangeNotification = Notification.Name(
        "UIApplicationBackgroundRefreshStatusDidChangeNotification")
    /// Posted after the delegate's `didFinishLaunching`.
    public static let didFinishLaunchingNotification = Notification.Name(
        "UIApplicationDidFinishLaunchingNotification")
    /// Posted at an app launch, when the app enters the background.
    public static let didEnterBackgroundNotification = Notification.Name(
        "UIApplicationDidEnterBackgroundNotification")
    /// Never posted here.
    public static let willEnterForegroundNotification = Notification.Name(
        "UIApplicationWillEnterForegroundNotification")
    /// Never posted here.
    public static let didBecomeActiveNotification = Notification.Name(
        "UIApplicationDidBecomeActiveNotification")
    /// Never posted here.
    public static let willResignActiveNotification = Notification.Name(
        "UIApplicationWillResignActiveNotification")
    /// Never posted here: when a launch expires, its expiration handler is called.
    public static let willTerminateNotification = Notification.Name(
        "UIApplicationWillTerminateNotification")
    /// Never posted here: the host ends a launch that exceeds its memory limit.
    public static let didReceiveMemoryWarningNotification = Notification.Name(
        "UIApplicationDidReceiveMemoryWarningNotification")
}
