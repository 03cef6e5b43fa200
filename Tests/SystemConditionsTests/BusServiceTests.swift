import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import SystemConditions

/// The special behaviour of single bus services, imitated by python-dbusmock; the conformance suite tests
/// what they have in common.
@Suite(.system, .enabled(if: PrivateBus.mockObstacle == nil, "needs dbus and python3-dbusmock"))
struct BusServiceTests {
    static let networkManager = "org.freedesktop.NetworkManager"
    static let login = "org.freedesktop.login1"

    /// Sensors of one bus; changes take effect at once.
    static func sensors(_ bus: PrivateBus, _ sensor: any Sensor & BusClient) throws -> ConditionSensors {
        let connection = try SystemBus(address: bus.address, clients: [sensor])
        connection.waitUntilSettled(timeoutMilliseconds: 5000)
        return ConditionSensors(
            mode: .system, sensors: [sensor], moments: SystemClocks(), bus: connection)
    }

    @Test func `NetworkManager tells what the network costs and whether there is one`() throws {
        let bus = try PrivateBus()
        try bus.start()
        let mock = try bus.mock("networkmanager", as: Self.networkManager)
        let path = "/org/freedesktop/NetworkManager"
        // The fake service lacks a property that the real one has had since version 1.2.
        bus.call(
            Self.networkManager, path, "org.freedesktop.DBus.Mock.AddProperty",
            "string:\(Self.networkManager)", "string:Metered", "variant:uint32:4")
        let sensors = try Self.sensors(bus, BusSensor(NetworkManagerSource()))
        #expect(sensors.snapshot().network == .known(.unmetered))
        #expect(sensors.rows().first { $0.key == "network" }?.source == "NetworkManager")

        func set(_ property: String, _ value: Int) throws {
            try bus.set(Self.networkManager, path, Self.networkManager, property, "uint32:\(value)")
        }
        try set("Metered", 1)
        try waitUntil("it is metered") { sensors.snapshot().network == .known(.metered) }
        try set("Metered", 2)
        try waitUntil("it is free") { sensors.snapshot().network == .known(.unmetered) }
        try set("Metered", 3)
        try waitUntil("a guess is metered too") { sensors.snapshot().network == .known(.metered) }
        try set("Connectivity", 1)
        try waitUntil("there is none") { sensors.snapshot().network == .known(NetworkCondition.none) }
        mock.end()
        try waitUntil("it has vanished") { sensors.snapshot().network == .unknown }
    }

    /// A bus with a logind, and the sensors of a host that holds the machine's sleep back.
    private final class SleepyMachine {
        static let path = "/org/freedesktop/login1", interface = "org.freedesktop.login1.Manager"

        let bus: PrivateBus
        let logind: CompanionProcess
        let sensors: ConditionSensors

        init() throws {
            bus = try PrivateBus()
            try bus.start()
            logind = try bus.mock("logind", as: BusServiceTests.login)
            let inhibitor = SleepInhibitor()
            let connection = try SystemBus(address: bus.address, clients: [inhibitor])
            sensors = ConditionSensors(
                mode: .system, sensors: [], moments: SystemClocks(), sleep: inhibitor, bus: connection)
        }

        /// Whether the host holds the sleep back.
        var isHeld: Bool {
            bus.call(BusServiceTests.login, Self.path, "\(Self.interface).ListInhibitors").output
                .contains("bgtask")
        }

        /// Sends logind's signal before or after a sleep.
        func announceSleep(_ isBefore: Bool) throws {
            try bus.emit(
                BusServiceTests.login, Self.path, Self.interface, "PrepareForSleep", signature: "b",
                isBefore ? "true" : "false")
        }
    }

    @Test func `the machine's sleep waits for us and no longer`() async throws {
        let machine = try SleepyMachine()
        let bus = machine.bus
        try waitUntil("the lock is taken") { machine.isHeld }
        var notices = machine.sensors.sleepNotices().makeAsyncIterator()
        // Any program may send a signal; without logind's name it is not a signal of logind.
        bus.sendSignal(
            SleepyMachine.path, "\(SleepyMachine.interface).PrepareForSleep", "boolean:true")
        try machine.announceSleep(true)
        guard case .willSleep(let delay)? = await notices.next() else {
            throw TestFailure("no word of the sleep")
        }
        #expect(machine.isHeld)
        delay.release()
        try waitUntil("the lock is let go") { !machine.isHeld }
        try machine.announceSleep(false)
        guard case .hasWoken? = await notices.next() else { throw TestFailure("no word of the waking") }
        try waitUntil("the lock is taken again") { machine.isHeld }
        machine.logind.end()
    }

    @Test(.timeLimit(.minutes(1)), arguments: [false, true])
    func `a logind that ends between its two words of a sleep counts as woken`(returns: Bool) async throws {
        let machine = try SleepyMachine()
        let bus = machine.bus
        try waitUntil("the lock is taken") { machine.isHeld }
        var notices = machine.sensors.sleepNotices().makeAsyncIterator()
        try machine.announceSleep(true)
        guard case .willSleep? = await notices.next() else { throw TestFailure("no word of the sleep") }
        machine.logind.end()
        guard case .hasWoken? = await notices.next() else { throw TestFailure("no word of the end") }
        guard returns else { return }
        let again = try bus.mock("logind", as: Self.login)
        try waitUntil("the new logind's lock is taken") { machine.isHeld }
        again.end()
    }

    @Test func `a bus that is missing, comes, dies and comes back is joined each time`() throws {
        let bus = try PrivateBus()
        let sensor = BusSensor(LogindSource())
        let sensors = try Self.sensors(bus, sensor)
        // Logind is absent from the start, so no user is at this machine.
        #expect(sensors.snapshot().user == .known(.idle))
        try bus.start()
        let mock = try bus.mock("logind", as: Self.login)
        try waitUntil("logind is seen on the bus that came") { sensors.snapshot().user == .known(.active) }
        bus.stop()
        try waitUntil("with the bus it has vanished") { sensors.snapshot().user == .unknown }
        mock.end()
        try bus.start()
        let again = try bus.mock("logind", as: Self.login)
        try waitUntil("it is seen on the new bus") { sensors.snapshot().user == .known(.active) }
        again.end()
    }
}
