public import Foundation

/// The state of the machine, as in Foundation on Apple's systems; the values come from the host.
extension ProcessInfo {
    /// How hot the machine is.
    public enum ThermalState: Int, Sendable {
        /// Within normal bounds.
        case nominal
        /// Slightly warm; fans may be audible.
        case fair
        /// Hot: do less work.
        case serious
        /// Very hot: stop all work that is not necessary.
        case critical
    }

    /// Whether low-power mode is on, because of the user or an empty battery; `false` without a host.
    public var isLowPowerModeEnabled: Bool { App.shared.host.conditions.isLowPower }

    /// How hot the machine is; nominal without a host.
    public var thermalState: ThermalState {
        ThermalState(rawValue: App.shared.host.conditions.thermal) ?? .nominal
    }

    /// The notification that is posted when ``thermalState`` has changed.
    public static let thermalStateDidChangeNotification = Notification.Name(
        "NSProcessInfoThermalStateDidChangeNotification")
}

extension Notification.Name {
    /// The notification that is posted when `ProcessInfo.isLowPowerModeEnabled` has changed.
    public static let NSProcessInfoPowerStateDidChange = Notification.Name(
        "NSProcessInfoPowerStateDidChangeNotification")
}
