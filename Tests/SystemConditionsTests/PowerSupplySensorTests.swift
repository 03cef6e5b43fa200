import TaskHostTestSupport
import TaskModel
import Testing

@testable import SystemConditions

@Suite struct PowerSupplySensorTests {
    static func power(external: Bool, charging: Bool, _ percent: Int?) -> SensorAnswer {
        .value(
            .power(PowerCondition(externalPower: external, isCharging: charging, batteryPercent: percent)))
    }

    static func read(_ devices: [String: [String: String]]) throws -> SensorAnswer {
        let sysfs = try FakeSysfs()
        for (name, attributes) in devices { try sysfs.add(name, attributes) }
        return PowerSupplySensor(root: sysfs.root).read(at: VirtualMoments().now())
    }

    @Test func `a machine without power supplies has no such source`() throws {
        #expect(try Self.read([:]) == .absent)
    }

    @Test func `a laptop on battery is on battery`() throws {
        let answer = try Self.read([
            "AC": ["type": "Mains", "online": "0"],
            "BAT0": ["type": "Battery", "status": "Discharging", "capacity": "57", "present": "1"],
        ])
        #expect(answer == Self.power(external: false, charging: false, 57))
    }

    @Test func `a laptop that charges is on external power`() throws {
        let answer = try Self.read([
            "AC": ["type": "Mains", "online": "1"],
            "BAT0": ["type": "Battery", "status": "Charging", "capacity": "57"],
        ])
        #expect(answer == Self.power(external: true, charging: true, 57))
    }

    @Test func `a battery held at its charge limit is on external power, and one unplugged is not`() throws {
        let battery = ["type": "Battery", "status": "Not charging", "capacity": "80"]
        let held = try Self.read(["AC": ["type": "Mains", "online": "1"], "BAT0": battery])
        #expect(held == Self.power(external: true, charging: false, 80))
        let unplugged = try Self.read(["AC": ["type": "Mains", "online": "0"], "BAT0": battery])
        #expect(unplugged == Self.power(external: false, charging: false, 80))
    }

    @Test func `a desktop whose USB-C port is offline is on external power`() throws {
        let answer = try Self.read(["ucsi-source-psy-1": ["type": "USB", "online": "0"]])
        #expect(answer == .value(.power(.mains)))
    }

    @Test func `a mouse's battery says nothing of the machine`() throws {
        let answer = try Self.read([
            "hid-mouse": ["type": "Battery", "scope": "Device", "status": "Discharging", "capacity": "3"]
        ])
        #expect(answer == .value(.power(.mains)))
    }

    @Test func `an empty battery bay is no battery`() throws {
        let answer = try Self.read([
            "AC": ["type": "Mains", "online": "1"], "BAT1": ["type": "Battery", "present": "0"],
        ])
        #expect(answer == .value(.power(.mains)))
    }

    @Test func `one of several supplies online is enough, also in programmable mode`() throws {
        let answer = try Self.read([
            "AC": ["type": "Mains", "online": "0"], "usb1": ["type": "USB", "online": "2"],
            "BAT0": ["type": "Battery", "status": "Discharging", "capacity": "40"],
            "BAT1": ["type": "Battery", "status": "Full", "capacity": "100"],
        ])
        #expect(answer == Self.power(external: true, charging: false, 70))
    }

    @Test func `a battery that knows nothing, and no line that reports, is unknown`() throws {
        #expect(
            try Self.read(["BAT0": ["type": "Battery", "status": "Unknown", "capacity": "50"]]) == .failed)
        let full = try Self.read(["BAT0": ["type": "Battery", "status": "Full", "capacity": "100"]])
        #expect(full == Self.power(external: true, charging: false, 100))
    }

    @Test func `a render node is a GPU, a display alone is none`() throws {
        let sysfs = try FakeSysfs()
        let sensor = RenderNodeSensor(root: sysfs.root)
        #expect(sensor.read(at: VirtualMoments().now()) == .absent)
        try sysfs.add("card0", in: "drm")
        #expect(sensor.read(at: VirtualMoments().now()) == .absent)
        try sysfs.add("renderD128", in: "drm")
        #expect(sensor.read(at: VirtualMoments().now()) == .value(.gpu(true)))
    }
}
