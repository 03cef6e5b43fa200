import Combine
import CoreData
import CryptoKit
import Network
import UIKit
import UserNotifications

@UIApplicationMain
class AppDelegate: UIResponder, UIApplicationDelegate {
    let monitor = NWPathMonitor()
    var window: UIWindow?
    lazy var controller = UIHostingController(rootView: ContentView())

    func watch() {
        NotificationCenter.default.publisher(for: .NSProcessInfoPowerStateDidChange).sink { _ in }
        UNUserNotificationCenter.current().requestAuthorization(options: []) { _, _ in }
        autoreleasepool { work() }
    }
}
