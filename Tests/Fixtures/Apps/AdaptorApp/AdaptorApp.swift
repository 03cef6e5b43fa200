import BackgroundTasks
import SwiftUI
import UIKit

// An app with scenes and a delegate, and with both handlers for the events of background transfers.
class AppDelegate: NSObject, UIApplicationDelegate {
    var launches = 0

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        launches += 1
        print("the delegate is launched, the application's own: \(application.delegate === self)")
        BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.adaptor.clean", using: nil) {
            task in
            print("the delegate's handler")
            task.setTaskCompleted(success: true)
        }
        return true
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        print("the delegate enters the background")
    }

    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        print("the delegate has events of \(identifier)")
        DispatchQueue.main.async { completionHandler() }
    }
}

@main
struct AdaptorApp: App {
    @UIApplicationDelegateAdaptor(AppDelegate.self) var delegate
    @Environment(\.scenePhase) private var scenePhase
    @State private var changes = 0

    init() { print("the app begins") }

    var body: some Scene {
        WindowGroup {
            Text("Never shown")
        }
        .onChange(of: scenePhase) { oldPhase, newPhase in
            changes += 1
            print("from \(oldPhase) to \(newPhase), change \(changes)")
            if newPhase == .background { submit() }
        }
        .onChange(of: scenePhase, initial: true) {
            print("phase \(scenePhase)")
        }
        .backgroundTask(.appRefresh("org.example.adaptor.refresh")) {
            let launches = await MainActor.run { delegate.launches }
            print("refreshing, the delegate was launched \(launches) times")
        }
        .backgroundTask(.urlSession("org.example.adaptor.photos")) {
            print("events of the photos")
        }
        .backgroundTask(.urlSession(matching: { $0.hasPrefix("org.example.adaptor.slow") })) { identifier in
            print("events of \(identifier)")
            try? await Task.sleep(nanoseconds: 60_000_000_000)
            print("cancelled: \(Task.isCancelled)")
        }
    }

    private func submit() {
        let request = BGAppRefreshTaskRequest(identifier: "org.example.adaptor.refresh")
        request.earliestBeginDate = .now.addingTimeInterval(3600)
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            print("Could not schedule app refresh: \(error)")
        }
    }
}
