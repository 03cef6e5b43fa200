import TaskModel
import Testing

@testable import Scheduling

@Suite struct ConstraintTests {
    static let battery = Reading.known(
        PowerCondition(externalPower: false, isCharging: false, batteryPercent: 80))

    @Test(arguments: [battery, .unknown])
    func `a task that requires external power waits without it, known or not`(power: Reading<PowerCondition>)
    {
        let rig = SchedulerRig()
        rig.change { $0.power = power }
        rig.submit("powered")
        rig.submit("p1") { $0.requiresExternalPower = true }
        #expect(rig.take() == [])
        #expect(rig.wake == Wake())
        #expect(rig.vetoes("powered") == ["ExternalPower"])
        rig.change { $0.power = .known(.mains) }
        #expect(rig.launched() == ["com.example.a.powered", "com.example.a.p1"])
    }

    @Test(arguments: [battery, .unknown])
    func `it expires with externalPowerLost once power is not known to be external`(
        power: Reading<PowerCondition>
    ) {
        let rig = SchedulerRig()
        let launch = rig.run("powered")
        let other = rig.run("p1")
        _ = rig.take()
        rig.change { $0.power = power }
        #expect(rig.take() == [.setCPULimitRelaxed(launch, false), .expire(launch, .externalPowerLost)])
        rig.change { $0.power = .known(.mains) }
        #expect(rig.take() == [.setCPULimitRelaxed(launch, true)])
        rig.end(launch)
        rig.end(other)
        #expect(rig.take() == [])
    }

    @Test func `a request is held while its manifest permits another kind`() {
        let rig = SchedulerRig()
        rig.change { $0.lowPowerMode = .known(true) }
        rig.submit("p1")
        let changed = Manifest.make("com.example.a") { manifest in
            for index in manifest.tasks.indices
            where manifest.tasks[index].pattern.base == TaskIdentifier.sample("p1") {
                manifest.tasks[index].kind = .appRefresh
            }
        }
        rig.send(.handlersChanged([changed]))
        rig.change { $0.lowPowerMode = .known(false) }
        #expect(rig.launched() == [])
        #expect(rig.vetoes("p1") == ["Permission"])
        rig.send(.handlersChanged([.sample]))
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `power lost between decision and start ends the launch as soon as it has a number`() {
        let rig = SchedulerRig()
        let id = rig.submit("powered")
        rig.change { $0.power = Self.battery }
        _ = rig.take()
        let launch = rig.begin(id, ready: false)
        #expect(rig.take() == [.expire(launch, .externalPowerLost)])
    }

    @Test func `the CPU limit is relaxed exactly while power is required and connected`() {
        let rig = SchedulerRig()
        let relaxed = rig.run("powered")
        #expect(rig.take().contains(.setCPULimitRelaxed(relaxed, true)))
        let plain = rig.run("p1")
        #expect(!rig.take().contains(.setCPULimitRelaxed(plain, true)))
    }

    @Test func `a simulated launch on battery is neither relaxed nor ended, until power came and went`() {
        let rig = SchedulerRig()
        rig.change { $0.power = Self.battery }
        let id = rig.submit("powered")
        rig.send(.simulate(id))
        _ = rig.take()
        let launch = rig.begin(id)
        rig.advance(.seconds(1))
        #expect(rig.take() == [])
        rig.change { $0.power = .known(.mains) }
        #expect(rig.take() == [.setCPULimitRelaxed(launch, true)])
        rig.change { $0.power = Self.battery }
        #expect(rig.take() == [.setCPULimitRelaxed(launch, false), .expire(launch, .externalPowerLost)])
    }

    @Test(arguments: [Reading.known(NetworkCondition.none), .unknown])
    func `a task that requires the network waits for it and expires with it`(
        network: Reading<NetworkCondition>
    ) {
        let rig = SchedulerRig()
        rig.change { $0.network = network }
        let id = rig.submit("networked")
        #expect(rig.take() == [])
        #expect(rig.vetoes("networked") == ["Network"])
        rig.change { $0.network = .known(.unmetered) }
        #expect(rig.launched() == ["com.example.a.networked"])
        let launch = rig.begin(id)
        rig.change { $0.network = network }
        #expect(rig.take() == [.expire(launch, .networkLost)])
    }

    @Test func `on a constrained network discretionary work waits, a user's does not, and what runs goes on`()
    {
        let rig = SchedulerRig()
        let launch = rig.run("p1") { $0.network = .any }
        rig.change { $0.network = .known(.constrained) }
        rig.submit("networked")
        rig.submit("export.film") { $0.requiresNetworkConnectivity = true }
        rig.submit("p2")
        _ = launch
        #expect(rig.launched() == ["com.example.a.p1", "com.example.a.export.film", "com.example.a.p2"])
        #expect(rig.vetoes("networked") == ["Network", "Concurrency"])
    }

    @Test(arguments: [Reading.known(false), .unknown])
    func `a request for the GPU waits until one is offered`(gpu: Reading<Bool>) {
        let rig = SchedulerRig()
        rig.change { $0.gpu = gpu }
        rig.submit("export.film") { $0.requiresGPU = true }
        #expect(rig.take() == [])
        #expect(rig.vetoes("export.film") == ["Resources"])
        rig.change { $0.gpu = .known(true) }
        #expect(rig.launched() == ["com.example.a.export.film"])
    }

    @Test func `every veto says what it requires, what it saw, and what helps or when it ends`() throws {
        let rig = SchedulerRig()
        rig.change {
            $0.power = Self.battery
            $0.network = .unknown
        }
        let date = rig.now.wall + .seconds(3600)
        let id = rig.submit("powered") {
            $0.requiresNetworkConnectivity = true
            $0.earliestBeginDate = date
        }
        let vetoes = try #require(rig.scheduler.explain(id, at: rig.now)).vetoes
        #expect(vetoes.map(\.policy) == ["EarliestBeginDate", "ExternalPower", "Network"])
        #expect(
            vetoes[0].rationale == [
                Rationale(
                    quantity: "earliestBeginDate", required: "2027-01-15T09:00:00Z or later",
                    observed: "1 h too early", earliestChange: date,
                    remedy: "Wait, or start it now without the policies: bgtask launch com.example.a.powered")
            ])
        #expect(vetoes[1].rationale.first?.observed == "not connected (battery at 80 %)")
        #expect(vetoes[1].rationale.first?.remedy == "Plug in the charger")
        #expect(vetoes[2].rationale.first?.observed == "unknown (its source does not answer)")
    }
}
