import Combine
import CoreData
import CryptoKit
import Network
import UIKit
import UserNotificationsUI

@UIApplicationMain
class AppDelegate: UIResponder, UIApplicationDelegate {
    let connection = NWConnection(host: "example.org", port: 80, using: .tcp)
    var window: UIWindow?
    lazy var controller = UIHostingController(rootView: ContentView())

    func watch() {
        NotificationCenter.default.publisher(for: .NSProcessInfoPowerStateDidChange).sink { _ in }
        _ = UNTimeIntervalNotificationTrigger(timeInterval: 60, repeats: true)
        autoreleasepool { work() }
        if NWPathMonitor().currentPath.usesInterfaceType(.wifi) { work() }
    }
}
