/// The conditions that a running handler can read: `bgtask_conditions` in `bgtask.h`.
public struct HandlerConditions: Equatable, Sendable {
    /// Where the machine's power comes from.
    public enum Power: Sendable, CaseIterable {
        /// The source of this condition disappeared or fails.
        case unknown
        /// The machine runs on battery.
        case battery
        /// External power is connected, and the battery is charging.
        case charging
        /// External power is connected and the battery is not charging, or there is no battery.
        case external
    }

    /// Whether low-power mode is on; false if unknown.
    public var isLowPowerMode: Bool
    /// The temperature of the machine; nominal if unknown.
    public var thermal: ThermalCondition
    /// The power supply.
    public var power: Power
    /// The charge of the battery in percent, 0 through 100; `nil` if unknown or without a battery.
    public var batteryPercent: Int?
    /// Whether the handler's bundle may refresh in the background.
    public var refresh: RefreshPermission
    /// For activities: whether the host suggests that the handler stop here and continue at another time.
    public var shouldDefer: Bool
    /// Whether tasks may use a GPU; false if unknown.
    public var hasGPU: Bool
    /// The network; `nil` if unknown.
    public var network: NetworkCondition?
    /// What the ways to the network are made of; empty if unknown.
    public var interfaces: Set<NetworkInterface>

    public init(
        isLowPowerMode: Bool, thermal: ThermalCondition, power: Power, batteryPercent: Int?,
        refresh: RefreshPermission, shouldDefer: Bool, hasGPU: Bool = false,
        network: NetworkCondition? = nil, interfaces: Set<NetworkInterface> = []
    ) {
        self.isLowPowerMode = isLowPowerMode
        self.thermal = thermal
        self.power = power
        self.batteryPercent = batteryPercent
        self.refresh = refresh
        self.shouldDefer = shouldDefer
        self.hasGPU = hasGPU
        self.network = network
        self.interfaces = interfaces
    }

    /// Selects from a snapshot the conditions that handlers can read.
    public init(_ conditions: Conditions, refresh: RefreshPermission, shouldDefer: Bool = false) {
        let supply = conditions.power.value
        let power: Power =
            switch supply {
            case nil: .unknown
            case let supply? where !supply.externalPower: .battery
            case let supply?: supply.isCharging ? .charging : .external
            }
        self.init(
            isLowPowerMode: conditions.lowPowerMode.value ?? false,
            thermal: conditions.thermal.value ?? .nominal, power: power,
            batteryPercent: supply?.batteryPercent, refresh: refresh, shouldDefer: shouldDefer,
            hasGPU: conditions.gpu.value ?? false, network: conditions.network.value,
            interfaces: conditions.interfaces)
    }
}
