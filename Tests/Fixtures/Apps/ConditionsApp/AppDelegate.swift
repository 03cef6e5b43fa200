import BackgroundTasks
import Network
import UIKit

// Follows the machine's conditions while its task runs. It calls UIApplicationMain, as apps did before @main.
@main
enum Main {
    static func main() {
        UIApplicationMain(CommandLine.argc, CommandLine.unsafeArgv, nil, NSStringFromClass(AppDelegate.self))
    }
}

class AppDelegate: UIResponder, UIApplicationDelegate {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        for (name, monitors) in [("watch", true), ("unmonitored", false), ("export", false)] {
            BGTaskScheduler.shared.register(
                forTaskWithIdentifier: "org.example.conditions.\(name)", using: .main
            ) { task in
                UIDevice.current.isBatteryMonitoringEnabled = monitors
                self.watch(task)
            }
        }
        return true
    }

    let monitor = NWPathMonitor()

    func watch(_ task: BGTask) {
        monitor.pathUpdateHandler = { path in
            guard path.status == .satisfied else {
                print("path: \(path.status)")
                return
            }
            print("path: \(path.isExpensive ? "expensive" : "cheap"), constrained \(path.isConstrained)")
        }
        monitor.start(queue: DispatchQueue.global(qos: .background))
        task.expirationHandler = { task.setTaskCompleted(success: true) }
        let process = ProcessInfo.processInfo, device = UIDevice.current
        tell(.NSProcessInfoPowerStateDidChange, of: process) { "low power \(process.isLowPowerModeEnabled)" }
        tell(ProcessInfo.thermalStateDidChangeNotification, of: process) { "thermal \(process.thermalState)" }
        tell(UIDevice.batteryLevelDidChangeNotification, of: device) { "level \(device.batteryLevel)" }
        tell(UIDevice.batteryStateDidChangeNotification, of: device) { "\(device.batteryState)" }
        tell(UIApplication.backgroundRefreshStatusDidChangeNotification, of: UIApplication.shared) {
            "refresh \(UIApplication.shared.backgroundRefreshStatus)"
        }
        print(
            "at first: low power \(process.isLowPowerModeEnabled), thermal \(process.thermalState), "
                + "level \(device.batteryLevel), \(device.batteryState), "
                + "refresh \(UIApplication.shared.backgroundRefreshStatus), gpu \(Self.gpu)")
        // A change of the supported resources causes no notification, so the app asks repeatedly.
        timer = Timer.scheduledTimer(withTimeInterval: 0.05, repeats: true) { _ in
            Task { @MainActor in self.lookForGPU() }
        }
    }

    private var observers: [NSObjectProtocol] = []
    private var timer: Timer?
    private var lastGPU = gpu

    static var gpu: Bool { BGTaskScheduler.supportedResources.contains(.gpu) }

    private func lookForGPU() {
        if Self.gpu != lastGPU { print("told: gpu \(Self.gpu)") }
        lastGPU = Self.gpu
    }

    private func tell(_ name: Notification.Name, of object: AnyObject, _ text: @escaping () -> String) {
        observers.append(
            NotificationCenter.default.addObserver(forName: name, object: object, queue: .main) { _ in
                print("told: \(text())")
            })
    }
}
