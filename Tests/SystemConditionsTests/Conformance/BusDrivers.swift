import LinuxSystem
import TaskHostTestSupport

@testable import SystemConditions

/// A private bus with one sensor.
class BusDriver {
    let bus: PrivateBus

    required init() throws {
        bus = try PrivateBus()
        try bus.start()
    }

    func join(_ sensor: any Sensor & BusClient) throws -> (sensor: any Sensor, bus: SystemBus?) {
        (sensor, try SystemBus(address: bus.address, clients: [sensor]))
    }
}

/// The real upowerd, with a faked charger and battery.
final class UPowerDriver: BusDriver, SensorDriver {
    static let name = "UPower"
    static var obstacle: String? { PrivateBus.powerObstacle }
    static let absent = "external", better = "external", worse = "battery"
    private var laptop: FakedPower?

    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?) { try join(BusSensor(UPowerSource())) }
    func appear() throws { laptop = try FakedPower(on: bus) }
    func improve() throws { try laptop?.plug() }
    func worsen() throws { try laptop?.unplug() }
    func vanish() throws { laptop = nil }
}

/// The real power-profiles-daemon, under its former name.
final class FormerProfilesDriver: BusDriver, SensorDriver {
    static let name = "power-profiles-daemon, net.hadess"
    static var obstacle: String? { PrivateBus.powerObstacle }
    static let absent = "off", better = "off", worse = "on"
    private static let service = "net.hadess.PowerProfiles"
    private var laptop: FakedPower?
    private var polkit: CompanionProcess?
    private var daemon: CompanionProcess?

    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?) {
        try join(BusSensor(PowerProfilesSource.former))
    }

    func appear() throws {
        if polkit == nil {
            polkit = try bus.mock("polkitd", as: "org.freedesktop.PolicyKit1")
            bus.call(
                "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority",
                "org.freedesktop.DBus.Mock.AllowUnknown", "boolean:true")
            laptop = try FakedPower(on: bus)
        }
        daemon = try bus.start("power-profiles-daemon", as: Self.service)
    }

    func improve() throws { try set("balanced") }
    func worsen() throws { try set("power-saver") }
    func vanish() throws { daemon = nil }

    private func set(_ profile: String) throws {
        try bus.set(
            Self.service, "/net/hadess/PowerProfiles", Self.service, "ActiveProfile", "string:\(profile)")
    }
}

/// A fake of the daemon under its present name, which Debian 12's version does not have yet.
final class CurrentProfilesDriver: BusDriver, SensorDriver {
    static let name = "power-profiles-daemon, org.freedesktop.UPower"
    static var obstacle: String? { PrivateBus.mockObstacle }
    static let absent = "off", better = "off", worse = "on"
    private static let service = "org.freedesktop.UPower.PowerProfiles"
    private static let path = "/org/freedesktop/UPower/PowerProfiles"
    private var mock: CompanionProcess?

    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?) {
        try join(BusSensor(PowerProfilesSource.current))
    }

    func appear() throws {
        mock = try bus.standIn(for: Self.service, path: Self.path)
        bus.call(
            Self.service, Self.path, "org.freedesktop.DBus.Mock.AddProperty", "string:\(Self.service)",
            "string:ActiveProfile", "variant:string:balanced")
    }

    func improve() throws { try set("balanced") }
    func worsen() throws { try set("power-saver") }
    func vanish() throws { mock = nil }

    private func set(_ profile: String) throws {
        try bus.set(Self.service, Self.path, Self.service, "ActiveProfile", "string:\(profile)")
    }
}

/// python-dbusmock's NetworkManager.
final class NetworkManagerDriver: BusDriver, SensorDriver {
    static let name = "NetworkManager"
    static var obstacle: String? { PrivateBus.mockObstacle }
    // The sensor is tested alone, because rtnetlink, the source after it, always answers.
    static let absent = "unknown", better = "unmetered", worse = "metered"
    private static let service = "org.freedesktop.NetworkManager"
    private static let path = "/org/freedesktop/NetworkManager"
    private var mock: CompanionProcess?

    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?) {
        try join(BusSensor(NetworkManagerSource()))
    }

    func appear() throws {
        mock = try bus.mock("networkmanager", as: Self.service)
        // The fake service lacks a property that the real one has had since version 1.2.
        bus.call(
            Self.service, Self.path, "org.freedesktop.DBus.Mock.AddProperty", "string:\(Self.service)",
            "string:Metered", "variant:uint32:4")
    }

    func improve() throws { try set(2) }
    func worsen() throws { try set(1) }
    func vanish() throws { mock = nil }

    private func set(_ metered: Int) throws {
        try bus.set(Self.service, Self.path, Self.service, "Metered", "uint32:\(metered)")
    }
}

/// python-dbusmock's logind.
final class LogindDriver: BusDriver, SensorDriver {
    static let name = "logind"
    static var obstacle: String? { PrivateBus.mockObstacle }
    static let absent = "idle", better = "idle", worse = "active"
    private static let service = "org.freedesktop.login1"
    private var mock: CompanionProcess?

    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?) { try join(BusSensor(LogindSource())) }
    func appear() throws { mock = try bus.mock("logind", as: Self.service) }
    // The fake says that the session has been idle since 1970. A user counts as idle after five minutes.
    func improve() throws { try set(true) }
    func worsen() throws { try set(false) }
    func vanish() throws { mock = nil }

    private func set(_ isIdle: Bool) throws {
        try bus.set(
            Self.service, "/org/freedesktop/login1", "\(Self.service).Manager", "IdleHint",
            "boolean:\(isIdle)")
    }
}
