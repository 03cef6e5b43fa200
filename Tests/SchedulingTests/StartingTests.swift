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

    @Test func `back-off doubles from 5 s to 10 min`() {
        let settings = SchedulerSettings()
        let delays = [1, 2, 3, 8, 99].map { settings.backOff(afterAttempt: $0) }
        #expect(delays == [.seconds(5), .seconds(10), .seconds(20), .seconds(600), .seconds(600)])
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
            explanation.verdicts.map(\.policy) == ["Permission", "SystemSleep", "OneLaunchPerIdentifier"])

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
        #expect(rig.scheduler.recap() == nil)
        rig.advance(.zero)
        #expect(rig.wake.boot == rig.now.boot)
        #expect(rig.launched() == [])
        rig.advance(.zero)
        #expect(rig.launched() == ["com.example.z.refresh"])
        #expect(rig.wake.boot == nil)
    }
}
