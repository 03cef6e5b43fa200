import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import SystemConditions

/// Changes that the kernel itself reports, in a network namespace of the test's own.
@Suite(.system, .enabled(if: NetworkNamespace.obstacle == nil, "needs root and iproute2"))
struct KernelNoticeTests {
    /// Two sensors that use only the kernel: their changes count at once, and they use no bus.
    static func sensors(_ root: String) -> ConditionSensors {
        ConditionSensors(
            mode: .system, sensors: [RouteSensor(), PowerSupplySensor(root: root)], moments: SystemClocks())
    }

    @Test func `a default route that comes and goes is seen as it happens`() throws {
        let network = try NetworkNamespace()
        let sysfs = try FakeSysfs()
        let root = sysfs.root
        let sensors = try network.inside { Self.sensors(root) }
        #expect(sensors.snapshot().network == .known(NetworkCondition.none))

        try network.run("ip", "link", "add", "uplink", "type", "veth", "peer", "name", "far-end")
        try network.run("ip", "link", "set", "uplink", "up")
        try network.run("ip", "link", "set", "far-end", "up")
        try network.run("ip", "route", "add", "default", "dev", "uplink")
        try waitUntil("the route is seen") { sensors.snapshot().network == .known(.unmetered) }

        try network.run("ip", "route", "del", "default")
        try waitUntil("its loss is seen") { sensors.snapshot().network == .known(NetworkCondition.none) }

        try network.run("ip", "-6", "route", "add", "default", "dev", "uplink")
        try waitUntil("an IPv6 route is seen") { sensors.snapshot().network == .known(.unmetered) }
        // Without a carrier, the route still exists but leads nowhere.
        try network.run("ip", "link", "set", "far-end", "down")
        try waitUntil("a lost carrier is seen") {
            sensors.snapshot().network == .known(NetworkCondition.none)
        }
        #expect(sensors.rows().first { $0.key == "network" }?.source == "rtnetlink")
    }

    @Test func `what the default routes are made of is seen, and each change`() throws {
        let network = try NetworkNamespace()
        let sysfs = try FakeSysfs()
        try sysfs.add("cable", in: "net", ["ifindex": "101", "type": "1"])
        try sysfs.add("cable/device", in: "net")
        try sysfs.add("radio", in: "net", ["ifindex": "102", "type": "1", "uevent": "DEVTYPE=wlan"])
        let root = sysfs.root
        let sensors = try network.inside {
            ConditionSensors(
                mode: .system, sensors: [RouteSensor(sysfsRoot: root)], moments: SystemClocks())
        }
        #expect(sensors.snapshot().interfaces.isEmpty)
        for (name, index) in [("cable", "101"), ("radio", "102")] {
            try network.run(
                "ip", "link", "add", name, "index", index, "type", "veth", "peer", "name", "far-\(name)")
            try network.run("ip", "link", "set", name, "up")
            try network.run("ip", "link", "set", "far-\(name)", "up")
        }
        try network.run("ip", "route", "add", "default", "dev", "cable", "metric", "100")
        try waitUntil("the cable is seen") { sensors.snapshot().interfaces == [.wired] }
        try network.run("ip", "route", "add", "default", "dev", "radio", "metric", "200")
        try waitUntil("both are seen") { sensors.snapshot().interfaces == [.wired, .wifi] }
        try network.run("ip", "link", "set", "far-cable", "down")
        try waitUntil("only the radio is left") { sensors.snapshot().interfaces == [.wifi] }
        #expect(sensors.snapshot().network == .known(.unmetered))
        try network.run("ip", "link", "set", "radio", "down")
        try waitUntil("nothing is left") { sensors.snapshot().interfaces.isEmpty }
    }

    @Test func `a power supply's device event is followed by a look at it`() throws {
        let network = try NetworkNamespace()
        let sysfs = try FakeSysfs()
        try sysfs.add("AC", ["type": "Mains", "online": "1"])
        try sysfs.add("BAT0", ["type": "Battery", "status": "Charging", "capacity": "57"])
        let root = sysfs.root
        let sensors = try network.inside { Self.sensors(root) }
        #expect(sensors.snapshot().power.value?.externalPower == true)

        try sysfs.add("AC", ["online": "0"])
        try sysfs.add("BAT0", ["status": "Discharging"])
        // The sensor ignores events of another subsystem and does not read sysfs again.
        try network.sendDeviceEvent(subsystem: "usb", device: "hub")
        #expect(sensors.snapshot().power.value?.externalPower == true)
        try network.sendDeviceEvent(subsystem: "power_supply", device: "AC")
        try waitUntil("the pulled plug is seen") {
            sensors.snapshot().power
                == .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 57))
        }

        try sysfs.add("AC", ["online": "1"])
        try network.sendDeviceEvent(subsystem: "power_supply", device: "AC")
        try waitUntil("the plug is seen again") { sensors.snapshot().power.value?.externalPower == true }
    }
}
