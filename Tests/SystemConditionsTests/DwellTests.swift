import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import SystemConditions

/// Which changes must last before they count, and which ones count at once.
@Suite struct DwellTests {
    static let battery = SensorAnswer.value(
        .power(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 50)))
    static let charging = SensorAnswer.value(
        .power(PowerCondition(externalPower: true, isCharging: true, batteryPercent: 50)))

    let moments = VirtualMoments()

    func sensors(_ sensors: any Sensor...) -> ConditionSensors {
        ConditionSensors(mode: .system, sensors: sensors, moments: moments, dwell: ConditionSensors.dwell)
    }

    func pass(_ duration: Duration, _ sensors: ConditionSensors) {
        moments.advance(by: duration)
        sensors.timePassed()
    }

    @Test func `a plug that bounces ten times in two seconds is told as one loss and one return`() {
        let power = ScriptedSensor(.power, Self.charging)
        let sensors = sensors(power)
        var told: [Bool] = []
        func look() {
            let isExternal = sensors.snapshot().power.value?.externalPower == true
            if told.last != isExternal { told.append(isExternal) }
        }
        look()
        for _ in 0..<10 {
            power.change(to: Self.battery)
            look()
            pass(.milliseconds(100), sensors)
            power.change(to: Self.charging)
            look()
            pass(.milliseconds(100), sensors)
            look()
        }
        #expect(told == [true, false])
        pass(.milliseconds(1_899), sensors)
        look()
        #expect(told == [true, false])
        pass(.milliseconds(1), sensors)
        look()
        #expect(told == [true, false, true])
    }

    @Test func `a plug that comes loose every half minute costs four losses, and then none`() {
        let power = ScriptedSensor(.power, Self.charging)
        let sensors = sensors(power)
        var losses = 0
        var wasExternal = true
        func look() {
            let isExternal = sensors.snapshot().power.value?.externalPower == true
            if wasExternal, !isExternal { losses += 1 }
            wasExternal = isExternal
        }
        for _ in 0..<20 {
            power.change(to: Self.battery)
            look()
            for _ in 0..<15 { pass(.seconds(1), sensors) }
            power.change(to: Self.charging)
            for _ in 0..<30 {
                pass(.seconds(1), sensors)
                look()
            }
        }
        // After each loss, the plug must stay in for longer before it counts: 2 s, 10 s, 20 s, then 40 s. It
        // never stays in for 40 s, so no fifth loss can follow.
        #expect(losses == 4)
        let source = sensors.rows().first { $0.key == "power" }?.source
        #expect(
            source?.hasSuffix("; power came and went several times, so it counts as connected in 10 s")
                == true)
        for _ in 0..<9 { pass(.seconds(1), sensors) }
        look()
        #expect(!wasExternal)
        pass(.seconds(1), sensors)
        look()
        #expect(wasExternal)
    }

    @Test func `a plug that stayed in for ten minutes is trusted after two seconds again`() {
        let power = ScriptedSensor(.power, Self.charging)
        let sensors = sensors(power)
        func unplugBriefly() {
            power.change(to: Self.battery)
            pass(.seconds(60), sensors)
            power.change(to: Self.charging)
        }
        func isExternal() -> Bool { sensors.snapshot().power.value?.externalPower == true }
        unplugBriefly()
        pass(.seconds(2), sensors)
        #expect(isExternal())
        pass(.seconds(599), sensors)
        unplugBriefly()
        pass(.milliseconds(9_999), sensors)
        #expect(!isExternal())
        pass(.milliseconds(1), sensors)
        #expect(isExternal())
        pass(.seconds(600), sensors)
        unplugBriefly()
        pass(.seconds(2), sensors)
        #expect(isExternal())
    }

    @Test func `a charge that changes does not shorten the wait for external power`() {
        let power = ScriptedSensor(.power, Self.charging)
        let sensors = sensors(power)
        func isExternal() -> Bool { sensors.snapshot().power.value?.externalPower == true }
        for dwell in [2, 10] {
            power.change(to: Self.battery)
            power.change(
                to: .value(
                    .power(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 49))))
            pass(.seconds(1), sensors)
            power.change(to: Self.charging)
            pass(.seconds(dwell) - .milliseconds(1), sensors)
            #expect(!isExternal())
            pass(.milliseconds(1), sensors)
            #expect(isExternal())
        }
    }

    @Test func `the wait for external power is ten minutes at most`() {
        var flaps = FlapWatch()
        var waits: [Duration] = []
        for _ in 0..<12 {
            flaps.lost(at: moments.now())
            waits.append(flaps.dwell(.seconds(2)))
            flaps.returned(at: moments.now())
        }
        #expect(waits == [2, 10, 20, 40, 80, 160, 320, 600, 600, 600, 600, 600].map { .seconds($0) })
    }

    @Test func `a lost plug counts at once, and so does a source that vanishes`() {
        let power = ScriptedSensor(.power, Self.charging)
        let sensors = sensors(power)
        power.change(to: Self.battery)
        #expect(sensors.snapshot().power.value?.externalPower == false)
        power.change(to: .absent)
        #expect(sensors.snapshot().power == .unknown)
        power.change(to: Self.charging)
        #expect(sensors.snapshot().power == .unknown)
        pass(.seconds(2), sensors)
        #expect(sensors.snapshot().power.value?.externalPower == true)
    }

    @Test func `a battery that changes all the time is told every two seconds`() {
        let power = ScriptedSensor(.power, Self.battery)
        let sensors = sensors(power)
        var told: Set<Int?> = []
        for percent in (10..<50).reversed() {
            power.change(
                to: .value(
                    .power(PowerCondition(externalPower: false, isCharging: false, batteryPercent: percent))))
            pass(.milliseconds(200), sensors)
            told.insert(sensors.snapshot().power.value?.batteryPercent)
        }
        #expect(told.count == 5)
        #expect(told.contains(10))
    }

    @Test func `of two sources the first that answers counts, and a poorer one never relaxes what it said`() {
        let manager = ScriptedSensor(.network, .value(.network(.metered)))
        let route = ScriptedSensor(
            .network, .value(.network(.unmetered)), standsInFor: { $0 == .network(.none) })
        let sensors = sensors(manager, route)
        #expect(sensors.snapshot().network == .known(.metered))
        manager.change(to: .absent)
        #expect(sensors.snapshot().network == .unknown)
        route.change(to: .value(.network(.none)))
        pass(.seconds(2), sensors)
        #expect(sensors.snapshot().network == .known(NetworkCondition.none))
        manager.change(to: .elsewhere)
        route.change(to: .value(.network(.unmetered)))
        pass(.seconds(2), sensors)
        #expect(sensors.snapshot().network == .known(.unmetered))
    }

    @Test func `a source that has not answered yet is unknown, and absent if it then is`() {
        let user = ScriptedSensor(.user, .pending)
        let sensors = sensors(user)
        #expect(sensors.snapshot().user == .unknown)
        user.change(to: .absent)
        pass(.seconds(2), sensors)
        #expect(sensors.snapshot().user == .known(.idle))
    }

    @Test func `idle is five minutes without input, on the edge`() {
        let source = LogindSource()
        func answer(_ seconds: Int64) -> SensorAnswer {
            let now = moments.now()
            let since = (now.monotonic - .seconds(seconds)).wholeNanoseconds / 1000
            return source.answer(
                [LogindSource.manager: ["IdleHint": .flag(true), "IdleSinceHintMonotonic": .integer(since)]],
                at: now)
        }
        #expect(answer(299) == .value(.user(.active)))
        #expect(answer(300) == .value(.user(.idle)))
        #expect(
            source.answer([LogindSource.manager: ["IdleHint": .flag(false)]], at: moments.now())
                == .value(.user(.active)))
    }

    @Test(arguments: [
        (59_000, ThermalCondition.nominal), (60_000, .fair), (85_000, .serious), (94_999, .serious),
        (95_000, .critical),
    ])
    func `trip points say how hot it is`(temperature: Int, expected: ThermalCondition) throws {
        let sysfs = try FakeSysfs()
        try sysfs.add("thermal_zone0", in: "thermal", Self.zone(temperature))
        #expect(ThermalSensor(root: sysfs.root).read(at: moments.now()) == .value(.thermal(expected)))
    }

    @Test
    func `heat is left three degrees below where it was reached, and a zone without trips tells nothing`()
        throws
    {
        let sysfs = try FakeSysfs()
        let sensor = ThermalSensor(root: sysfs.root)
        try sysfs.add("thermal_zone1", in: "thermal", ["type": "acpitz", "temp": "99000"])
        #expect(sensor.read(at: moments.now()) == .absent)
        var levels: [SensorAnswer] = []
        for temperature in [84_000, 85_000, 82_000, 81_999] {
            try sysfs.add("thermal_zone0", in: "thermal", Self.zone(temperature))
            levels.append(sensor.read(at: moments.now()))
        }
        #expect(levels == [.fair, .serious, .serious, .fair].map { .value(.thermal($0)) })
        #expect(sensor.nextLook(after: moments.now()) == moments.now().boot + .seconds(10))
    }

    // Not every driver of a thermal zone reports that a trip point was crossed.
    @Test func `a cool machine is looked at while a launch is under way, and not while none is`() throws {
        let sysfs = try FakeSysfs()
        try sysfs.add("thermal_zone0", in: "thermal", Self.zone(40_000))
        let sensor = ThermalSensor(root: sysfs.root, hearsKernel: true)
        let sensors = ConditionSensors(mode: .system, sensors: [sensor], moments: moments, thermal: sensor)
        #expect(sensors.snapshot().thermal == .known(.nominal))
        #expect(sensor.nextLook(after: moments.now()) == nil)
        try sysfs.add("thermal_zone0", in: "thermal", Self.zone(86_000))
        moments.advance(by: .seconds(59))
        sensors.watchHeat(true)
        #expect(sensors.snapshot().thermal == .known(.nominal), "the last look is less than a minute old")
        #expect(sensor.nextLook(after: moments.now()) == moments.now().boot + .seconds(60))
        sensors.watchHeat(false)
        #expect(sensor.nextLook(after: moments.now()) == nil)
        moments.advance(by: .seconds(1))
        sensors.watchHeat(true)
        #expect(sensors.snapshot().thermal == .known(.serious))
    }

    static func zone(_ temperature: Int) -> [String: String] {
        [
            "type": "x86_pkg_temp", "temp": "\(temperature)",
            "trip_point_0_type": "active", "trip_point_0_temp": "60000",
            "trip_point_1_type": "passive", "trip_point_1_temp": "85000",
            "trip_point_2_type": "critical", "trip_point_2_temp": "100000",
        ]
    }
}
