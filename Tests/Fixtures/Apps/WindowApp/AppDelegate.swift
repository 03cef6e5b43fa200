import BackgroundTasks
import UIKit.UIApplication

// The two delegates of Xcode's template, in an app that submits its requests when its scene enters the
// background.
@main
class AppDelegate: UIResponder, UIApplicationDelegate {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let center = NotificationCenter.default
        for name in [
            UIScene.willConnectNotification, UIScene.didDisconnectNotification,
            UIScene.didActivateNotification, UIScene.willDeactivateNotification,
            UIScene.willEnterForegroundNotification, UIScene.didEnterBackgroundNotification,
            UIApplication.didEnterBackgroundNotification,
        ] {
            _ = center.addObserver(forName: name, object: nil, queue: .main) { notification in
                print("posted \(notification.name.rawValue) by \(type(of: notification.object ?? ""))")
            }
        }
        BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.window.refresh", using: .main) {
            task in
            let last = task.lastSuccess.map { $0 < Date() && $0 > Date(timeIntervalSinceNow: -600) }
            print("last success: \(last.map { "\($0)" } ?? "none")")
            print("scenes of a background launch: \(SceneDelegate.connections)")
            task.setTaskCompleted(success: true)
        }
        return true
    }

    // MARK: UISceneSession Lifecycle

    func application(
        _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
        UISceneConfiguration(
            name: "Default Configuration", sessionRole: connectingSceneSession.role)
    }

    func application(
        _ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>
    ) {}

    func applicationDidEnterBackground(_ application: UIApplication) {
        print("never called in an app with a scene delegate")
    }
}
