import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// An activity that should no longer run is first asked to defer. It expires only if it still runs 10 s
/// later.
@Suite struct ActivityTests {
    private static let manifest = Manifest.make("com.example.a") {
        var activity = TaskDeclaration(
            pattern: try! IdentifierPattern("com.example.a.activity"), kind: .activity)
        activity.requiresNetworkConnectivity = true
        $0.tasks.append(activity)
    }

    /// Changes of conditions that keep an activity from starting, each with the reason of the expiration that
    /// follows.
    static let vetoes: [(Reason, @Sendable (inout Conditions) -> Void)] = [
        (.userReturned, { $0.user = .known(.active) }),
        (.networkLost, { $0.network = .known(.none) }),
        (.lowPowerMode, { $0.lowPowerMode = .known(true) }),
        (
            .lowBattery,
            { $0.power = .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 15)) }
        ),
        (.thermal, { $0.thermal = .known(.serious) }),
        (.pressure, { $0.pressure = .known(PressureCondition(cpu: true, memory: false, io: false)) }),
    ]

    @Test(arguments: ActivityTests.vetoes.indices)
    func `a veto is a wish for 10 s and an expiration after them`(index: Int) {
        let (reason, change) = Self.vetoes[index]
        let rig = SchedulerRig([Self.manifest])
        let launch = rig.run("activity")
        _ = rig.take()
        rig.change(change)
        #expect(rig.take() == [.setShouldDefer(launch, true)])
        #expect(rig.wake.boot == rig.now.boot + .seconds(10))
        rig.advance(.milliseconds(9_999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.take() == [.expire(launch, reason)])
    }

    @Test(arguments: ActivityTests.vetoes.indices)
    func `a veto that goes in time is taken back, and the next one has its own 10 s`(index: Int) {
        let rig = SchedulerRig([Self.manifest])
        let launch = rig.run("activity")
        rig.change(Self.vetoes[index].1)
        rig.advance(.seconds(9))
        _ = rig.take()
        rig.change { $0 = .simulatedStart }
        #expect(rig.take() == [.setShouldDefer(launch, false)])
        rig.advance(.seconds(60))
        #expect(rig.take() == [])
        rig.change(Self.vetoes[index].1)
        rig.advance(.seconds(9))
        #expect(rig.take() == [.setShouldDefer(launch, true)])
    }

    @Test func `a pause that ends by itself takes its wish back at its end`() {
        for isOfHost in [false, true] {
            let rig = SchedulerRig([Self.manifest])
            let launch = rig.run("activity")
            _ = rig.take()
            let pause = Pause(since: rig.now.wall, until: rig.now.wall + .seconds(5))
            rig.send(isOfHost ? .pauseChanged(pause) : .bundlePaused(.sample, pause))
            #expect(rig.take() == [.setShouldDefer(launch, true)])
            #expect(rig.wake.boot == rig.now.boot + .seconds(5))
            rig.advance(.seconds(5))
            #expect(rig.take() == [.setShouldDefer(launch, false)])
            rig.advance(.seconds(10))
            #expect(rig.take() == [])
        }
    }

    @Test func `a second veto does not give it more time`() {
        let rig = SchedulerRig([Self.manifest])
        let launch = rig.run("activity")
        rig.change { $0.thermal = .known(.serious) }
        rig.advance(.seconds(6))
        rig.change { $0.lowPowerMode = .known(true) }
        rig.change { $0.thermal = .known(.nominal) }
        _ = rig.take()
        rig.advance(.seconds(4))
        #expect(rig.take() == [.expire(launch, .lowPowerMode)])
    }

    @Test func `critical heat and a manifest that is gone leave no time`() {
        let rig = SchedulerRig([Self.manifest])
        let launch = rig.run("activity")
        _ = rig.take()
        rig.change { $0.thermal = .known(.critical) }
        #expect(rig.take() == [.setShouldDefer(launch, true), .expire(launch, .thermal)])
        let other = SchedulerRig([Self.manifest])
        let second = other.run("activity")
        _ = other.take()
        other.send(.handlersChanged([]))
        #expect(other.take() == [.expire(second, .manifestRemoved)])
    }

    @Test func `one that began beside a user goes on beside a user, and warmth is no veto`() {
        let rig = SchedulerRig([Self.manifest])
        rig.change { $0.user = .known(.active) }
        _ = rig.run("activity")
        _ = rig.take()
        rig.change { $0.user = .known(.idle) }
        rig.change { $0.user = .known(.active) }
        rig.change { $0.thermal = .known(.fair) }
        #expect(rig.take() == [])
    }

    @Test func `a simulated launch is not asked to stop for what it began against`() {
        let rig = SchedulerRig([Self.manifest])
        rig.change { $0.lowPowerMode = .known(true) }
        let request = rig.submit("activity")
        rig.send(.simulate(request))
        let launch = rig.begin(request)
        _ = rig.take()
        rig.change { $0.user = .known(.active) }
        #expect(rig.take() == [])
        rig.change { $0.lowPowerMode = .known(false) }
        rig.change { $0.lowPowerMode = .known(true) }
        #expect(rig.take() == [.setShouldDefer(launch, true)])
    }
}
