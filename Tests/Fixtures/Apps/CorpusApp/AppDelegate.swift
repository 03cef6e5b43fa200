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
        let patience = userInfo["patience"] as? Double ?? 60
        if let address = userInfo["edition"] as? String, let url = URL(string: address) {
            guard userInfo["waits"] as? Bool == true else {
                Editions.shared.download(url, patience: patience)
                return .newData
            }
            await Editions.shared.finished { Editions.shared.download(url) }
            return .newData
        }
        if let address = userInfo["report"] as? String, let url = URL(string: address) {
            let bytes = userInfo["bytes"] as? Int ?? 300_000
            Editions.shared.sendReport(to: url, bytes: bytes, patience: patience)
            return .newData
        }
        if let result = await other(userInfo) { return result }
        guard let articles = userInfo["articles"] as? [String] else { return .noData }
        print("articles pushed: \(articles.joined(separator: ", "))")
        return .newData
    }

    private func other(_ userInfo: [AnyHashable: Any]) async -> UIBackgroundFetchResult? {
        func url(_ key: String) -> URL? { (userInfo[key] as? String).flatMap { URL(string: $0) } }
        let editions = Editions.shared
        if let url = url("pausing") {
            await editions.finished { editions.downloadAndPause(url) }
        } else if userInfo["resuming"] != nil {
            await editions.finished { editions.resume() }
        } else if let url = url("later") {
            await editions.finished { editions.downloadLater(url) }
        } else if let url = url("data") {
            await editions.finished { editions.load(url) }
        } else if let url = url("handler") {
            await editions.downloadWithHandler(url)
        } else {
            return nil
        }
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
