public import Foundation

/// The delegate of an app, with the methods that are called in the background.
///
/// They handle launching, scenes, entering the background, pushes and transfers. Others exist only so that
/// code for iOS can be compiled; they are never called. All methods have default implementations.
@MainActor @preconcurrency
public protocol UIApplicationDelegate: AnyObject {
    /// Called first while the app is launched.
    func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// Called while the app is launched; handlers can be registered until this returns.
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// Called by the default implementation of `application(_:didFinishLaunchingWithOptions:)`.
    func applicationDidFinishLaunching(_ application: UIApplication)

    /// Called at an app launch, when the app enters the background; submit requests here.
    ///
    /// As on iOS, it is not called in an app that has a scene delegate: submit requests in
    /// ``UISceneDelegate/sceneDidEnterBackground(_:)`` there.
    func applicationDidEnterBackground(_ application: UIApplication)

    /// Never called here.
    func applicationWillEnterForeground(_ application: UIApplication)
    /// Never called here.
    func applicationDidBecomeActive(_ application: UIApplication)
    /// Never called here.
    func applicationWillResignActive(_ application: UIApplication)
    /// Never called here: when a launch expires, its expiration handler is called.
    func applicationWillTerminate(_ application: UIApplication)
    /// Never called here.
    func applicationDidReceiveMemoryWarning(_ application: UIApplication)

    /// Called at an app launch, for the configuration of the app's only scene.
    ///
    /// The class of the scene's delegate is the configuration's `delegateClass`. If that is `nil`, it is the
    /// class named `SceneDelegate` in the module of the app delegate, as in Xcode's template.
    func application(
        _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration
    /// Never called here.
    func application(
        _ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>)

    /// Called for a silent push.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)

    /// The asynchronous form of the method for a silent push.
    nonisolated func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult

    /// Called when the app gets an endpoint of UnifiedPush; the token is the endpoint's URL in UTF-8.
    ///
    /// The app sends it to its server. Without UnifiedPush, the method is never called, because pushes then
    /// need no token.
    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
    /// Called when the endpoint of UnifiedPush is no longer valid.
    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)

    /// Called when all transfers of a background session have finished.
    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void)

    /// The asynchronous form of the method for the events of a background session.
    nonisolated func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String
    ) async
}

extension UIApplicationDelegate {
    /// Returns true, so that launching continues.
    public func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }

    /// Calls `applicationDidFinishLaunching(_:)` and returns true.
    public func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        applicationDidFinishLaunching(application)
        return true
    }

    /// Returns a configuration without a name and without a class.
    public func application(
        _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
        UISceneConfiguration(name: nil, sessionRole: connectingSceneSession.role)
    }
    /// Does nothing.
    public func application(
        _ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>
    ) {}

    /// Does nothing.
    public func applicationDidFinishLaunching(_ application: UIApplication) {}
    /// Does nothing.
    public func applicationDidEnterBackground(_ application: UIApplication) {}
    /// Does nothing.
    public func applicationWillEnterForeground(_ application: UIApplication) {}
    /// Does nothing.
    public func applicationDidBecomeActive(_ application: UIApplication) {}
    /// Does nothing.
    public func applicationWillResignActive(_ application: UIApplication) {}
    /// Does nothing.
    public func applicationWillTerminate(_ application: UIApplication) {}
    /// Does nothing.
    public func applicationDidReceiveMemoryWarning(_ application: UIApplication) {}
    /// Does nothing.
    public func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {}
    /// Does nothing.
    public func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {}

    /// Calls the asynchronous form of this method.
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        let call = MainCall(delegate: self, userInfo: userInfo, completion: completionHandler)
        Task { @MainActor in
            call.completion(
                await call.delegate.application(application, didReceiveRemoteNotification: call.userInfo))
        }
    }

    /// Reports that there are no new data.
    public nonisolated func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult { .noData }

    /// Calls the asynchronous form of this method.
    public func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        let call = MainCall(delegate: self, userInfo: [:]) { _ in completionHandler() }
        Task { @MainActor in
            await call.delegate.application(application, handleEventsForBackgroundURLSession: identifier)
            call.completion(.noData)
        }
    }

    /// Does nothing.
    public nonisolated func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String
    ) async {}
}

/// The values that a call of a delegate method needs in a task on the main actor.
private struct MainCall<Delegate>: @unchecked Sendable {
    // Unchecked: created and used only on the main actor.
    let delegate: Delegate
    let userInfo: [AnyHashable: Any]
    let completion: (UIBackgroundFetchResult) -> Void
}
