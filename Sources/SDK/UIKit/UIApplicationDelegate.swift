public import Foundation

/// An app's delegate, as far as it is called in the background.
///
/// Launching, entering the background, pushes and transfers. Methods that are left out do nothing.
@MainActor @preconcurrency
public protocol UIApplicationDelegate: AnyObject {
    /// The app is being launched.
    func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// The app is launched; registration closes when this returns.
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// The app is launched.
    func applicationDidFinishLaunching(_ application: UIApplication)

    /// The app enters the background: called at an app launch; submit requests here.
    func applicationDidEnterBackground(_ application: UIApplication)

    /// Never called here.
    func applicationWillEnterForeground(_ application: UIApplication)
    /// Never called here.
    func applicationDidBecomeActive(_ application: UIApplication)
    /// Never called here.
    func applicationWillResignActive(_ application: UIApplication)
    /// Never called here: launches get a call of their expiration handler instead.
    func applicationWillTerminate(_ application: UIApplication)
    /// Never called here.
    func applicationDidReceiveMemoryWarning(_ application: UIApplication)

    /// A silent push came.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)

    /// A silent push came; the other spelling of the same.
    nonisolated func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult

    /// Never called here: pushes need no token.
    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
    /// Never called here: pushes need no token.
    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)

    /// All transfers of a background session are done.
    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void)

    /// All transfers of a background session are done; the other spelling of the same.
    nonisolated func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String
    ) async
}

extension UIApplicationDelegate {
    /// Goes on.
    public func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }

    /// Goes on.
    public func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        applicationDidFinishLaunching(application)
        return true
    }

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

    /// Calls the other spelling.
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

    /// There is nothing new.
    public nonisolated func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult { .noData }

    /// Calls the other spelling.
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

/// What a call of a delegate carries into a task of the main actor.
private struct MainCall<Delegate>: @unchecked Sendable {
    // Unchecked: made and used on the main actor alone.
    let delegate: Delegate
    let userInfo: [AnyHashable: Any]
    let completion: (UIBackgroundFetchResult) -> Void
}
