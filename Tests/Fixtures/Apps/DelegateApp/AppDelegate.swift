import BackgroundTasks
import UIKit
import os

@main
class AppDelegate: UIResponder, UIApplicationDelegate {
    var window: UIWindow?
    let logger = Logger(subsystem: "org.example.delegate", category: "background")

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.delegate.refresh", using: nil) {
            task in
            self.handleAppRefresh(task: task as! BGAppRefreshTask)
        }
        BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.delegate.clean", using: .main) {
            task in
            self.handleCleaning(task: task as! BGProcessingTask)
        }
        return true
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        scheduleAppRefresh()
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        print(
            "push: \(userInfo["word"] as? String ?? "none"), state background: \(application.applicationState == .background)"
        )
        switch userInfo["word"] as? String {
        case "nothing": completionHandler(.noData)
        case "broken": completionHandler(.failed)
        default: completionHandler(.newData)
        }
    }

    func scheduleAppRefresh() {
        let request = BGAppRefreshTaskRequest(identifier: "org.example.delegate.refresh")
        request.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            print("Could not schedule app refresh: \(error)")
        }
    }

    func handleAppRefresh(task: BGAppRefreshTask) {
        scheduleAppRefresh()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let first = BlockOperation { print("first operation") }
        let last = BlockOperation { print("last operation") }
        last.addDependency(first)
        task.expirationHandler = {
            queue.cancelAllOperations()
        }
        last.completionBlock = {
            self.logger.info("refreshed \(2) feeds of \("somebody") and \("everybody", privacy: .public)")
            task.setTaskCompleted(success: !last.isCancelled)
        }
        queue.addOperations([first, last], waitUntilFinished: false)
    }

    func handleCleaning(task: BGProcessingTask) {
        print("on the main thread: \(Thread.isMainThread)")
        var identifier = UIBackgroundTaskIdentifier.invalid
        identifier = UIApplication.shared.beginBackgroundTask(withName: "flush") {
            UIApplication.shared.endBackgroundTask(identifier)
        }
        task.setTaskCompleted(success: true)
        DispatchQueue.main.asyncAfter(deadline: .now() + 0.3) {
            print("still here, time left: \(UIApplication.shared.backgroundTimeRemaining < 31)")
            UIApplication.shared.endBackgroundTask(identifier)
        }
    }
}
