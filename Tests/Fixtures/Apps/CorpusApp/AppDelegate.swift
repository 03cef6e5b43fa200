import BackgroundTasks
import Foundation
import UIKit

// An app with a file for each kind of work, each in the manner of an article of Apple's documentation.
@main
class AppDelegate: UIResponder, UIApplicationDelegate {
    let feed = Feed()
    let study = Study()
    var tidying: NSBackgroundActivityScheduler?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        feed.registerTasks()
        study.registerTasks()
        Export.registerTask()
        tidying = Tidying.schedule()
        UIApplication.shared.registerForRemoteNotifications()
        return true
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        print("token: \(String(decoding: deviceToken, as: UTF8.self))")
    }

    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        print("no token: \(error.localizedDescription)")
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        if let address = userInfo["edition"] as? String, let url = URL(string: address) {
            Editions.shared.download(url)
            if userInfo["waits"] as? Bool == true { await Editions.shared.finished() }
            return .newData
        }
        if let address = userInfo["report"] as? String, let url = URL(string: address) {
            Editions.shared.sendReport(to: url)
            return .newData
        }
        guard let articles = userInfo["articles"] as? [String] else { return .noData }
        print("articles pushed: \(articles.joined(separator: ", "))")
        return .newData
    }

    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        print("events of \(identifier)")
        Editions.shared.eventsHandler = completionHandler
        Editions.shared.connect()
    }
}

class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?

    func sceneDidEnterBackground(_ scene: UIScene) {
        guard let delegate = UIApplication.shared.delegate as? AppDelegate else { return }
        delegate.feed.scheduleRefresh()
        delegate.feed.scheduleCleaningIfNeeded()
        delegate.study.schedule()
        Upload().sendUnsentChanges()
    }
}
