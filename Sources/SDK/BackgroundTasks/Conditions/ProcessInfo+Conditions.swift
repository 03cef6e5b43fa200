public import Foundation

/// What Foundation has on Apple's systems and not on Linux: the machine's state, live from the host.
extension ProcessInfo {
    /// How hot the machine is.
    public enum ThermalState: Int, Sendable {
        /// Within normal bounds.
        case nominal
        /// Slightly warm; fans may be heard.
        case fair
        /// Hot: do less.
        case serious
        /// So hot that everything unneeded must stop.
        case critical
    }

    /// Whether the user, or an empty battery, asked for less use of energy; `false` outside a host.
    public var isLowPowerModeEnabled: Bool { App.shared.host.conditions.isLowPower }

    /// How hot the machine is; nominal outside a host.
    public var thermalState: ThermalState {
        ThermalState(rawValue: App.shared.host.conditions.thermal) ?? .nominal
    }

    /// Posted when ``thermalState`` has changed.
    public static let thermalStateDidChangeNotification = Notification.Name(
        "NSProcessInfoThermalStateDidChangeNotification")
}

extension Notification.Name {
    /// Posted when `ProcessInfo.isLowPowerModeEnabled` has changed.
    public static let NSProcessInfoPowerStateDidChange = Notification.Name(
        "NSProcessInfoPowerStateDidChangeNotification")
}
