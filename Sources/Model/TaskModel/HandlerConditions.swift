/// What a running handler may know of the machine; `bgtask_conditions` in `bgtask.h`.
public struct HandlerConditions: Equatable, Sendable {
    /// Where the machine's power comes from.
    public enum Power: Sendable, CaseIterable {
        /// The source vanished or errs.
        case unknown
        /// Unplugged.
        case battery
        /// Plugged in, and the battery fills.
        case charging
        /// Plugged in and full, or no battery at all.
        case external
    }

    /// The low-power switch; off while it is unknown.
    public var isLowPowerMode: Bool
    /// How hot it is; nominal while it is unknown.
    public var thermal: ThermalCondition
    /// The power supply.
    public var power: Power
    /// 0 through 100; `nil` if unknown or without a battery.
    public var batteryPercent: Int?
    /// Whether the handler's bundle may refresh in the background.
    public var refresh: RefreshPermission
    /// Activities: whether the host would rather have it stop here and go on another time.
    public var shouldDefer: Bool
    /// Whether a GPU is offered to tasks; no while it is unknown.
    public var hasGPU: Bool

    /// Makes it of its parts.
    public init(
        isLowPowerMode: Bool, thermal: ThermalCondition, power: Power, batteryPercent: Int?,
        refresh: RefreshPermission, shouldDefer: Bool, hasGPU: Bool = false
    ) {
        self.isLowPowerMode = isLowPowerMode
        self.thermal = thermal
        self.power = power
        self.batteryPercent = batteryPercent
        self.refresh = refresh
        self.shouldDefer = shouldDefer
        self.hasGPU = hasGPU
    }

    /// Takes from a snapshot what handlers may know.
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
            hasGPU: conditions.gpu.value ?? false)
    }
}
