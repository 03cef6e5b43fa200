import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import SystemConditions

/// The real upowerd with faked devices.
@Suite(.system, .enabled(if: PrivateBus.powerObstacle == nil, "needs upower, umockdev and python3-dbusmock"))
struct UPowerTests {
    static func sensors(_ bus: PrivateBus) throws -> (ConditionSensors, FakeSysfs) {
        let sysfs = try FakeSysfs()
        return (
            ConditionSensors(
                mode: .system, sysfsRoot: sysfs.root, busAddress: bus.address, moments: SystemClocks()), sysfs
        )
    }

    static func power(external: Bool, charging: Bool, _ percent: Int?) -> Reading<PowerCondition> {
        .known(PowerCondition(externalPower: external, isCharging: charging, batteryPercent: percent))
    }

    @Test func `a plug that is pulled, put back and held at a charge limit is seen through upowerd`() throws {
        let bus = try PrivateBus()
        try bus.start()
        let laptop = try FakedPower(on: bus)
        let (sensors, _) = try Self.sensors(bus)
        #expect(sensors.snapshot().power == Self.power(external: true, charging: true, 57))
        #expect(sensors.rows().first { $0.key == "power" }?.source == "UPower")

        try laptop.unplug()
        try waitUntil("the plug is out") {
            sensors.snapshot().power == Self.power(external: false, charging: false, 57)
        }
        try laptop.plug(status: "Not charging")
        try waitUntil("the battery is held at its limit, on external power") {
            sensors.snapshot().power == Self.power(external: true, charging: false, 57)
        }

        laptop.end()
    }

    @Test func `a machine with upowerd and no battery is on external power`() throws {
        let bus = try PrivateBus()
        try bus.start()
        let desktop = try FakedPower(on: bus, hasBattery: false)
        let (sensors, _) = try Self.sensors(bus)
        #expect(sensors.snapshot().power == .known(.mains))
        #expect(sensors.rows().first { $0.key == "power" }?.source == "UPower")
        desktop.end()
    }
}
