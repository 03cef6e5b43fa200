import BackgroundTasks
import Foundation

/// The life of the only scene: at an app launch, it enters the foreground and then the background, as if the
/// user had opened the app and left it.
@MainActor
package enum SceneLife {
    /// The scene of an app launch; `nil` before it is connected, and in every other launch.
    private static var scene: UIWindowScene?

    /// Whether the scene has a delegate, which then learns of the background instead of the app's delegate.
    static var hasDelegate: Bool { scene?.delegate != nil }

    /// Connects and activates the scene, if this is an app launch.
    ///
    /// - Parameter delegate: The app's delegate, which configures the scene.
    package static func enterForeground(_ delegate: (any UIApplicationDelegate)?) {
        guard App.shared.host.launchedFor?.kind == .appLaunch else { return }
        let session = UISceneSession(role: .windowApplication)
        let scene = UIWindowScene(session: session)
        let options = UIScene.ConnectionOptions()
        session.scene = scene
        self.scene = scene
        if let delegate {
            session.configuration = delegate.application(
                UIApplication.shared, configurationForConnecting: session, options: options)
            scene.delegate = sceneDelegate(session.configuration, of: delegate)
        }
        scene.delegate?.scene(scene, willConnectTo: session, options: options)
        post(UIScene.willConnectNotification)
        scene.activationState = .foregroundInactive
        scene.delegate?.sceneWillEnterForeground(scene)
        post(UIScene.willEnterForegroundNotification)
        scene.activationState = .foregroundActive
        scene.delegate?.sceneDidBecomeActive(scene)
        post(UIScene.didActivateNotification)
    }

    /// Deactivates the scene and lets it enter the background, if there is one.
    static func enterBackground() {
        guard let scene else { return }
        scene.delegate?.sceneWillResignActive(scene)
        post(UIScene.willDeactivateNotification)
        scene.activationState = .background
        scene.delegate?.sceneDidEnterBackground(scene)
        post(UIScene.didEnterBackgroundNotification)
    }

    private static func post(_ name: Notification.Name) {
        NotificationCenter.default.post(name: name, object: scene)
    }

    /// Makes the scene's delegate: of the configured class, or of the one that Xcode's template has in the
    /// property list.
    private static func sceneDelegate(
        _ configuration: UISceneConfiguration, of delegate: any UIApplicationDelegate
    ) -> (any UISceneDelegate)? {
        let module = NSStringFromClass(type(of: delegate)).split(separator: ".").first ?? ""
        let found: AnyClass? = configuration.delegateClass ?? NSClassFromString("\(module).SceneDelegate")
        guard let found else { return nil }
        guard let type = found as? any UISceneDelegate.Type else {
            misuse(
                "NSInternalInconsistencyException",
                "The class \(found) is not a scene delegate. Let it conform to UIWindowSceneDelegate.")
        }
        return ObjectMaking.make(type)
    }
}
