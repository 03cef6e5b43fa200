import BackgroundTasks
public import Foundation
import Synchronization

/// The device, with the members that code in the background uses: its power supply and its names.
open class UIDevice: NSObject, @unchecked Sendable {
    // Unchecked: the only variable state is atomic.

    /// The power supply.
    public enum BatteryState: Int, Sendable {
        /// Unknown, or monitoring is off.
        case unknown = 0
        /// External power is not connected.
        case unplugged = 1
        /// External power is connected, and the battery is charging.
        case charging = 2
        /// External power is connected and the battery is not charging, or there is no battery.
        case full = 3
    }

    private static let theDevice = UIDevice()

    /// The machine that runs this process.
    public class var current: UIDevice { theDevice }

    private let monitors = Atomic(false)

    /// Whether ``batteryLevel`` and ``batteryState`` have values; false by default.
    open var isBatteryMonitoringEnabled: Bool {
        get { monitors.load(ordering: .relaxed) }
        set { monitors.store(newValue, ordering: .relaxed) }
    }

    /// The charge of the battery, 0 through 1; -1 if unknown, without a battery, or while monitoring is off.
    open var batteryLevel: Float {
        guard isBatteryMonitoringEnabled, let percent = App.shared.host.conditions.battery else { return -1 }
        return Float(percent) / 100
    }

    /// The power supply; unknown while monitoring is off.
    open var batteryState: BatteryState {
        guard isBatteryMonitoringEnabled else { return .unknown }
        return switch App.shared.host.conditions.power {
        case .unknown: .unknown
        case .battery: .unplugged
        case .charging: .charging
        case .external: .full
        }
    }

    /// Whether the device can run apps in the background; always true.
    open var isMultitaskingSupported: Bool { true }

    /// The machine's host name.
    open var name: String { ProcessInfo.processInfo.hostName }
    /// Always `Linux`.
    open var model: String { "Linux" }
    /// Always `Linux`.
    open var localizedModel: String { model }
    /// Always `Linux`.
    open var systemName: String { "Linux" }
    /// The version of the operating system.
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
