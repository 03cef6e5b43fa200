import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel

@testable import SystemConditions

/// A faked `/sys`, with device events in a network namespace of its own.
class DeviceDriver {
    let sysfs: FakeSysfs
    let namespace: NetworkNamespace

    required init() throws {
        sysfs = try FakeSysfs()
        namespace = try NetworkNamespace()
    }

    /// Wraps a sensor so that its thread starts in the namespace and receives the namespace's events.
    func make(_ sensor: any Sensor) throws -> (sensor: any Sensor, bus: SystemBus?) {
        (InNamespace(sensor, namespace), nil)
    }
}

/// A sensor whose threads run in a network namespace, so that they receive its events and read its state.
final class InNamespace: Sensor {
    private let inner: any Sensor
    /// This value never changes. Its type is a class only because its `deinit` must end a process.
    nonisolated(unsafe) private let namespace: NetworkNamespace

    init(_ inner: any Sensor, _ namespace: NetworkNamespace) {
        self.inner = inner
        self.namespace = namespace
    }

    var key: ConditionKey { inner.key }
    var source: String { inner.source }
    func read(at now: Moment) -> SensorAnswer {
        (try? namespace.inside { [inner] in inner.read(at: now) }) ?? .failed
    }
    func nextLook(after now: Moment) -> Duration? { inner.nextLook(after: now) }
    func mayStandIn(with value: ConditionValue) -> Bool { inner.mayStandIn(with: value) }
    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        (try? namespace.inside { [inner] in inner.watch(onNotice) }) ?? nil
    }
}

/// A charger and a battery in `/sys/class/power_supply`.
final class PowerSupplyDriver: DeviceDriver, SensorDriver {
    static let name = "sysfs power supplies"
    static var obstacle: String? { NetworkNamespace.obstacle }
    static let absent = "external", better = "external", worse = "battery"

    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?) {
        try make(PowerSupplySensor(root: sysfs.root))
    }

    func appear() throws { try improve() }
    func improve() throws { try set("1", "Charging") }
    func worsen() throws { try set("0", "Discharging") }

    func vanish() throws {
        for device in ["AC", "BAT0"] {
            try FileManager.default.removeItem(atPath: "\(sysfs.root)/class/power_supply/\(device)")
        }
        try namespace.sendDeviceEvent(subsystem: "power_supply", device: "AC")
    }

    private func set(_ online: String, _ status: String) throws {
        try sysfs.add("BAT0", ["type": "Battery", "status": status, "capacity": "57"])
        try sysfs.add("AC", ["type": "Mains", "online": online])
        try namespace.sendDeviceEvent(subsystem: "power_supply", device: "AC")
    }
}

/// Render nodes that appear and disappear.
final class RenderNodeDriver: DeviceDriver, SensorDriver {
    static let name = "DRM render nodes"
    static var obstacle: String? { NetworkNamespace.obstacle }
    static let absent = "off", better = "on", worse = "unknown"

    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?) {
        try make(RenderNodeSensor(root: sysfs.root))
    }

    func appear() throws { try improve() }

    func improve() throws {
        try sysfs.add("renderD128", in: "drm")
        try namespace.sendDeviceEvent(subsystem: "drm", device: "renderD128")
    }

    // If the GPU is removed, its source is gone, and no other source offers a GPU.
    func worsen() throws { try vanish() }

    func vanish() throws {
        let place = "\(sysfs.root)/class/drm/renderD128"
        if FileManager.default.fileExists(atPath: place) { try FileManager.default.removeItem(atPath: place) }
        try namespace.sendDeviceEvent(subsystem: "drm", device: "renderD128")
    }
}

/// Default routes of a network namespace.
final class RouteDriver: SensorDriver {
    static let name = "rtnetlink"
    static var obstacle: String? { NetworkNamespace.obstacle }
    static let absent = "unknown", better = "unmetered", worse = "none"
    static let canBeAbsent = false
    private let namespace: NetworkNamespace
    private var nudged: [NudgedSensor] = []

    init() throws {
        namespace = try NetworkNamespace()
        try namespace.run("ip", "link", "add", "uplink", "type", "veth", "peer", "name", "far-end")
        try namespace.run("ip", "link", "set", "uplink", "up")
        try namespace.run("ip", "link", "set", "far-end", "up")
    }

    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?) {
        let sensor = NudgedSensor(InNamespace(RouteSensor(), namespace))
        nudged.append(sensor)
        return (sensor, nil)
    }

    func appear() throws { for sensor in nudged { sensor.fail(false) } }
    func improve() throws { try namespace.run("ip", "route", "replace", "default", "dev", "uplink") }
    func worsen() throws { try namespace.run("ip", "route", "del", "default") }
    // The kernel always has a table of routes; only reading it can fail.
    func vanish() throws { for sensor in nudged { sensor.fail(true) } }
}

/// Trip points of a faked thermal zone.
final class ThermalDriver: SensorDriver {
    static let name = "thermal trip points"
    static let absent = "nominal", better = "nominal", worse = "serious"
    private let sysfs: FakeSysfs
    private var nudged: [NudgedSensor] = []

    init() throws { sysfs = try FakeSysfs() }

    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?) {
        let sensor = NudgedSensor(ThermalSensor(root: sysfs.root))
        nudged.append(sensor)
        return (sensor, nil)
    }

    func appear() throws { try improve() }
    func improve() throws { try set(40_000) }
    func worsen() throws { try set(86_000) }

    func vanish() throws {
        try FileManager.default.removeItem(atPath: "\(sysfs.root)/class/thermal/thermal_zone0")
        for sensor in nudged { sensor.nudge() }
    }

    /// The test sends the notice itself, because a faked zone has no driver that reports a crossing.
    private func set(_ temperature: Int) throws {
        try sysfs.add("thermal_zone0", in: "thermal", DwellTests.zone(temperature))
        for sensor in nudged { sensor.nudge() }
    }
}

/// Real stalls in a new cgroup; the kernel's triggers report them.
final class PressureDriver: SensorDriver {
    static let name = "PSI"
    static let absent = "none", better = "none", worse = "pressed"
    /// The kernel's files always exist.
    static let canBeAbsent = false

    static let obstacle: String? = {
        guard let parent else { return "no cgroup v2 directory that we may write has cpu.pressure" }
        let place = "\(parent)/bgtask-probe-\(UUID().uuidString)"
        defer { rmdir(place) }
        guard mkdir(place, 0o755) == 0 else { return "mkdir(\(place)): \(errno)" }
        do {
            let triggers = PressureSensor.stalls.map {
                PressureTrigger(
                    path: "\(place)/\($0.name).pressure", stall: .milliseconds($0.milliseconds),
                    window: .seconds(2))
            }
            try PressureWatch(triggers, hold: .seconds(3)) { _ in }.cancel()
            return nil
        } catch {
            return "the kernel gives no trigger: \(error)"
        }
    }()

    private static let parent = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].first {
        access("\($0)/cgroup.procs", W_OK) == 0 && access("/proc/pressure/cpu", R_OK) == 0
            && Command.run(
                "sh", "-c",
                "d=\($0)/bgtask-probe-$$; mkdir $d && test -e $d/cpu.pressure; s=$?; rmdir $d; exit $s"
            )
            .status == 0
    }

    private let place = "\(PressureDriver.parent ?? "")/bgtask-psi-\(UUID().uuidString)"
    private let log = FileManager.default.temporaryDirectory.appendingPathComponent(
        "psi-\(UUID().uuidString)")
    private var burners: [CompanionProcess] = []
    private var nudged: [NudgedSensor] = []

    init() throws {
        if mkdir(place, 0o755) != 0 { throw TestFailure("mkdir(\(place)): \(errno)") }
    }

    deinit {
        burners = []
        for _ in 0..<100 where rmdir(place) != 0 { usleep(10_000) }
        try? FileManager.default.removeItem(at: log)
    }

    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?) {
        let place = place
        let sensor = NudgedSensor(PressureSensor(hold: .seconds(3)) { "\(place)/\($0).pressure" })
        nudged.append(sensor)
        return (sensor, nil)
    }

    func appear() throws { for sensor in nudged { sensor.fail(false) } }
    func improve() throws { burners = [] }

    /// Starts more busy processes than there are cores, so that at least one always waits.
    func worsen() throws {
        burners = try (0..<(2 * ProcessorCount.available + 2)).map { _ in
            try CompanionProcess(
                ["sh", "-c", "echo $$ > \(place)/cgroup.procs; while :; do :; done"], output: log)
        }
    }

    func vanish() throws { for sensor in nudged { sensor.fail(true) } }
}
