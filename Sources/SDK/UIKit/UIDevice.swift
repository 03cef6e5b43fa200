import BackgroundTasks
public import Foundation
import Synchronization

/// The device, as far as code in the background asks: its power and its names.
open class UIDevice: NSObject, @unchecked Sendable {
    // Unchecked: what may change is atomic.

    /// Where power comes from.
    public enum BatteryState: Int, Sendable {
        /// Not known; also while monitoring is off.
        case unknown = 0
        /// On battery.
        case unplugged = 1
        /// Plugged in, below 100 %.
        case charging = 2
        /// Plugged in and full, or without a battery.
        case full = 3
    }

    private static let theDevice = UIDevice()

    /// This machine.
    public class var current: UIDevice { theDevice }

    private let monitors = Atomic(false)

    /// Whether the battery may be asked for; off at first.
    open var isBatteryMonitoringEnabled: Bool {
        get { monitors.load(ordering: .relaxed) }
        set { monitors.store(newValue, ordering: .relaxed) }
    }

    /// 0 through 1; -1 if unknown, without a battery, or while monitoring is off.
    open var batteryLevel: Float {
        guard isBatteryMonitoringEnabled, let percent = App.shared.host.conditions.battery else { return -1 }
        return Float(percent) / 100
    }

    /// Where power comes from; unknown while monitoring is off.
    open var batteryState: BatteryState {
        guard isBatteryMonitoringEnabled else { return .unknown }
        return switch App.shared.host.conditions.power {
        case .unknown: .unknown
        case .battery: .unplugged
        case .charging: .charging
        case .external: .full
        }
    }

    /// Whether the app runs on a kind of device that can run it in the background: always.
    open var isMultitaskingSupported: Bool { true }

    /// The machine's host name.
    open var name: String { ProcessInfo.processInfo.hostName }
    /// `Linux`.
    open var model: String { "Linux" }
    /// `Linux`.
    open var localizedModel: String { model }
    /// `Linux`.
    open var systemName: String { "Linux" }
    /// The system's version.
    open var systemVersion: String {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
    }

    /// Posted when ``batteryLevel`` has changed, while monitoring is on.
    public static let batteryLevelDidChangeNotification = Notification.Name(
        "UIDeviceBatteryLevelDidChangeNotification")
    /// Posted when ``batteryState`` has changed, while monitoring is on.
    public static let batteryStateDidChangeNotification = Notification.Name(
        "UIDeviceBatteryStateDidChangeNotification")
}
