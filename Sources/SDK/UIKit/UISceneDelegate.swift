/// The delegate of a scene; all methods have default implementations.
@MainActor @preconcurrency
public protocol UISceneDelegate: AnyObject {
    /// Called at an app launch, when the scene is connected.
    func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession,
        options connectionOptions: UIScene.ConnectionOptions)
    /// Called at an app launch, before the scene becomes active.
    func sceneWillEnterForeground(_ scene: UIScene)
    /// Called at an app launch, when the scene has become active.
    func sceneDidBecomeActive(_ scene: UIScene)
    /// Called at an app launch, before the scene enters the background.
    func sceneWillResignActive(_ scene: UIScene)
    /// Called at an app launch, when the scene has entered the background; submit requests here.
    func sceneDidEnterBackground(_ scene: UIScene)
    /// Never called here: the scene exists until the process ends.
    func sceneDidDisconnect(_ scene: UIScene)
}

extension UISceneDelegate {
    /// Does nothing.
    public func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession,
        options connectionOptions: UIScene.ConnectionOptions
    ) {}
    /// Does nothing.
    public func sceneWillEnterForeground(_ scene: UIScene) {}
    /// Does nothing.
    public func sceneDidBecomeActive(_ scene: UIScene) {}
    /// Does nothing.
    public func sceneWillResignActive(_ scene: UIScene) {}
    /// Does nothing.
    public func sceneDidEnterBackground(_ scene: UIScene) {}
    /// Does nothing.
    public func sceneDidDisconnect(_ scene: UIScene) {}
}

/// The delegate of the scene of a window.
@MainActor @preconcurrency
public protocol UIWindowSceneDelegate: UISceneDelegate {
    /// The window of the scene, which the delegate keeps; nothing here uses it.
    var window: UIWindow? { get set }
}

extension UIWindowSceneDelegate {
    /// Always `nil`, for delegates without a window.
    public var window: UIWindow? {
        get { nil }
        set {}
    }
}
