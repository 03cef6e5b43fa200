import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// How often launches of an identifier, or of a kind in a bundle, may begin.
@Suite struct RateTests {
    /// Each of many bundles had an alarm of its own, because their launches began some seconds apart.
    @Test func `the spacing of refreshes counts whole minutes, so that one alarm serves many bundles`() {
        let rig = SchedulerRig()
        let start = rig.now.wall
        #expect(start.wholeSeconds % 60 == 0)
        rig.advance(.seconds(45))
        rig.end(rig.run("refresh"))
        _ = rig.take()
        rig.submit("refresh")
        #expect(rig.vetoes("refresh") == ["RateLimit"])
        #expect(rig.wake.wall == start + .seconds(900))
        rig.advance(.seconds(855) - .milliseconds(1))
        #expect(rig.launched() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    private static let manifest = Manifest.make("com.example.a") {
        $0.modes.insert(.remoteNotification)
        for (name, kind) in [
            ("activity", TaskKind.activity), ("events", .transferEvents), ("push", .push),
        ] {
            $0.tasks.append(
                TaskDeclaration(pattern: try! IdentifierPattern("com.example.a.\(name)"), kind: kind))
        }
    }

    private static func rig(perHour: Int? = nil) -> SchedulerRig {
        var settings = SchedulerSettings()
        if let perHour { settings.launchesPerHour = perHour }
        return SchedulerRig([manifest], settings: settings)
    }

    private static func finish(_ rig: SchedulerRig, _ id: RequestID) { rig.end(rig.begin(id)) }

    /// The rate's rationale for the pending request of an identifier.
    private static func rate(_ rig: SchedulerRig, _ name: String) throws -> Rationale {
        let request = try #require(rig.scheduler.pendingRequest(of: .sample(name)))
        let explanation = try #require(rig.scheduler.explain(request.id, at: rig.now))
        return try #require(explanation.verdicts.first { $0.policy == "RateLimit" }?.rationale.first)
    }

    @Test(arguments: ["p1", "activity", "events"])
    func `a chain without begin dates begins every 10 s`(name: String) throws {
        let rig = Self.rig()
        var link = rig.submit(name) { $0.origin = .handler }
        for _ in 0..<20 {
            #expect(rig.launched() == ["com.example.a.\(name)"])
            // The handler first submits its next request, as Apple recommends.
            let launch = rig.begin(link)
            link = rig.submit(name) { $0.origin = .handler }
            rig.advance(.seconds(1))
            rig.end(launch)
            #expect(rig.vetoes(name) == ["RateLimit"])
            let rate = try Self.rate(rig, name)
            #expect(rate.quantity == "timeSinceLaunch")
            #expect(rate.required == "10 s or more")
            #expect(rate.observed == "1 s")
            #expect(rate.earliestChange == rig.now.wall + .seconds(9))
            #expect(rig.wake.wall == rig.now.wall + .seconds(9))
            rig.advance(.milliseconds(8999))
            #expect(rig.launched() == [])
            rig.advance(.milliseconds(1))
        }
    }

    @Test func `a piece that takes longer than the spacing is followed by the next at once`() {
        let rig = Self.rig()
        let launch = rig.begin(rig.submit("p1"))
        rig.submit("p1")
        _ = rig.take()
        rig.advance(.seconds(30))
        rig.end(launch)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `what helps against a rate is a date, and a launch by hand only where one can start`() throws {
        let rig = Self.rig()
        let launch = rig.begin(rig.submit("p1"))
        rig.submit("p1")
        _ = rig.take()
        // The remedy does not name 'bgtask launch', because that is refused while a launch of the task runs.
        let date = try #require(try Self.rate(rig, "p1").earliestChange).text
        #expect(try Self.rate(rig, "p1").remedy == "Wait until \(date)")
        let early = rig.submit("p1") { $0.earliestBeginDate = rig.now.wall + .seconds(3600) }
        let verdicts = try #require(rig.scheduler.explain(early, at: rig.now)).verdicts
        #expect(verdicts.first { $0.policy == "EarliestBeginDate" }?.rationale.first?.remedy == "Wait")
        rig.end(launch)
        #expect(
            try Self.rate(rig, "p1").remedy
                == "Wait until \(date), or start it now without the policies: bgtask launch com.example.a.p1")
    }

    @Test func `ten requests submitted by hand do not wait for each other`() {
        let rig = Self.rig()
        for name in (1...9).map({ "p\($0)" }) + ["powered"] {
            let id = rig.submit(name)
            #expect(rig.launched() == ["com.example.a.\(name)"])
            Self.finish(rig, id)
        }
    }

    @Test func `a job that asks for each minute gets each minute`() {
        let rig = Self.rig()
        for _ in 0..<180 {
            let begin = rig.now.wall + .seconds(60)
            let id = rig.submit("p1") { $0.earliestBeginDate = begin }
            rig.advance(.seconds(60))
            #expect(rig.launched() == ["com.example.a.p1"])
            Self.finish(rig, id)
        }
    }

    @Test func `ten jobs of a bundle that each ask for a minute get it`() {
        let rig = Self.rig()
        let names = (1...9).map { "p\($0)" } + ["powered"]
        for _ in 0..<130 {
            let begin = rig.now.wall + .seconds(60)
            for name in names { rig.submit(name) { $0.earliestBeginDate = begin } }
            rig.advance(.seconds(60))
            // Two launches run at once; each one that ends makes room for the next.
            for _ in names {
                for case .launch(let id, _, _, _) in rig.take() { Self.finish(rig, id) }
            }
            #expect(names.allSatisfy { rig.scheduler.pendingRequest(of: .sample($0)) == nil })
        }
    }

    @Test func `a bundle has so many launches of a kind within an hour, and other kinds and bundles go on`()
        throws
    {
        let rig = SchedulerRig(
            [Self.manifest, .make("com.example.b")], settings: Self.rig(perHour: 3).scheduler.settings)
        let begin = rig.now.wall
        for name in ["p1", "p2", "p3"] { Self.finish(rig, rig.submit(name)) }
        rig.submit("p4")
        _ = rig.take()
        #expect(rig.vetoes("p4") == ["RateLimit"])
        let rate = try Self.rate(rig, "p4")
        #expect(rate.quantity == "launchesWithinHour")
        #expect(rate.required == "less than 3")
        #expect(rate.observed == "3")
        // The rate counts whole minutes, so that an hour is never shorter than 60 minutes.
        #expect(rate.earliestChange == begin + .seconds(61 * 60))
        #expect(
            rate.remedy
                == "Wait until \(rate.earliestChange?.text ?? ""), or start it now without the policies: bgtask launch com.example.a.p4"
        )
        for name in ["activity", "refresh", "com.example.b.p1"] { Self.finish(rig, rig.submit(name)) }
        #expect(
            rig.launched() == ["com.example.a.activity", "com.example.a.refresh", "com.example.b.p1"])
        rig.advance(.milliseconds(61 * 60_000 - 1))
        #expect(rig.launched() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.launched() == ["com.example.a.p4"])
    }

    @Test func `what was put back has its back-off instead`() throws {
        let rig = Self.rig()
        let id = rig.submit("p1")
        let launch = rig.begin(id)
        var back = try #require(rig.stored[id])
        back.attempt = 2
        back.notBefore = rig.now.wall + .seconds(5)
        rig.end(launch, putBack: back)
        _ = rig.take()
        rig.advance(.seconds(5))
        #expect(rig.launched() == ["com.example.a.p1"])
        // The second attempt counts as a launch, as the first did.
        Self.finish(rig, id)
        rig.submit("p1")
        #expect(rig.vetoes("p1") == ["RateLimit"])
        rig.advance(.seconds(10))
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `a simulated launch neither waits for the rate nor counts for it`() {
        let rig = Self.rig()
        for _ in 0..<3 {
            let id = rig.submit("p1") { $0.earliestBeginDate = rig.now.wall + .seconds(3600) }
            rig.send(.simulate(id))
            #expect(rig.launched() == ["com.example.a.p1"])
            Self.finish(rig, id)
        }
        rig.submit("p1")
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `a continued task and the launch of an app have no rate`() {
        let app = Manifest.make("com.example.a") { $0.appLaunch = .sample("app") }
        let rig = SchedulerRig([app], settings: SchedulerSettings())
        for name in ["export.film", "app"] {
            for _ in 0..<5 {
                let id = rig.submit(name)
                #expect(rig.launched() == ["com.example.a.\(name)"])
                Self.finish(rig, id)
            }
        }
    }

    @Test func `a launch that could not be recorded does not count`() {
        let rig = Self.rig(perHour: 1)
        let id = rig.submit("p1")
        _ = rig.take()
        rig.send(.launchNotStarted(id, retry: rig.now.wall + .seconds(1)))
        #expect(rig.scheduler.bundleState(.sample).recent == RecentLaunches())
        rig.advance(.seconds(1))
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `a launch that could not be recorded leaves the one before it in force`() {
        let rig = Self.rig()
        Self.finish(rig, rig.submit("p1"))
        rig.advance(.seconds(10))
        let before = rig.scheduler.bundleState(.sample).recent
        let id = rig.submit("p1")
        rig.send(.launchNotStarted(id, retry: rig.now.wall + .seconds(1)))
        #expect(rig.scheduler.bundleState(.sample).recent == before)
    }

    @Test func `a host that begins again knows when each identifier began last`() throws {
        let rig = Self.rig()
        Self.finish(rig, rig.submit("p1"))
        var saved: BundleState?
        for case .saveBundleState(.sample, let state) in rig.takeAll() { saved = state }
        let stored = try JSONEncoder().encode(try #require(saved))
        let restarted = SchedulerRig(unstarted: ())
        restarted.send(.handlersChanged([Self.manifest]))
        restarted.send(.conditionsChanged(.simulatedStart))
        restarted.send(.bundleRestored(.sample, try JSONDecoder().decode(BundleState.self, from: stored)))
        restarted.send(.started)
        restarted.submit("p1")
        #expect(restarted.vetoes("p1") == ["RateLimit"])
        restarted.advance(.seconds(10))
        #expect(restarted.launched() == ["com.example.a.p1"])
    }

    @Test func `a wall clock that is set back holds nothing for longer`() {
        let rig = Self.rig(perHour: 2)
        for name in ["p1", "p2"] { Self.finish(rig, rig.submit(name)) }
        rig.submit("p1")
        _ = rig.take()
        rig.moments.jumpWallClock(by: .seconds(-86_400))
        rig.send(.timePassed)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `what is remembered does not grow`() {
        let rig = Self.rig()
        for step in 0..<400 {
            Self.finish(rig, rig.submit("p\(step % 9 + 1)"))
            rig.advance(.seconds(20))
        }
        let recent = rig.scheduler.bundleState(.sample).recent
        #expect(recent.newest.count == 1)
        #expect(recent.minutes.count == 61)
    }

    @Test func `the forecast of a link of a chain is the end of its spacing`() throws {
        let rig = Self.rig()
        Self.finish(rig, rig.submit("p1"))
        let id = rig.submit("p1")
        var history = ConditionHistory()
        for back in (1...5).reversed() {
            history.note(.simulatedStart, at: rig.now.wall + (.zero - .seconds(86_400) * back))
        }
        let request = try #require(rig.stored[id])
        let forecast = rig.scheduler.forecast(request, from: history, at: rig.now)
        #expect(forecast.starts > 0)
        #expect(forecast.usual == rig.now.wall + .seconds(10))
    }

    @Test func `a setting changes the spacing of what waits already`() {
        let rig = Self.rig()
        Self.finish(rig, rig.submit("p1"))
        rig.submit("p1")
        _ = rig.take()
        rig.send(.settingsChanged(.unpaced))
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `a push of priority 10 waits for the spacing alone, one of priority 5 for 15 min`() {
        let rig = Self.rig()
        Self.finish(rig, rig.submit("push") { $0.pushPriority = .immediate })
        _ = rig.take()
        rig.advance(.seconds(10))
        let urgent = rig.submit("push") { $0.pushPriority = .immediate }
        #expect(rig.launched() == ["com.example.a.push"])
        Self.finish(rig, urgent)
        rig.submit("push")
        #expect(rig.vetoes("push") == ["RateLimit"])
        rig.advance(.milliseconds(899_999))
        #expect(rig.launched() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.launched() == ["com.example.a.push"])
    }
}
