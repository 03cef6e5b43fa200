import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// Memory pressure and continued tasks.
@Suite struct MemoryPressureTests {
    private static let film = "com.example.a.export.film"

    private static func pressure(memory: Bool) -> Reading<PressureCondition> {
        .known(PressureCondition(cpu: true, memory: memory, io: false))
    }

    @Test func `a continued task starts under memory pressure, but not once more`() throws {
        let rig = SchedulerRig()
        rig.change { $0.pressure = Self.pressure(memory: true) }
        let launch = rig.run("export.film")
        #expect(rig.launched() == [Self.film])
        var back = try #require(rig.running[launch])
        back.putBack(PutBack(notBefore: nil), at: rig.now.wall)
        rig.end(launch, putBack: back)
        #expect(rig.launched() == [])
        let veto = try #require(rig.scheduler.explain(back.id, at: rig.now)?.vetoes.first)
        #expect(veto.policy == "Pressure" && rig.vetoes("export.film").count == 1)
        #expect(veto.rationale.first?.statement == "The machine is under pressure (memory)")
        #expect(veto.rationale.first?.remedy == "Close what uses the memory, or wait")
        // The pressure holds only continued tasks that were put back.
        rig.submit("export.song")
        #expect(rig.launched() == ["com.example.a.export.song"])
        // No date ends the wait, so no alarm wakes the host for it.
        #expect(rig.wake.wall == nil)
        rig.advance(.seconds(86_400))
        #expect(rig.launched() == [])
        // Pressure on the CPU alone does not hold the task.
        rig.change { $0.pressure = Self.pressure(memory: false) }
        #expect(rig.launched() == [Self.film])
    }

    @Test func `a continued task that was put back starts while the pressure is unknown`() throws {
        let rig = SchedulerRig()
        let launch = rig.run("export.film")
        rig.change { $0.pressure = Self.pressure(memory: true) }
        var back = try #require(rig.running[launch])
        back.putBack(PutBack(notBefore: nil), at: rig.now.wall)
        rig.end(launch, putBack: back)
        _ = rig.take()
        rig.change { $0.pressure = .unknown }
        #expect(rig.launched() == [Self.film])
    }
}
