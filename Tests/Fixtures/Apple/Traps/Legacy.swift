import Combine
import CoreData
import CryptoKit
import Network
import UIKit
import UserNotificationsUI

@UIApplicationMain
class AppDelegate: UIResponder, UIApplicationDelegate {
    let monitor = NWPathMonitor()
    var window: UIWindow?
    lazy var controller = UIHostingController(rootView: ContentView())

    func watch() {
        NotificationCenter.default.publisher(for: .NSProcessInfoPowerStateDidChange).sink { _ in }
        _ = UNTimeIntervalNotificationTrigger(timeInterval: 60, repeats: true)
        autoreleasepool { work() }
    }
}
