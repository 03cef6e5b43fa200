import LinuxSystem

/// The machine's real sensors, and the bus that some of them share.
struct MachineSensors {
    /// How long the host's start waits for services that do not answer; their conditions are unknown until
    /// they do.
    static let settleMilliseconds: Int32 = 1000

    let sensors: [any Sensor]
    let sleep: SleepInhibitor
    private let clients: [any BusClient]

    /// - Parameter sysfsRoot: `/sys`, or a directory in its shape.
    init(sysfsRoot: String) {
        let upower = BusSensor(UPowerSource())
        let profiles = BusSensor(PowerProfilesSource.current)
        let formerProfiles = BusSensor(PowerProfilesSource.former)
        let networkManager = BusSensor(NetworkManagerSource())
        let logind = BusSensor(LogindSource())
        sleep = SleepInhibitor()
        clients = [upower, profiles, formerProfiles, networkManager, logind, sleep]
        // Of a condition's sources the first that answers counts.
        sensors = [
            upower, PowerSupplySensor(root: sysfsRoot), profiles, formerProfiles, networkManager,
            RouteSensor(),
            ThermalSensor(root: sysfsRoot), logind, PressureSensor(), RenderNodeSensor(root: sysfsRoot),
        ]
    }

    /// Joins the bus and waits a moment for what is on it.
    ///
    /// - Returns: The connection; `nil` on a machine without a library for it, where all its services are
    ///   absent.
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
