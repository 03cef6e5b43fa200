public import Foundation

/// Windows are not here; app delegates from a template have a variable of this type.
open class UIWindow: UIResponder {}

/// Scenes are not here: these are the types that a template's app delegate names in methods that are never
/// called.
open class UIScene: UIResponder {
    /// Why a scene was made; never made here.
    public final class ConnectionOptions: NSObject {}
}

/// A scene's session; never made here.
open class UISceneSession: NSObject {
    /// A scene's role.
    public struct Role: RawRepresentable, Hashable, Sendable {
        /// Apple's word.
        public let rawValue: String
        /// Wraps a word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A window of the app.
        public static let windowApplication = Self(rawValue: "UIWindowSceneSessionRoleApplication")
    }

    /// The scene's role.
    public let role: Role

    /// Sessions are made by the system.
    init(role: Role) {
        self.role = role
        super.init()
    }
}

/// How a scene is made; without effect here.
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
