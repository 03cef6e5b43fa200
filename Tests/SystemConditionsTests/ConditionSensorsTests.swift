import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import SystemConditions

@Suite struct ConditionSensorsTests {
    let moments = VirtualMoments()

    @Test func `simulated conditions begin as a mains-powered, idle, cool machine on an unmetered network`() {
        let sensors = ConditionSensors(mode: .simulated, moments: moments)
        #expect(sensors.snapshot() == .simulatedStart)
        let rows = sensors.rows().map { "\($0.key)=\($0.value) \($0.source)" }
        #expect(
            rows == [
                "power=external simulated", "lowPower=off simulated", "network=unmetered simulated",
                "thermal=nominal simulated", "user=idle simulated", "pressure=none simulated",
                "gpu=off simulated", "storage=100GiB simulated",
            ])
    }

    @Test func `sources that are absent from the start have the values of the rules, the network is unknown`()
    {
        let sensors = ConditionSensors(mode: .system, sensors: [], moments: moments)
        var expected = Conditions.simulatedStart
        expected.network = .unknown
        expected.storage = .unknown
        #expect(sensors.snapshot() == expected)
        let sources = Set(sensors.rows().map(\.source))
        #expect(sources == ["none"])
    }

    @Test(arguments: [
        "power=battery:15%", "power=external", "power=charging:60%", "lowPower=on", "network=metered",
        "network=none", "thermal=serious", "user=active", "pressure=memory", "pressure=cpu,io", "gpu=on",
        "network=unknown", "storage=2GiB", "storage=unknown",
    ])
    func `every value can be set, and the listing says it as it was set`(setting: String) throws {
        let sensors = ConditionSensors(mode: .simulated, moments: moments)
        try sensors.set([setting])
        let rows = sensors.rows().map { "\($0.key)=\($0.value)" }
        #expect(rows.contains(setting))
    }

    @Test func `power is what it was set to`() throws {
        let sensors = ConditionSensors(mode: .simulated, moments: moments)
        try sensors.set(["power=battery:15%"])
        #expect(
            sensors.snapshot().power
                == .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 15)))
        try sensors.set(["power=charging:100%"])
        #expect(
            sensors.snapshot().power
                == .known(PowerCondition(externalPower: true, isCharging: true, batteryPercent: 100)))
    }

    @Test(arguments: [
        "power=full", "power=battery:101%", "power=battery:-1%", "power=battery:5", "power=battery:%",
        "network=", "thermal=Serious", "pressure=memory,", "gpu=yes", "heat=serious", "power",
    ])
    func `a setting that is wrong changes nothing and names key, finding and valid values`(setting: String) {
        let sensors = ConditionSensors(mode: .simulated, moments: moments)
        do {
            try sensors.set(["user=active", setting])
            Issue.record("\(setting) was taken")
        } catch {
            #expect(!error.valid.isEmpty)
            #expect("\(error)".contains(setting.split(separator: "=")[0]))
        }
        #expect(sensors.snapshot() == .simulatedStart)
    }

    @Test func `a mistyped condition or value gets the nearest one`() {
        let sensors = ConditionSensors(mode: .simulated, moments: moments)
        for (setting, meant) in [("poewr=external", "power"), ("thermal=sirious", "serious")] {
            let error = #expect(throws: ConditionSettingError.self) { try sensors.set([setting]) }
            #expect(error?.remedy.hasPrefix("Did you mean '\(meant)'?") == true, "\(setting)")
        }
    }

    @Test func `the error reads well`() {
        let sensors = ConditionSensors(mode: .simulated, moments: moments)
        do {
            try sensors.set(["power=full"])
            Issue.record("power=full was taken")
        } catch {
            #expect(
                error.description == "power: 'full' is not a valid value. Valid values: external, "
                    + "battery:PERCENT%, charging:PERCENT%, unknown")
        }
    }

    @Test func `one condition is simulated over the real ones until it is cleared`() throws {
        let network = ScriptedSensor(.network, .value(.network(.unmetered)))
        let gpu = ScriptedSensor(.gpu, .value(.gpu(true)))
        let sensors = ConditionSensors(mode: .system, sensors: [network, gpu], moments: moments)
        try sensors.set(["network=metered"])
        network.change(to: .value(.network(.none)))
        gpu.change(to: .value(.gpu(false)))
        #expect(sensors.snapshot().network == .known(.metered))
        #expect(sensors.snapshot().gpu == .known(false))
        sensors.clear()
        #expect(sensors.snapshot().network == .known(NetworkCondition.none))
    }

    @Test func `a source that vanishes or errs is unknown, one that was never there is not`() {
        let power = ScriptedSensor(.power, .absent)
        let sensors = ConditionSensors(mode: .system, sensors: [power], moments: moments)
        #expect(sensors.snapshot().power == .known(.mains))
        power.change(to: .value(.power(.mains)))
        power.change(to: .absent)
        #expect(sensors.snapshot().power == .unknown)
        power.change(to: .value(.power(.mains)))
        #expect(sensors.snapshot().power == .known(.mains))
        power.change(to: .failed)
        #expect(sensors.snapshot().power == .unknown)
    }

    @Test func `a source that can no longer tell of changes is unknown`() {
        let network = ScriptedSensor(.network, .value(.network(.unmetered)))
        let sensors = ConditionSensors(mode: .system, sensors: [network], moments: moments)
        network.send(.failed(SystemCallError(call: "recv", subject: "netlink", code: 5)))
        #expect(sensors.snapshot().network == .unknown)
    }

    @Test func `since is when the value changed, not when it was looked at`() {
        let network = ScriptedSensor(.network, .value(.network(.unmetered)))
        let sensors = ConditionSensors(mode: .system, sensors: [network], moments: moments)
        let start = moments.now().wall
        moments.advance(by: .seconds(60))
        network.send(.changed)
        let before = sensors.rows().first { $0.key == "network" }
        #expect(before == ConditionRow(key: "network", value: "unmetered", source: "scripted", since: start))
        network.change(to: .value(.network(.none)))
        let after = sensors.rows().first { $0.key == "network" }
        #expect(after?.since == start + .seconds(60))
    }

    @Test func `changes come as they are first, then only when something differs`() async throws {
        let sensors = ConditionSensors(mode: .simulated, moments: moments)
        var changes = sensors.changes().makeAsyncIterator()
        #expect(await changes.next() == .simulatedStart)
        try sensors.set(["user=idle"])
        try sensors.set(["user=active"])
        #expect(await changes.next()?.user == .known(.active))
        sensors.clear()
        #expect(await changes.next() == .simulatedStart)
    }
}
