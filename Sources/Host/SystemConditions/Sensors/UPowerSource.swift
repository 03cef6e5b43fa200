import LinuxSystem
import TaskModel

/// External power and the battery from UPower.
///
/// `OnBattery` is false while a power supply is online, even if the battery is held at a charge limit
/// ("pending-charge") or there is no battery. Then the machine is on external power. `DisplayDevice` combines
/// all batteries of the machine into one, for display (https://upower.freedesktop.org/docs/).
struct UPowerSource: BusSource {
    static let daemon = BusObject(path: "/org/freedesktop/UPower", interface: "org.freedesktop.UPower")
    static let display = BusObject(
        path: "/org/freedesktop/UPower/devices/DisplayDevice", interface: "org.freedesktop.UPower.Device")

    let key = ConditionKey.power
    let name = "UPower"
    let service = "org.freedesktop.UPower"
    let objects = [UPowerSource.daemon, UPowerSource.display]

    func answer(_ properties: [BusObject: [String: BusValue]], at now: Moment) -> SensorAnswer {
        guard let onBattery = properties[Self.daemon]?["OnBattery"]?.flag,
            let display = properties[Self.display]
        else { return .failed }
        // 2 is a battery, and 3 an uninterruptible power supply; any other type means "no battery".
        let isBattery = display["Type"]?.integer == 2 || display["Type"]?.integer == 3
        guard isBattery, display["IsPresent"]?.flag == true else {
            return onBattery ? .failed : .value(.power(.mains))
        }
        let isCharging = display["State"]?.integer == 1
        let percent = display["Percentage"]?.number.map { Int(max(0, min(100, $0.rounded()))) }
        return .value(
            .power(
                PowerCondition(
                    externalPower: !onBattery, isCharging: isCharging && !onBattery, batteryPercent: percent))
        )
    }
}
