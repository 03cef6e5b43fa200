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
        #expect(rig.scheduler.bundleState(.sample).crashPause == nil)
        crash(rig, 1)
        _ = rig.takeAll()
        let pause = try #require(rig.scheduler.bundleState(.sample).crashPause)
        #expect(pause.crashes == 5 && pause.library == "one" && pause.until == nil)
        let request = rig.submit("p1")
        #expect(rig.launched() == [])
        #expect(rig.vetoes("p1") == ["Paused"])
        let verdict = try #require(rig.scheduler.explain(request, at: rig.now)?.vetoes.first)
        #expect(
            verdict.rationale.first?.observed.contains("5 of its launches crashed one soon after the other")
                == true)
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
        #expect(rig.scheduler.bundleState(.sample).crashPause?.crashes == 5)
        #expect(!rig.takeAll().contains { if case .expire = $0 { true } else { false } })
    }

    @Test func `crashes that are rare, interrupted by a success or switched off cause no pause`() {
        let rare = SchedulerRig(settings: .unpaced)
        crash(rare, 12, after: .seconds(80))
        #expect(rare.scheduler.bundleState(.sample).crashPause == nil)
        let mixed = SchedulerRig(settings: .unpaced)
        for _ in 0..<3 {
            crash(mixed, 4)
            let launch = mixed.run("p1")
            mixed.send(.launchEnded(launch, putBack: nil, ending: LaunchEnding(outcome: .succeeded)))
        }
        #expect(mixed.scheduler.bundleState(.sample).crashPause == nil)
        var settings = SchedulerSettings.unpaced
        settings.crashLimit = 0
        let off = SchedulerRig(settings: settings)
        crash(off, 30)
        #expect(off.scheduler.bundleState(.sample).crashPause == nil)
    }

    @Test
    func `a person's pause and that because of crashes stay beside each other, and each ends by itself`()
        throws
    {
        let rig = SchedulerRig(settings: .unpaced)
        crash(rig, 4)
        let ordered = Pause(since: rig.now.wall, until: rig.now.wall + .seconds(60))
        let launch = rig.run("p1")
        rig.send(.bundlePaused(.sample, ordered))
        rig.send(
            .launchEnded(launch, putBack: nil, ending: LaunchEnding(outcome: .crashed, libraryHash: "one")))
        #expect(rig.scheduler.bundleState(.sample).pause == ordered)
        #expect(rig.scheduler.bundleState(.sample).crashPause?.crashes == 5)
        let later = Pause(since: rig.now.wall, until: rig.now.wall + .seconds(600))
        rig.send(.bundlePaused(.sample, later))
        rig.submit("p1")
        _ = rig.take()
        let facts = rig.scheduler.facts(of: .sample, at: rig.now)
        #expect(facts.ownPauses == [later, facts.pause], "the pause without an end decides")
        rig.advance(.seconds(600))
        #expect(
            rig.launched() == [], "the timed pause has ended, and the crashes go on without the other one")
        #expect(rig.scheduler.facts(of: .sample, at: rig.now).ownPauses.map(\.crashes) == [5])
        rig.send(.crashPauseEnded(.sample))
        #expect(rig.launched() == ["com.example.a.p1"])

        // The other order: another library ends only the pause because of crashes.
        crash(rig, 5)
        rig.send(.bundlePaused(.sample, Pause(since: rig.now.wall, until: nil)))
        rig.send(.crashPauseEnded(.sample))
        #expect(rig.scheduler.facts(of: .sample, at: rig.now).ownPauses.map(\.crashes) == [nil])
        crash(rig, 0)
        rig.submit("p2")
        #expect(rig.launched().contains("com.example.a.p2") == false)
        rig.send(.bundlePaused(.sample, nil))
        #expect(rig.launched().contains("com.example.a.p2"))
    }

    @Test func `a pause that an earlier version stored is that because of crashes`() throws {
        var state = BundleState()
        let (since, end) = (WallTime(sinceEpoch: .seconds(9)), WallTime(sinceEpoch: .seconds(99)))
        state.setPauses(Pause(since: since, until: nil, crashes: 5, library: "one"), ofCrashes: nil)
        #expect(state.pause == nil && state.crashPause?.library == "one")
        state.setPauses(Pause(since: since, until: end), ofCrashes: nil)
        #expect(state.pause?.until == end && state.crashPause == nil)
    }

    @Test func `launches by bgtask launch do not count, and their further attempts do`() {
        let rig = SchedulerRig(settings: .unpaced)
        for _ in 0..<9 {
            rig.advance(.seconds(1))
            let launch = rig.run("p1") { $0.origin = .simulated }
            rig.send(.launchEnded(launch, putBack: nil, ending: LaunchEnding(outcome: .crashed)))
        }
        #expect(rig.scheduler.bundleState(.sample).crashes == [])
        #expect(rig.scheduler.bundleState(.sample).crashPause == nil)
        let id = rig.submit("p1") { $0.origin = .simulated }
        var launch = rig.begin(id)
        for attempt in 0..<6 {
            var putBack = rig.stored[id]!
            putBack.putBack(PutBack(notBefore: nil, isRetry: true), at: rig.now.wall)
            rig.send(
                .launchEnded(launch, putBack: putBack, ending: LaunchEnding(outcome: .crashed)))
            #expect((rig.scheduler.bundleState(.sample).crashPause == nil) == (attempt < 5))
            if attempt < 5 { launch = rig.begin(id) }
        }
    }
}
