public import Foundation

/// The app's scene, which has no screen.
///
/// At an app launch, the app has one scene, a ``UIWindowScene``: it connects, becomes active, and enters the
/// background. Other launches are in the background from the beginning, and have no scene.
open class UIScene: UIResponder, @unchecked Sendable {
    // Unchecked: only the main thread changes the scene.

    /// How much of the scene the user can see and use.
    public enum ActivationState: Int, Sendable {
        /// The scene is not connected.
        case unattached = -1
        /// The user can see and use the scene.
        case foregroundActive = 0
        /// The user can see the scene, but it does not receive events.
        case foregroundInactive = 1
        /// The user cannot see the scene.
        case background = 2
    }

    /// Why a scene is created; always empty here.
    public final class ConnectionOptions: NSObject, @unchecked Sendable {
        // Unchecked: it has no state.
    }

    /// The session of the scene.
    public let session: UISceneSession
    /// How much of the scene the user can see and use.
    nonisolated(unsafe) public internal(set) var activationState = ActivationState.unattached
    /// The scene's delegate.
    nonisolated(unsafe) open var delegate: (any UISceneDelegate)?

    init(session: UISceneSession) {
        self.session = session
        super.init()
    }

    // MARK: Notifications

    /// Posted at an app launch, when the scene is connected.
    public static let willConnectNotification = Notification.Name("UISceneWillConnectNotification")
    /// Never posted here: the scene exists until the process ends.
    public static let didDisconnectNotification = Notification.Name("UISceneDidDisconnectNotification")
    /// Posted at an app launch, when the scene has become active.
    public static let didActivateNotification = Notification.Name("UISceneDidActivateNotification")
    /// Posted at an app launch, before the scene enters the background.
    public static let willDeactivateNotification = Notification.Name("UISceneWillDeactivateNotification")
    /// Posted at an app launch, before the scene becomes active.
    public static let willEnterForegroundNotification = Notification.Name(
        "UISceneWillEnterForegroundNotification")
    /// Posted at an app launch, when the scene has entered the background.
    public static let didEnterBackgroundNotification = Notification.Name(
        "UISceneDidEnterBackgroundNotification")
}

/// The scene of a window.
open class UIWindowScene: UIScene, @unchecked Sendable {
    // Unchecked: only the main thread changes the scene.
}

/// The session of a scene.
open class UISceneSession: NSObject, @unchecked Sendable {
    // Unchecked: only the main thread changes the session.

    /// A scene's role.
    public struct Role: RawRepresentable, Hashable, Sendable {
        /// The raw value, which is the same as Apple's.
        public let rawValue: String
        /// Wraps a raw value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A window of the app.
        public static let windowApplication = Self(rawValue: "UIWindowSceneSessionRoleApplication")
    }

    /// The scene's role.
    public let role: Role
    /// A name for the session, which no other session has.
    public let persistentIdentifier = UUID().uuidString
    /// The scene; `nil` while it is not connected.
    nonisolated(unsafe) public internal(set) weak var scene: UIScene?
    /// The configuration of the scene.
    nonisolated(unsafe) public internal(set) var configuration: UISceneConfiguration

    init(role: Role) {
        self.role = role
        configuration = UISceneConfiguration(name: nil, sessionRole: role)
        super.init()
    }
}

/// How a scene is created.
open class UISceneConfiguration: NSObject, @unchecked Sendable {
    // Unchecked: only the main thread uses a configuration.

    /// The name in the app's Info.plist.
    public let name: String?
    /// The scene's role.
    public let role: UISceneSession.Role
    /// The class of the scene's delegate; `nil` selects the class named `SceneDelegate`.
    nonisolated(unsafe) open var delegateClass: AnyClass?
    /// The class of the scene; has no effect here.
    nonisolated(unsafe) open var sceneClass: AnyClass?

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - name: The name of the configuration. On iOS, the app's Info.plist describes the configuration with
    ///     this name; here, the name has no effect.
    ///   - sessionRole: The scene's role.
    public init(name: String?, sessionRole: UISceneSession.Role) {
        self.name = name
        role = sessionRole
        super.init()
    }
}
