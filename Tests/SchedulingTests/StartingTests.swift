import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

@Suite struct StartingTests {
    @Test func `before it is told that everything is there, it says nothing`() {
        let rig = SchedulerRig(unstarted: ())
        rig.send(.handlersChanged([.sample]))
        rig.send(.conditionsChanged(.simulatedStart))
        rig.submit("p1")
        #expect(rig.take() == [])
        rig.send(.started)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `a request without constraints starts at once, and says why`() throws {
        let rig = SchedulerRig()
        let id = rig.submit("p1")
        guard case .launch(let launched, let isSimulated, let priority, let explanation)? = rig.take().first
        else {
            Issue.record("nothing was launched")
            return
        }
        #expect(launched == id)
        #expect(!isSimulated)
        let names = Scheduler.policies.map { $0.name }
        #expect(priority == .discretionary)
        #expect(explanation.verdicts.map(\.policy) == names + ["Score"])
        #expect(explanation.mayStart)
    }

    @Test func `a request starts at its earliest begin date and not a millisecond before`() {
        let rig = SchedulerRig()
        let date = rig.now.wall + .seconds(60)
        rig.submit("p1") { $0.earliestBeginDate = date }
        #expect(rig.wake == Wake(wall: date + .seconds(15)))
        rig.advance(.milliseconds(59_999))
        #expect(rig.launched() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.launched() == ["com.example.a.p1"])
        #expect(rig.wake == Wake())
    }

    @Test func `a continued task ignores its earliest begin date`() {
        let rig = SchedulerRig()
        rig.submit("export.film") { $0.earliestBeginDate = rig.now.wall + .seconds(3600) }
        #expect(rig.launched() == ["com.example.a.export.film"])
    }

    @Test func `the later of the begin date and the back-off decides`() throws {
        for (begin, backOff) in [(-60, 5), (5, 3)] {
            let rig = SchedulerRig()
            let launch = rig.run("p1")
            var back = try #require(rig.running[launch])
            back.attempt = 2
            back.submission.earliestBeginDate = rig.now.wall + .seconds(begin)
            back.notBefore = rig.now.wall + .seconds(backOff)
            _ = rig.take()
            rig.end(launch, putBack: back)
            rig.advance(.milliseconds(4999))
            #expect(rig.launched() == [], "begins \(begin) s, backs off \(backOff) s")
            rig.advance(.milliseconds(1))
            #expect(rig.launched() == ["com.example.a.p1"])
        }
    }

    @Test func `a request that is put back waits for its back-off`() throws {
        let rig = SchedulerRig()
        let launch = rig.run("p1")
        var back = try #require(rig.running[launch])
        back.attempt = 2
        back.notBefore = rig.now.wall + .seconds(5)
        _ = rig.take()
        rig.end(launch, putBack: back)
        rig.advance(.milliseconds(4999))
        #expect(rig.launched() == [])
        #expect(rig.vetoes("p1") == ["EarliestBeginDate"])
        rig.advance(.milliseconds(1))
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `a back-off does not outlast a wall clock that is set back`() throws {
        let rig = SchedulerRig()
        let launch = rig.run("p1")
        var back = try #require(rig.running[launch])
        back.notBefore = rig.now.wall + .seconds(5)
        rig.end(launch, putBack: back)
        _ = rig.take()
        rig.moments.jumpWallClock(by: .seconds(-86_400))
        rig.send(.timePassed)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `back-off doubles from 5 s to 1 h, less up to a fifth`() {
        let settings = SchedulerSettings()
        let requests = (1...200).map { RequestID(rawValue: $0) }
        for (attempts, exact) in [(1, 5), (2, 10), (3, 20), (10, 2560), (11, 3600), (99, 3600)] {
            let delays = requests.map { settings.backOff(afterAttempts: attempts, of: $0) }
            let (least, most) = (Duration.seconds(exact) * 8 / 10, Duration.seconds(exact))
            #expect(delays.allSatisfy { (least...most).contains($0) }, "\(attempts)")
            // The jitter uses its whole range, a fifth of the back-off. It is the same each time.
            #expect(delays.contains { $0 < least * 101 / 100 } && delays.contains { $0 > most * 99 / 100 })
            #expect(delays == requests.map { settings.backOff(afterAttempts: attempts, of: $0) })
        }
        // After each attempt, the same request has another jitter.
        let shares = (1...9).map {
            settings.backOff(afterAttempts: $0, of: requests[0]).inSeconds / Double(5 << ($0 - 1))
        }
        #expect(Set(shares).count > 5)
    }

    @Test func `lost launches come back apart from each other, after half to one and a half of the back-off`()
    {
        let settings = SchedulerSettings()
        let requests = (1...200).map { RequestID(rawValue: $0) }
        for (attempts, exact) in [(1, 5), (3, 20), (5, 80)] {
            let delays = requests.map { settings.backOff(afterLosses: attempts, of: $0) }
            let (least, most) = (Duration.seconds(exact) / 2, Duration.seconds(exact) * 3 / 2)
            #expect(delays.allSatisfy { (least...most).contains($0) }, "\(attempts)")
            #expect(delays.contains { $0 < least * 11 / 10 } && delays.contains { $0 > most * 9 / 10 })
        }
        #expect(requests.allSatisfy { settings.backOff(afterLosses: 20, of: $0) <= .seconds(600) })
    }

    @Test func `a back-off limit below the first back-off holds`() {
        var settings = SchedulerSettings()
        settings.backOffLimit = .seconds(1)
        for attempts in [1, 2, 50] {
            let delay = settings.backOff(afterAttempts: attempts, of: RequestID(rawValue: 1))
            #expect((.milliseconds(800) ... .seconds(1)).contains(delay))
        }
    }

    @Test func `requests that were put back start after first attempts, in the order of their put-backs`()
        throws
    {
        let manifests = ["a", "b", "c", "d"].map { Manifest.make("com.example.\($0)") }
        for name in ["p1", "export.x"] {
            var settings = SchedulerSettings.unpaced
            (settings.discretionarySlots, settings.continuedSlots) = (2, 2)
            let rig = SchedulerRig(manifests, settings: settings)
            let first = rig.run("com.example.a.\(name)")
            let second = rig.run("com.example.b.\(name)")
            for bundle in ["c", "d"] {
                rig.advance(.seconds(1))
                rig.submit("com.example.\(bundle).\(name)")
            }
            _ = rig.take()
            // The second request is put back first. Both have a smaller number and an earlier deadline than
            // those that wait for their first attempt.
            for launch in [second, first] {
                rig.advance(.seconds(1))
                var back = try #require(rig.running[launch])
                back.putBack(PutBack(notBefore: nil), at: rig.now.wall)
                rig.end(launch, putBack: back)
            }
            #expect(rig.launched() == ["com.example.c.\(name)", "com.example.d.\(name)"])
            for id in [3, 4] as [Int64] { rig.end(rig.begin(RequestID(rawValue: id))) }
            #expect(rig.launched() == ["com.example.b.\(name)", "com.example.a.\(name)"])
        }
    }

    @Test func `explain tells since when a back-off lasts, and how many attempts brought nothing`() throws {
        let rig = SchedulerRig()
        let launch = rig.run("p1")
        rig.advance(.seconds(60))
        var back = try #require(rig.running[launch])
        back.putBack(
            PutBack(
                notBefore: rig.now.wall + .seconds(5), attempts: AttemptHistory(withoutProgress: 3)),
            at: rig.now.wall)
        let putBackAt = rig.now.wall
        rig.end(launch, putBack: back)
        rig.advance(.seconds(1))
        let veto = try #require(rig.scheduler.explain(back.id, at: rig.now)?.vetoes.first)
        #expect(veto.since == putBackAt)
        let rationale = try #require(veto.rationale.first)
        #expect(rationale.quantity == "backOff")
        #expect(
            rationale.observed
                == "4 s too early (the last 3 attempts brought no progress; after 8 in a row, the request fails)"
        )
    }

    @Test func `submitting a pending identifier replaces it`() {
        let rig = SchedulerRig()
        rig.submit("p1") { $0.earliestBeginDate = rig.now.wall + .seconds(60) }
        let second = rig.submit("p1") { $0.earliestBeginDate = rig.now.wall + .seconds(90) }
        _ = rig.take()
        rig.advance(.seconds(60))
        #expect(rig.take() == [])
        rig.advance(.seconds(30))
        guard case .launch(second, _, _, _)? = rig.take().first else {
            Issue.record("the second request was not launched")
            return
        }
    }

    @Test func `a withdrawn request never starts`() {
        let rig = SchedulerRig()
        let id = rig.submit("p1") { $0.earliestBeginDate = rig.now.wall + .seconds(60) }
        rig.send(.withdrawn(id))
        #expect(rig.wake == Wake())
        rig.advance(.seconds(61))
        #expect(rig.take() == [])
    }

    @Test func `a launch that could not be recorded is tried again at the time given`() {
        let rig = SchedulerRig()
        let id = rig.submit("p1")
        _ = rig.take()
        rig.send(.launchNotStarted(id, retry: rig.now.wall + .seconds(10)))
        rig.advance(.milliseconds(9999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `a request whose manifest goes is held, says so, and starts when it is back`() {
        let rig = SchedulerRig()
        rig.submit("p1") { $0.earliestBeginDate = rig.now.wall + .seconds(60) }
        rig.send(.handlersChanged([]))
        rig.advance(.seconds(60))
        #expect(rig.take() == [])
        #expect(rig.vetoes("p1") == ["Permission"])
        rig.send(.handlersChanged([.sample]))
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `a simulated launch skips policies but not permission`() {
        let rig = SchedulerRig()
        rig.change {
            $0.power = .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 5))
        }
        let powered = rig.submit("powered") { $0.earliestBeginDate = rig.now.wall + .seconds(3600) }
        rig.send(.simulate(powered))
        guard case .launch(powered, isSimulated: true, _, let explanation)? = rig.take().first else {
            Issue.record("no simulated launch")
            return
        }
        #expect(
            explanation.verdicts.map(\.policy)
                == ["Permission", "SystemSleep", "OneLaunchPerIdentifier", "Conflicts"])

        let held = rig.submit("p1") { $0.earliestBeginDate = rig.now.wall + .seconds(3600) }
        rig.send(.handlersChanged([]))
        rig.send(.simulate(held))
        let launches = rig.take().filter(\.isLaunch)
        #expect(launches == [])
    }

    @Test func `what a user launches starts past the policies even where all would let it start`() {
        let rig = SchedulerRig()
        let request = rig.store(TaskSubmission(identifier: .sample("p1"), origin: .simulated))
        let isSimulated = rig.take().contains { action in
            if case .launch(request, isSimulated: true, _, _) = action { true } else { false }
        }
        #expect(isSimulated)
    }

    @Test func `a simulated launch waits for the end of a launch of its identifier`() {
        let rig = SchedulerRig()
        let first = rig.run("p1")
        let second = rig.submit("p1")
        _ = rig.take()
        rig.send(.simulate(second))
        #expect(rig.take() == [])
        rig.end(first)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `after shutdown nothing starts and everything expires, what was about to start too`() {
        let rig = SchedulerRig()
        let launch = rig.run("p1")
        let starting = rig.submit("p2")
        _ = rig.take()
        rig.send(.shutdown)
        #expect(rig.take() == [.expire(launch, .hostShutdown)])
        let late = rig.begin(starting, ready: false)
        #expect(rig.take() == [.expire(late, .hostShutdown)])
        rig.end(launch)
        rig.submit("p3")
        #expect(rig.take() == [])
        #expect(rig.wake == Wake())
    }

    @Test func `a pass over many that wait for themselves goes on with the next events, which it asks for`() {
        let rig = SchedulerRig(unstarted: ())
        let names = (0..<1400).map { "com.example.a\($0 + 1000)" } + ["com.example.z"]
        rig.send(.handlersChanged(names.map { Manifest.make($0) }))
        rig.send(.conditionsChanged(.simulatedStart))
        var refreshed = BundleState()
        refreshed.lastRefresh = rig.now.wall + (.zero - .seconds(60))
        for name in names {
            if name != names.last { rig.send(.bundleRestored(try! BundleIdentifier(name), refreshed)) }
            rig.store(TaskSubmission(identifier: .sample("\(name).refresh"), origin: .client))
        }
        // The rates of 1,399 bundles keep their requests waiting; the request that may start is the last.
        rig.send(.started)
        #expect(rig.wake.boot == rig.now.boot)
        #expect(rig.launched() == [])
        // There is no recap yet: a log that began here would launch requests that this pass has not reached.
        #expect(rig.scheduler.recap(at: rig.now.wall) == nil)
        rig.advance(.zero)
        #expect(rig.wake.boot == rig.now.boot)
        #expect(rig.launched() == [])
        rig.advance(.zero)
        #expect(rig.launched() == ["com.example.z.refresh"])
        #expect(rig.wake.boot == nil)
    }
}
