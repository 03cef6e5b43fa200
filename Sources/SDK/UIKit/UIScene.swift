public import Foundation

/// A placeholder for windows, which do not exist here: delegates from Apple's templates have a variable of
/// this type.
open class UIWindow: UIResponder {}

/// A placeholder for scenes, which do not exist here.
///
/// Delegates from Apple's templates use this type in methods that are never called.
open class UIScene: UIResponder {
    /// Why a scene is created; no scene is created here.
    public final class ConnectionOptions: NSObject {}
}

/// The session of a scene; no session is created here.
open class UISceneSession: NSObject {
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

    init(role: Role) {
        self.role = role
        super.init()
    }
}

/// How a scene is created; this has no effect here.
open class UISceneConfiguration: NSObject {
    /// The name in the app's Info.plist.
    public let name: String?
    /// The scene's role.
    public let role: UISceneSession.Role

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - name: The name in the app's Info.plist.
    ///   - sessionRole: The scene's role.
    public init(name: String?, sessionRole: UISceneSession.Role) {
        self.name = name
        role = sessionRole
        super.init()
    }
}
