import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// The pause of a bundle whose launches crash again and again.
@Suite struct CrashPauseTests {
    private func crash(_ rig: SchedulerRig, _ count: Int, after pause: Duration = .seconds(1)) {
        for _ in 0..<count {
            rig.advance(pause)
            let launch = rig.run("p1")
            rig.send(
                .launchEnded(
                    launch, putBack: nil, ending: LaunchEnding(outcome: .crashed, libraryHash: "one")))
        }
    }

    @Test func `five crashes in a row hold the bundle until a person resumes it, and explain says why`()
        throws
    {
        let rig = SchedulerRig(settings: .unpaced)
        crash(rig, 4)
        _ = rig.takeAll()
        #expect(rig.scheduler.bundleState(.sample).pause == nil)
        crash(rig, 1)
        _ = rig.takeAll()
        let pause = try #require(rig.scheduler.bundleState(.sample).pause)
        #expect(pause.crashes == 5 && pause.library == "one" && pause.until == nil)
        let request = rig.submit("p1")
        #expect(rig.launched() == [])
        #expect(rig.vetoes("p1") == ["Paused"])
        let verdict = try #require(rig.scheduler.explain(request, at: rig.now)?.vetoes.first)
        #expect(verdict.rationale.first?.observed.contains("5 launches in a row crashed") == true)
        #expect(verdict.rationale.first?.remedy?.contains("bgtask resume com.example.a") == true)
        rig.advance(.seconds(86_400))
        #expect(rig.launched() == [])
        rig.send(.bundlePaused(.sample, nil))
        #expect(rig.launched() == ["com.example.a.p1"])
        // The count of crashes in a row begins again.
        #expect(rig.scheduler.bundleState(.sample).crashes == [])
    }

    @Test func `a pause because of crashes stops nothing that runs`() {
        let rig = SchedulerRig(settings: .unpaced)
        _ = rig.run("p2")
        crash(rig, 5)
        rig.advance(.seconds(1))
        #expect(rig.scheduler.bundleState(.sample).pause?.crashes == 5)
        #expect(!rig.takeAll().contains { if case .expire = $0 { true } else { false } })
    }

    @Test func `crashes that are rare, interrupted by a success or switched off cause no pause`() {
        let rare = SchedulerRig(settings: .unpaced)
        crash(rare, 12, after: .seconds(80))
        #expect(rare.scheduler.bundleState(.sample).pause == nil)
        let mixed = SchedulerRig(settings: .unpaced)
        for _ in 0..<3 {
            crash(mixed, 4)
            let launch = mixed.run("p1")
            mixed.send(.launchEnded(launch, putBack: nil, ending: LaunchEnding(outcome: .succeeded)))
        }
        #expect(mixed.scheduler.bundleState(.sample).pause == nil)
        var settings = SchedulerSettings.unpaced
        settings.crashLimit = 0
        let off = SchedulerRig(settings: settings)
        crash(off, 30)
        #expect(off.scheduler.bundleState(.sample).pause == nil)
    }

    @Test func `a person's pause is not replaced, and a launch by bgtask launch does not count`() {
        let rig = SchedulerRig(settings: .unpaced)
        crash(rig, 4)
        let ordered = Pause(since: rig.now.wall, until: nil)
        let launch = rig.run("p1")
        rig.send(.bundlePaused(.sample, ordered))
        rig.send(.launchEnded(launch, putBack: nil, ending: LaunchEnding(outcome: .crashed)))
        #expect(rig.scheduler.bundleState(.sample).pause == ordered)
    }
}
