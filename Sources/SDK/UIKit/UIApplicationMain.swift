package import BackgroundTasks
import Foundation

extension UIApplicationDelegate {
    /// What `@main` calls.
    @MainActor
    public static func main() { Launching.run(ObjectMaking.make(Self.self)) }
}

/// What a `main.swift` calls: makes the delegate by its class's name and launches it.
///
/// - Parameters:
///   - argumentCount: Not used.
///   - arguments: Not used.
///   - principalClassName: Not used: there is no subclass of ``UIApplication`` here.
///   - delegateClassName: The delegate's class, as `NSStringFromClass` gives it.
/// - Returns: 0, when the launch has ended.
@MainActor
@discardableResult
public func UIApplicationMain(
    _ argumentCount: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ principalClassName: String?, _ delegateClassName: String?
) -> Int32 {
    guard let name = delegateClassName, let type = NSClassFromString(name) as? any UIApplicationDelegate.Type
    else {
        misuse(
            "NSInternalInconsistencyException",
            "UIApplicationMain: there is no app delegate of the class \(delegateClassName ?? "nil"). "
                + "Pass NSStringFromClass(AppDelegate.self), or mark the class with @main.")
    }
    Launching.run(ObjectMaking.make(type))
    return 0
}

/// The launch of an app with a delegate.
@MainActor
package enum Launching {
    /// The delegate: `UIApplication` holds it weakly, as on iOS, where the framework keeps it alive.
    private static var delegate: (any UIApplicationDelegate)?

    /// Makes a delegate by its class's own `init()`.
    package static func make<Delegate: UIApplicationDelegate>(_ type: Delegate.Type) -> Delegate {
        ObjectMaking.make(type)
    }

    /// Launches an app: registers, closes registration, and does what the process was launched for.
    package static func run(_ delegate: any UIApplicationDelegate) {
        adopt(delegate)
        LaunchedApp.finishLaunching(callbacks(of: delegate))
    }

    /// Makes a delegate the app's, and lets it launch.
    package static func adopt(_ delegate: any UIApplicationDelegate) {
        let application = UIApplication.shared
        self.delegate = delegate
        application.delegate = delegate
        followConditions()
        let options = options
        _ = delegate.application(application, willFinishLaunchingWithOptions: options)
        _ = delegate.application(application, didFinishLaunchingWithOptions: options)
        NotificationCenter.default.post(
            name: UIApplication.didFinishLaunchingNotification, object: application)
    }

    /// What the app is called back for.
    package static func callbacks(of delegate: any UIApplicationDelegate) -> AppCallbacks {
        let application = UIApplication.shared
        let held = Held(delegate: delegate)
        var callbacks = AppCallbacks {
            held.delegate.applicationDidEnterBackground(application)
            NotificationCenter.default.post(
                name: UIApplication.didEnterBackgroundNotification, object: application)
        }
        callbacks.push = { payload, completion in
            held.delegate.application(application, didReceiveRemoteNotification: userInfo(payload)) {
                result in
                switch result {
                case .newData: completion(.newData)
                case .noData: completion(.noData)
                case .failed: completion(.failed)
                }
            }
        }
        callbacks.transferEvents = { identifier, completion in
            held.delegate.application(application, handleEventsForBackgroundURLSession: identifier) {
                completion(true)
            }
            return nil
        }
        return callbacks
    }

    private struct Held: @unchecked Sendable {
        // Unchecked: used on the main actor alone.
        let delegate: any UIApplicationDelegate
    }

    private static var options: [UIApplication.LaunchOptionsKey: Any]? {
        guard let launch = App.shared.host.launchedFor, launch.kind == .push else { return nil }
        return [.remoteNotification: userInfo(launch.payload)]
    }

    private static func userInfo(_ payload: Data?) -> [AnyHashable: Any] {
        guard let payload, let object = try? JSONSerialization.jsonObject(with: payload) else { return [:] }
        return object as? [String: Any] ?? [:]
    }

    private static func followConditions() {
        ConditionNews.shared.add { old, new in
            let center = NotificationCenter.default
            if old.refresh != new.refresh {
                center.post(
                    name: UIApplication.backgroundRefreshStatusDidChangeNotification,
                    object: UIApplication.shared)
            }
            guard UIDevice.current.isBatteryMonitoringEnabled else { return }
            if old.battery != new.battery {
                center.post(name: UIDevice.batteryLevelDidChangeNotification, object: UIDevice.current)
            }
            if old.power != new.power {
                center.post(name: UIDevice.batteryStateDidChangeNotification, object: UIDevice.current)
            }
        }
    }
}
