import LinuxSystem
import TaskModel

/// The sensors of the machine, and the connection to the system bus that some of them share.
struct MachineSensors {
    /// How long the start of the host waits for bus services; the conditions of slow services are unknown
    /// until they answer.
    static let settleMilliseconds: Int32 = 1000

    let sensors: [any Sensor]
    let sleep: SleepInhibitor
    let thermal: ThermalSensor
    private let clients: [any BusClient]

    /// Creates the sensors; none is read yet.
    ///
    /// - Parameters:
    ///   - sysfsRoot: `/sys`, or a directory with the same structure.
    ///   - lowData: Which networks are in low-data mode.
    init(sysfsRoot: String, lowData: LowDataMode) {
        let upower = BusSensor(UPowerSource())
        let profiles = BusSensor(PowerProfilesSource.current)
        let formerProfiles = BusSensor(PowerProfilesSource.former)
        let networkManager = BusSensor(NetworkManagerSource(lowData: lowData))
        let logind = BusSensor(LogindSource())
        sleep = SleepInhibitor()
        thermal = ThermalSensor(root: sysfsRoot)
        clients = [upower, profiles, formerProfiles, networkManager, logind, sleep]
        // Several sources of one condition are in order of preference: the first one that answers counts.
        sensors = [
            upower, PowerSupplySensor(root: sysfsRoot), profiles, formerProfiles, networkManager,
            RouteSensor(lowData: lowData, sysfsRoot: sysfsRoot),
            thermal, logind, PressureSensor(), RenderNodeSensor(root: sysfsRoot),
        ]
    }

    /// Connects to the system bus and waits up to ``settleMilliseconds`` for its services.
    ///
    /// - Returns: The connection; `nil` if the bus or its client library is missing. Then all services count
    ///   as absent.
    func joinBus(_ address: String) -> SystemBus? {
        guard SystemBus.isAvailable, let bus = try? SystemBus(address: address, clients: clients) else {
            for client in clients { client.changed(.absent, NoBus()) }
            return nil
        }
        bus.waitUntilSettled(timeoutMilliseconds: Self.settleMilliseconds)
        return bus
    }

    private struct NoBus: BusCaller {
        func call(
            _ object: BusObject, _ member: String, _ arguments: [String], reply: ([BusValue]?) -> Void
        ) { reply(nil) }
    }
}
