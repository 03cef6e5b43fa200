package import BackgroundTasks
import Foundation

extension UIApplicationDelegate {
    /// The entry point that `@main` calls.
    @MainActor
    public static func main() { Launching.run(ObjectMaking.make(Self.self)) }
}

/// The entry point that a `main.swift` calls: makes the delegate from the name of its class, and launches the
/// app.
///
/// - Parameters:
///   - argumentCount: Not used.
///   - arguments: Not used.
///   - principalClassName: Not used, because ``UIApplication`` has no subclasses here.
///   - delegateClassName: The name of the delegate's class, as `NSStringFromClass` returns it.
/// - Returns: 0, after launching has finished.
@MainActor
@discardableResult
public func UIApplicationMain(
    _ argumentCount: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ principalClassName: String?, _ delegateClassName: String?
) -> Int32 {
    guard let name = delegateClassName, let found: AnyClass = NSClassFromString(name) else {
        misuse(
            "NSInternalInconsistencyException",
            "UIApplicationMain: there is no class named \(delegateClassName ?? "nil"). "
                + "Pass NSStringFromClass(AppDelegate.self), or mark the class with @main.")
    }
    guard let type = found as? any UIApplicationDelegate.Type else {
        misuse(
            "NSInternalInconsistencyException",
            "UIApplicationMain: the class \(name) is not an app delegate. "
                + "Let it conform to UIApplicationDelegate.")
    }
    Launching.run(ObjectMaking.make(type))
    return 0
}

/// The launch of an app that has a delegate.
@MainActor
package enum Launching {
    /// Keeps the delegate alive, because `UIApplication` has only a weak reference to it, as on iOS.
    private static var delegate: (any UIApplicationDelegate)?

    /// Makes a delegate with the `init()` of its class.
    package static func make<Delegate: UIApplicationDelegate>(_ type: Delegate.Type) -> Delegate {
        ObjectMaking.make(type)
    }

    /// Launches an app with a delegate: runs its launch code, ends registration, and runs what the process
    /// was launched for.
    package static func run(_ delegate: any UIApplicationDelegate) {
        adopt(delegate)
        SceneLife.enterForeground(delegate)
        LaunchedApp.finishLaunching(callbacks(of: delegate))
    }

    /// Makes an object the app's delegate, and calls its launch methods; an app with scenes may have no
    /// delegate.
    package static func adopt(_ delegate: (any UIApplicationDelegate)?) {
        let application = UIApplication.shared
        self.delegate = delegate
        application.delegate = delegate
        followConditions()
        let options = options
        _ = delegate?.application(application, willFinishLaunchingWithOptions: options)
        _ = delegate?.application(application, didFinishLaunchingWithOptions: options)
        NotificationCenter.default.post(
            name: UIApplication.didFinishLaunchingNotification, object: application)
    }

    /// The callbacks that call the methods of the scene's delegate and, if there is one, of the app's.
    package static func callbacks(of delegate: (any UIApplicationDelegate)?) -> AppCallbacks {
        let application = UIApplication.shared
        let held = delegate.map(Held.init)
        var callbacks = AppCallbacks {
            SceneLife.enterBackground()
            if !SceneLife.hasDelegate { held?.delegate.applicationDidEnterBackground(application) }
            NotificationCenter.default.post(
                name: UIApplication.didEnterBackgroundNotification, object: application)
        }
        guard let held else { return callbacks }
        callbacks.push = { payload, completion in
            if AnnouncedEndpoint.deliver(payload, to: held.delegate, application) {
                return completion(.noData)
            }
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
        // Unchecked: used only on the main actor.
        let delegate: any UIApplicationDelegate
    }

    private static var options: [UIApplication.LaunchOptionsKey: Any]? {
        guard let launch = App.shared.host.launchedFor, launch.kind == .push,
            AnnouncedEndpoint.announced(by: launch.payload) == nil
        else { return nil }
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
