import BackgroundTasks
@_exported public import Foundation

/// Names one background-task assertion.
public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    /// The number, from 1; 0 is ``invalid``.
    public let rawValue: Int
    /// Wraps a number.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// No assertion: none was begun, because the time is up already.
    public static let invalid = Self(rawValue: 0)
}

/// Whether the user lets the app refresh in the background.
public enum UIBackgroundRefreshStatus: Int, Sendable {
    /// The administrator says no, and the user can't change it.
    case restricted = 0
    /// The user says no.
    case denied = 1
    /// Yes.
    case available = 2
}

/// What a silent push found.
public enum UIBackgroundFetchResult: UInt, Sendable {
    /// Something new.
    case newData = 0
    /// Nothing new.
    case noData = 1
    /// It could not look.
    case failed = 2
}

/// What can answer events; here only what app delegates inherit from.
open class UIResponder: NSObject {}

/// The process as an app: what code in the background touches of it, and no more.
///
/// Windows, scenes and events are not here. Everything may be used from any thread.
open class UIApplication: UIResponder, @unchecked Sendable {
    // Unchecked: its only state is the delegate, set once on the main thread before any code asks.

    /// What the app is doing.
    public enum State: Int, Sendable {
        /// In the foreground, with the user's events.
        case active = 0
        /// In the foreground, without events.
        case inactive = 1
        /// In the background.
        case background = 2
    }

    /// Why the app was launched.
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        /// Apple's word.
        public let rawValue: String
        /// Wraps a word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// By a silent push; the value is its JSON object.
        public static let remoteNotification = Self(
            rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
        /// By a location; never the case here.
        public static let location = Self(rawValue: "UIApplicationLaunchOptionsLocationKey")
    }

    private static let theApplication = UIApplication()

    /// The process's application.
    public class var shared: UIApplication { theApplication }

    /// The app's delegate.
    ///
    /// Unsafe only to the compiler: launch code sets it on the main thread, before it calls anything of the
    /// delegate.
    nonisolated(unsafe) public weak var delegate: (any UIApplicationDelegate)?

    /// What the app is doing: nothing here ever has a window.
    open var applicationState: State { .background }

    /// Whether files that the screen's lock protects can be read: always, nothing is protected here.
    open var isProtectedDataAvailable: Bool { true }

    /// Kept and without effect: there is no screen to keep on.
    nonisolated(unsafe) open var isIdleTimerDisabled = false

    // MARK: Assertions

    /// Asks to stay alive after the task has completed, about 30 s in all for the whole app.
    ///
    /// - Parameters:
    ///   - taskName: What reports call it; nil is the name of the caller's kind.
    ///   - handler: Called on the main thread when the time is nearly up; must end the assertion.
    /// - Returns: ``UIBackgroundTaskIdentifier/invalid`` once the time is up.
    open func beginBackgroundTask(
        withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        let name = taskName ?? "Called by an app without a name"
        return UIBackgroundTaskIdentifier(rawValue: AssertionBook.shared.begin(name, handler: handler))
    }

    /// As ``beginBackgroundTask(withName:expirationHandler:)``, without a name.
    ///
    /// - Parameter handler: Called on the main thread when the time is nearly up; must end the assertion.
    /// - Returns: ``UIBackgroundTaskIdentifier/invalid`` once the time is up.
    open func beginBackgroundTask(
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        beginBackgroundTask(withName: nil, expirationHandler: handler)
    }

    /// Ends an assertion; to end it twice, or to end ``UIBackgroundTaskIdentifier/invalid``, does nothing.
    ///
    /// - Parameter identifier: What `beginBackgroundTask` gave.
    open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
        AssertionBook.shared.end(identifier.rawValue)
    }

    /// Seconds that are left to assertions: the largest finite number while the task runs, an estimate after
    /// it.
    open var backgroundTimeRemaining: TimeInterval { AssertionBook.shared.timeRemaining }

    // MARK: Refresh and push

    /// Whether the user lets the app refresh in the background, live from the host.
    open var backgroundRefreshStatus: UIBackgroundRefreshStatus {
        UIBackgroundRefreshStatus(rawValue: App.shared.host.conditions.refresh.rawValue) ?? .available
    }

    /// Does nothing: pushes come by `bgtask push`, and need no token.
    open func registerForRemoteNotifications() {
        App.shared.host.advise(
            "noPushTokens",
            "registerForRemoteNotifications() gives no token here: pushes come by 'bgtask push BUNDLE' to the task of the "
                + "kind push in the manifest.")
    }

    /// Does nothing.
    open func unregisterForRemoteNotifications() {}

    /// The legacy fetch is gone.
    @available(
        *, unavailable,
        message:
            "Register a BGAppRefreshTask with BGTaskScheduler, or give the task a 'schedule:' in its manifest"
    )
    open func setMinimumBackgroundFetchInterval(_ interval: TimeInterval) {}

    /// Where an app leads its user to its settings; nothing opens it here: see `bgtask settings`.
    public static let openSettingsURLString = "app-settings:"

    /// The legacy fetch is gone.
    @available(*, unavailable, message: "Use BGTaskScheduler; the host decides when")
    public static let backgroundFetchIntervalMinimum: TimeInterval = 0

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
    /// Posted when a launch expires.
    public static let willTerminateNotification = Notification.Name(
        "UIApplicationWillTerminateNotification")
    /// Never posted here: the kernel's memory limit ends a launch that grows past it.
    public static let didReceiveMemoryWarningNotification = Notification.Name(
        "UIApplicationDidReceiveMemoryWarningNotification")
}
