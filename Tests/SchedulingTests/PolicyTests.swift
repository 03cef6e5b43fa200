import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// The policies about the machine's conditions, on both sides of each limit.
@Suite struct PolicyTests {
    static func battery(_ percent: Int?) -> Reading<PowerCondition> {
        .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: percent))
    }

    static let push = Manifest.make("com.example.a") {
        $0.modes.insert(.remoteNotification)
        $0.tasks.append(TaskDeclaration(pattern: try! IdentifierPattern("com.example.a.push"), kind: .push))
    }

    @Test func `below 20 % on battery nothing discretionary starts, and at 20 % it does`() {
        let rig = SchedulerRig()
        rig.change { $0.power = Self.battery(19) }
        rig.submit("p1")
        rig.submit("export.film")
        #expect(rig.launched() == ["com.example.a.export.film"])
        #expect(rig.vetoes("p1") == ["BatteryLevel"])
        rig.change { $0.power = Self.battery(20) }
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `below 10 % what may be put off expires with lowBattery, a user's work goes on`() {
        let rig = SchedulerRig()
        let (work, film) = (rig.run("p1"), rig.run("export.film"))
        rig.change { $0.power = Self.battery(10) }
        _ = rig.take()
        rig.change { $0.power = Self.battery(9) }
        #expect(rig.take() == [.expire(work, .lowBattery)])
        _ = film
    }

    @Test func `a charge that nobody knows holds nothing forever`() throws {
        let rig = SchedulerRig()
        let launch = rig.run("p1")
        _ = rig.take()
        rig.change {
            $0.power = .unknown
            $0.user = .known(.active)
        }
        #expect(rig.take() == [.expire(launch, .userReturned)])
        rig.submit("refresh")
        #expect(rig.vetoes("refresh") == ["Score"])
        let date = try #require(rig.wake.wall)
        rig.advance(date - rig.now.wall)
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    @Test func `in low-power mode discretionary work waits, unknown is not on`() {
        let rig = SchedulerRig()
        rig.change { $0.lowPowerMode = .known(true) }
        rig.submit("p1")
        rig.submit("export.film")
        #expect(rig.launched() == ["com.example.a.export.film"])
        #expect(rig.vetoes("p1") == ["LowPowerMode"])
        rig.change { $0.lowPowerMode = .unknown }
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test(arguments: [
        PressureCondition(cpu: true, memory: false, io: false), .init(cpu: false, memory: true, io: false),
        .init(cpu: false, memory: false, io: true),
    ])
    func `under any pressure discretionary work waits`(pressure: PressureCondition) {
        let rig = SchedulerRig()
        rig.change { $0.pressure = .known(pressure) }
        rig.submit("p1")
        #expect(rig.take() == [])
        #expect(rig.vetoes("p1") == ["Pressure"])
        rig.change { $0.pressure = .unknown }
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test(arguments: [Reading.known(ThermalCondition.fair), .unknown])
    func `warm, or nobody knows, leaves one discretionary slot`(thermal: Reading<ThermalCondition>) {
        let rig = SchedulerRig()
        rig.change { $0.thermal = thermal }
        let first = rig.submit("p1")
        rig.submit("p2")
        rig.submit("export.film")
        #expect(rig.launched() == ["com.example.a.p1", "com.example.a.export.film"])
        #expect(rig.vetoes("p2") == ["Thermal"])
        rig.end(rig.begin(first))
        #expect(rig.launched() == ["com.example.a.p2"])
        rig.change { $0.thermal = .known(.nominal) }
        rig.submit("p3")
        #expect(rig.launched() == ["com.example.a.p3"])
    }

    @Test func `hot starts nothing discretionary and ends processing, not a refresh`() {
        let rig = SchedulerRig()
        let (work, refresh, film) = (rig.run("p1"), rig.run("refresh"), rig.run("export.film"))
        _ = rig.take()
        rig.change { $0.thermal = .known(.serious) }
        #expect(rig.take() == [.expire(work, .thermal)])
        rig.end(work)
        rig.submit("p2")
        rig.submit("export.other")
        #expect(rig.launched() == ["com.example.a.export.other"])
        #expect(rig.vetoes("p2") == ["Thermal"])
        rig.change { $0.thermal = .known(.critical) }
        #expect(rig.take() == [.expire(refresh, .thermal), .expire(film, .thermal)])
        rig.submit("export.third")
        #expect(rig.take() == [])
        #expect(rig.vetoes("export.third") == ["Thermal"])
        rig.change { $0.thermal = .known(.nominal) }
        #expect(rig.launched() == ["com.example.a.export.third", "com.example.a.p2"])
    }

    @Test
    func `processing waits until the device is idle and ends when the user returns, a refresh does not`() {
        let rig = SchedulerRig()
        rig.change { $0.user = .known(.active) }
        let waits = rig.submit("p1")
        rig.submit("refresh")
        #expect(rig.launched() == ["com.example.a.refresh"])
        #expect(rig.vetoes("p1") == ["DeviceActivity"])
        #expect(rig.wake == Wake())
        rig.change { $0.user = .known(.idle) }
        #expect(rig.launched() == ["com.example.a.p1"])
        let launch = rig.begin(waits)
        rig.change { $0.user = .unknown }
        #expect(rig.take() == [])
        rig.change { $0.user = .known(.active) }
        #expect(rig.take() == [.expire(launch, .userReturned)])
    }

    @Test func `whether somebody is there is ignored where manifest or operator say so`() {
        let rig = SchedulerRig([
            .make("com.example.a") { manifest in
                for index in manifest.tasks.indices where manifest.tasks[index].pattern.base == .sample("p1")
                {
                    manifest.tasks[index].ignoresDeviceActivity = true
                }
            }
        ])
        rig.change { $0.user = .known(.active) }
        rig.submit("p1")
        rig.submit("p2")
        #expect(rig.launched() == ["com.example.a.p1"])
        var settings = SchedulerSettings()
        settings.ignoresDeviceActivity = true
        rig.send(.settingsChanged(settings))
        #expect(rig.launched() == ["com.example.a.p2"])
    }

    @Test func `unknown user is no idleness: processing does not start`() {
        let rig = SchedulerRig()
        rig.change { $0.user = .unknown }
        rig.submit("p1")
        #expect(rig.take() == [])
        #expect(rig.vetoes("p1") == ["DeviceActivity"])
    }

    @Test func `an urgent push skips the score and what holds deferrable work, not its own vetoes`() {
        let rig = SchedulerRig([Self.push])
        rig.change {
            $0.power = Self.battery(15)
            $0.lowPowerMode = .known(true)
        }
        rig.submit("push")
        #expect(rig.take() == [])
        rig.submit("push") { $0.pushPriority = .immediate }
        #expect(rig.launched() == ["com.example.a.push"])
        rig.submit("push") { $0.pushPriority = .immediate }
        #expect(rig.vetoes("push") == ["OneLaunchPerIdentifier"])
    }

    @Test func `a veto on the whole lane costs one look and holds no alarm`() {
        let rig = SchedulerRig()
        rig.change { $0.lowPowerMode = .known(true) }
        rig.submit("p1")
        rig.submit("p2") { $0.earliestBeginDate = rig.now.wall + .seconds(60) }
        #expect(rig.wake == Wake())
        rig.advance(.seconds(61))
        rig.change { $0.lowPowerMode = .known(false) }
        #expect(rig.launched() == ["com.example.a.p1", "com.example.a.p2"])
    }
}
