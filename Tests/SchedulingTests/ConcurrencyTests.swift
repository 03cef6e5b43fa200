import TaskModel
import Testing

@testable import Scheduling

@Suite struct ConcurrencyTests {
    @Test func `two launches of one identifier never run at once`() {
        let rig = SchedulerRig()
        let first = rig.run("p1")
        rig.submit("p1")
        _ = rig.take()
        #expect(rig.vetoes("p1") == ["OneLaunchPerIdentifier"])
        rig.end(first)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `two discretionary launches run at once, and the third starts when one ends`() {
        let rig = SchedulerRig()
        let first = rig.run("p1")
        _ = rig.run("refresh")
        rig.submit("p2")
        _ = rig.take()
        #expect(rig.vetoes("p2") == ["Concurrency"])
        rig.end(first)
        #expect(rig.launched() == ["com.example.a.p2"])
    }

    @Test func `three continued launches run beside them, in the order of their submission`() {
        let rig = SchedulerRig()
        _ = (rig.run("p1"), rig.run("p2"))
        _ = rig.take()
        for name in ["d", "c", "b", "a"] { rig.submit("export.\(name)") }
        #expect(
            rig.launched() == ["com.example.a.export.d", "com.example.a.export.c", "com.example.a.export.b"])
        #expect(rig.vetoes("export.a") == ["Concurrency"])
    }

    @Test func `while another bundle waits, a bundle has one launch`() {
        let rig = SchedulerRig([.sample, .make("com.example.b")])
        let first = rig.run("com.example.b.p1")
        let second = rig.run("com.example.b.p2")
        rig.submit("p1")
        rig.submit("p2")
        rig.submit("com.example.b.p3")
        _ = rig.take()
        rig.end(first)
        #expect(rig.launched() == ["com.example.a.p1"])
        rig.end(second)
        // Bundle b now has no running launch, so its p3 comes before p2 of bundle a, which is older.
        #expect(rig.launched() == ["com.example.b.p3"])
    }

    @Test func `a bundle that waits for power does not keep a slot empty`() {
        let rig = SchedulerRig([.sample, .make("com.example.b")])
        rig.change { $0.power = .unknown }
        rig.submit("com.example.b.powered")
        rig.submit("p1")
        rig.submit("p2")
        #expect(rig.launched() == ["com.example.a.p1", "com.example.a.p2"])
    }

    @Test func `the slot goes to the request whose deadline comes first, then to the oldest`() {
        let rig = SchedulerRig()
        let first = rig.run("p1")
        _ = rig.run("p2")
        rig.submit("p3")
        rig.submit("p4")
        rig.store(
            TaskSubmission(identifier: .sample("p5"), origin: .schedule),
            deadline: rig.now.wall + .seconds(60))
        _ = rig.take()
        rig.end(first)
        #expect(rig.launched() == ["com.example.a.p5"])
    }

    @Test func `a simulated launch takes no free slot to start, but holds one`() {
        let rig = SchedulerRig()
        let first = rig.run("p1")
        _ = rig.run("p2")
        let third = rig.submit("p3")
        rig.send(.simulate(third))
        _ = rig.begin(third)
        rig.submit("p4")
        _ = rig.take()
        rig.end(first)
        #expect(rig.take() == [])
        #expect(rig.vetoes("p4") == ["Concurrency"])
    }

    @Test(arguments: [ThermalCondition.nominal, .fair])
    func `where no slot is granted the remedy is the setting, not to wait`(thermal: ThermalCondition) throws {
        var settings = SchedulerSettings.unpaced
        settings.discretionarySlots = 0
        let rig = SchedulerRig(settings: settings)
        rig.change { $0.thermal = .known(thermal) }
        let id = rig.submit("p1")
        let vetoes = try #require(rig.scheduler.explain(id, at: rig.now)).vetoes
        #expect(vetoes.contains { $0.policy == "Concurrency" })
        for veto in vetoes {
            #expect(
                veto.rationale.first?.remedy
                    == "Set scheduling.discretionarySlots to 1 or more in the host's configuration; with 0, no such launch ever starts",
                "\(veto.policy)")
        }
    }
}
