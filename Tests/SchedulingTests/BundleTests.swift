import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// The stored state of a bundle: switch, dismissal, rate, budget, conduct and use.
@Suite struct BundleTests {
    static let refresh = "com.example.a.refresh"

    /// Runs the pending launch of a request to its end.
    static func finish(_ rig: SchedulerRig, _ id: RequestID, _ ending: LaunchEnding = LaunchEnding()) {
        let launch = rig.begin(id)
        rig.send(.launchEnded(launch, putBack: nil, ending: ending))
    }

    @Test func `refresh launches of a bundle begin 15 min apart, and what was put back does not wait again`()
        throws
    {
        let rig = SchedulerRig()
        let first = rig.submit("refresh")
        let launch = rig.begin(first)
        var back = try #require(rig.stored[first])
        back.attempt = 2
        rig.end(launch, putBack: back)
        #expect(rig.launched() == [Self.refresh, Self.refresh])
        rig.end(rig.begin(first))
        rig.submit("refresh")
        #expect(rig.vetoes("refresh") == ["RateLimit"])
        rig.advance(.milliseconds(899_999))
        #expect(rig.launched() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.launched() == [Self.refresh])
    }

    @Test func `a launch that could not be recorded was no launch`() {
        let rig = SchedulerRig()
        let id = rig.submit("refresh")
        _ = rig.take()
        rig.send(.launchNotStarted(id, retry: rig.now.wall + .seconds(1)))
        #expect(rig.scheduler.bundleState(.sample).budget.launches == 0)
        rig.advance(.seconds(1))
        #expect(rig.launched() == [Self.refresh])
    }

    @Test func `fourteen pushes in 98 min make seven launches, each of the newest`() {
        let rig = SchedulerRig([PolicyTests.push])
        var launches: [RequestID] = []
        var newest = RequestID(rawValue: 0)
        for _ in 0..<14 {
            newest = rig.submit("push")
            for _ in 0..<7 {
                for case .launch(let id, _, _, _) in rig.take() {
                    launches.append(id)
                    #expect(id == newest)
                    Self.finish(rig, id)
                }
                rig.advance(.seconds(60))
            }
        }
        #expect(launches.count == 7)
    }

    @Test
    func
        `a dismissed bundle has no refresh and no push until it is used, processing runs, what a user queued is cancelled`()
    {
        let rig = SchedulerRig([PolicyTests.push])
        for name in ["x", "y", "z"] { rig.begin(rig.submit("export.\(name)")) }
        let queued = rig.submit("export.queued")
        _ = rig.take()
        rig.send(.dismissed(.sample))
        #expect(rig.take() == [.cancelRequest(queued, .cancelledByUser)])
        rig.submit("refresh")
        rig.submit("push")
        let newest = rig.submit("push") { $0.pushPriority = .immediate }
        rig.submit("p1")
        #expect(rig.launched() == ["com.example.a.p1"])
        #expect(rig.vetoes("refresh") == ["Dismissed"])
        #expect(rig.vetoes("push") == ["Dismissed"])
        rig.send(.used(.sample))
        #expect(rig.launched() == ["com.example.a.push", Self.refresh])
        #expect(rig.scheduler.launches[newest] != nil)
    }

    @Test func `a closed switch refuses refresh, processing and push, holds what waits, and leaves the rest`()
        throws
    {
        let rig = SchedulerRig([PolicyTests.push])
        rig.submit("p1") { $0.earliestBeginDate = rig.now.wall + .seconds(10) }
        rig.send(.refreshSwitched(.sample, .denied))
        rig.advance(.seconds(10))
        #expect(rig.launched() == [])
        #expect(rig.vetoes("p1") == ["RefreshAllowed"])
        for name in ["refresh", "p2", "push"] {
            #expect(AdmissionTests.refusal(rig, name)?.code == .unavailable)
        }
        #expect(AdmissionTests.refusal(rig, "export.film") == nil)
        rig.send(.refreshSwitched(.sample, .available))
        #expect(rig.launched() == ["com.example.a.p1"])
        var settings = SchedulerSettings()
        settings.refresh = .restricted
        rig.send(.settingsChanged(settings))
        #expect(AdmissionTests.refusal(rig, "p2")?.finding == "background refresh is restricted for the host")
    }

    @Test func `only the administrator sets or lifts a restriction`() throws {
        let rig = SchedulerRig()
        #expect(throws: SubmissionError.self) {
            try rig.scheduler.checkRefreshSwitch(of: .sample, to: .restricted, byAdministrator: false)
        }
        rig.send(.refreshSwitched(.sample, .restricted))
        #expect(throws: SubmissionError.self) {
            try rig.scheduler.checkRefreshSwitch(of: .sample, to: .available, byAdministrator: false)
        }
        try rig.scheduler.checkRefreshSwitch(of: .sample, to: .available, byAdministrator: true)
    }

    @Test func `a configured restriction stands above the user's switch, a configured denial below it`()
        throws
    {
        let rig = SchedulerRig()
        func configure(_ permission: RefreshPermission?) {
            var settings = SchedulerSettings()
            settings.bundleRefresh[.sample] = permission
            rig.send(.settingsChanged(settings))
        }
        func turn(_ permission: RefreshPermission) throws {
            try rig.scheduler.checkRefreshSwitch(of: .sample, to: permission, byAdministrator: false)
            rig.send(.refreshSwitched(.sample, permission))
        }
        func shown() -> RefreshPermission { rig.scheduler.facts(of: .sample, at: rig.now).state.refresh }

        configure(.denied)
        #expect(AdmissionTests.refusal(rig, "p2")?.code == .unavailable)
        #expect(shown() == .denied)
        configure(.restricted)
        #expect(shown() == .restricted)
        #expect(throws: SubmissionError.self) { try turn(.available) }
        configure(.denied)
        // The user's choice counts even if it equals the present state.
        try turn(.available)
        #expect(shown() == .available)
        #expect(AdmissionTests.refusal(rig, "p2") == nil)
        rig.submit("p1") { $0.earliestBeginDate = rig.now.wall + .seconds(10) }
        configure(.restricted)
        #expect(AdmissionTests.refusal(rig, "p2")?.code == .unavailable)
        rig.advance(.seconds(10))
        #expect(rig.vetoes("p1") == ["RefreshAllowed"])
        configure(nil)
        #expect(rig.launched() == ["com.example.a.p1"])
        // A configured value does not become the user's choice.
        #expect(rig.scheduler.bundleState(.sample).refresh == .available)
    }

    @Test func `a day has 48 refresh launches: 12 at midnight, the others during the day`() throws {
        var settings = SchedulerSettings.unpaced
        settings.refreshSpacing = .zero
        let rig = SchedulerRig(settings: settings)
        // The rig begins at 08:00 UTC. By then, the budget has gained 12 of the day's 36 further launches.
        for _ in 0..<24 { Self.finish(rig, rig.submit("refresh")) }
        #expect(rig.launched().count == 24)
        let start = rig.now.wall
        for launch in 25...48 {
            let id = rig.submit("refresh")
            #expect(rig.take() == [])
            #expect(rig.vetoes("refresh") == ["Budget"])
            // One launch is added each 40 min. When half of it has been added, it becomes available at the
            // beginning of the next quarter of an hour: the last one at 23:45.
            let added = start + .seconds(2400 * (launch - 25) + 1200)
            let alarm = try #require(rig.wake.wall)
            #expect(alarm.wholeSeconds % 900 == 0 && alarm.rounded == alarm)
            #expect(alarm > added && alarm <= added + .seconds(900))
            rig.advance(alarm - rig.now.wall - .milliseconds(1))
            #expect(rig.launched() == [])
            rig.advance(.milliseconds(1))
            #expect(rig.launched() == [Self.refresh])
            Self.finish(rig, id)
        }
        rig.submit("refresh")
        #expect(rig.wake.wall == start + .seconds(16 * 3600))
        rig.advance(.seconds(2400))
        #expect(rig.launched() == [Self.refresh])
        #expect(rig.scheduler.bundleState(.sample).budget.launches == 1)
    }

    @Test func `with a burst of 1, the whole budget is available at midnight`() {
        var settings = SchedulerSettings.unpaced
        settings.refreshSpacing = .zero
        settings.budgetBurst = 1
        let rig = SchedulerRig(settings: settings)
        for _ in 0..<48 { Self.finish(rig, rig.submit("refresh")) }
        #expect(rig.launched().count == 48)
        rig.submit("refresh")
        #expect(rig.vetoes("refresh") == ["Budget"])
        #expect(rig.wake == Wake(wall: rig.now.wall + .seconds(16 * 3600)))
    }

    @Test func `hours of use get more of the budget`() {
        let rig = SchedulerRig()
        rig.advance(.seconds(12 * 3600))
        // The bundle is used at 20:00 on ten days.
        for _ in 0..<10 {
            rig.send(.used(.sample))
            rig.advance(.seconds(86_400))
        }
        let situation = rig.scheduler.situation
        let today = situation.localDay(rig.now.wall)
        let pace = DailyPace(of: rig.scheduler.bundleState(.sample).usage, on: today, in: situation)
        func added(_ hour: Int) -> Double {
            let start = situation.start(ofDay: today) + .seconds(hour * 3600)
            return pace.share(until: start + .seconds(3600)) - pace.share(until: start)
        }
        #expect(abs(added(20) / added(19) - 4) < 1e-9)
        #expect(abs((0..<24).map(added).reduce(0, +) - 1) < 1e-9)
        for share in stride(from: 0, to: 1, by: 0.07) {
            #expect(abs(pace.share(until: pace.time(of: share)) - share) < 1e-6)
        }
    }

    @Test func `the remedy of an exhausted budget is enough when it is pasted`() throws {
        var settings = SchedulerSettings.unpaced
        settings.refreshSpacing = .zero
        let rig = SchedulerRig(settings: settings)
        for _ in 0..<24 { Self.finish(rig, rig.submit("refresh")) }
        rig.submit("refresh")
        _ = rig.take()
        let request = try #require(rig.scheduler.pendingRequest(of: .sample("refresh")))
        let verdict = try #require(rig.scheduler.blockingFactor(of: request, at: rig.now))
        let remedy = try #require(verdict.rationale.first?.remedy)
        let number = try #require(remedy.split(separator: " ").last.flatMap { Int($0) })
        rig.send(.budgetChanged(.sample, launches: number, cpu: nil))
        #expect(rig.launched() == [Self.refresh])
    }

    @Test func `midnight is local, and a clock set back refills nothing`() {
        let rig = SchedulerRig()
        rig.send(.localTimeChanged(offset: .seconds(3600)))
        rig.send(.budgetChanged(.sample, launches: 1, cpu: nil))
        Self.finish(rig, rig.submit("refresh"))
        rig.submit("refresh")
        rig.advance(.seconds(900))
        #expect(rig.vetoes("refresh") == ["Budget"])
        #expect(rig.wake == Wake(wall: rig.now.wall + .seconds(15 * 3600 - 900)))
        rig.moments.jumpWallClock(by: .seconds(-3 * 86_400))
        rig.send(.timePassed)
        #expect(rig.launched() == [Self.refresh])
        #expect(rig.vetoes("refresh") == ["Budget"])
    }

    @Test func `CPU time of a day is 30 min, what requires power spends none of it, and more may be granted`()
    {
        var settings = SchedulerSettings.unpaced
        settings.budgetBurst = 1
        let rig = SchedulerRig(settings: settings)
        let ending = LaunchEnding(outcome: .succeeded, cpuTime: .seconds(1799))
        Self.finish(rig, rig.submit("powered"), LaunchEnding(outcome: .succeeded, cpuTime: .seconds(9000)))
        Self.finish(rig, rig.submit("p1"), ending)
        Self.finish(rig, rig.submit("p2"), LaunchEnding(outcome: .succeeded, cpuTime: .seconds(1)))
        _ = rig.take()
        rig.submit("p3")
        rig.submit("powered")
        #expect(rig.launched() == ["com.example.a.powered"])
        #expect(rig.vetoes("p3") == ["Budget"])
        rig.send(.budgetChanged(.sample, launches: nil, cpu: .seconds(3600)))
        #expect(rig.launched() == ["com.example.a.p3"])
    }

    @Test func `kills, crashes and leaks lower the conduct, quick ends raise it, and a week forgets`() throws
    {
        let rig = SchedulerRig()
        func points() -> Int {
            rig.scheduler.bundleState(.sample).conduct.points(
                on: rig.scheduler.situation.localDay(rig.now.wall), rig.scheduler.settings)
        }
        Self.finish(rig, rig.submit("p1"), LaunchEnding(outcome: .succeeded))
        #expect(points() == 2)
        Self.finish(rig, rig.submit("p1"), LaunchEnding(outcome: .crashed))
        #expect(points() == -18)
        Self.finish(rig, rig.submit("p1"), LaunchEnding(outcome: .killed, leakedAssertions: 2))
        #expect(points() == -48)
        let launch = rig.run("p1")
        rig.send(.expireRequested(launch, .simulated))
        rig.advance(.seconds(5))
        rig.send(.launchEnded(launch, putBack: nil, ending: LaunchEnding(outcome: .expired)))
        #expect(points() == -46)
        let late = rig.run("p1")
        rig.send(.expireRequested(late, .simulated))
        rig.advance(.milliseconds(5001))
        rig.send(.launchEnded(late, putBack: nil, ending: LaunchEnding(outcome: .expired)))
        #expect(points() == -46)
        for reason in Reason.allCases where reason.isExpiration {
            let before = points()
            let launch = rig.run("p1")
            rig.send(.launchExpiring(launch))
            rig.send(
                .launchEnded(
                    launch, putBack: nil, ending: LaunchEnding(outcome: .expired, expiration: reason)))
            #expect(points() == before + (reason.isCausedByLaunch ? 0 : 2), "\(reason)")
        }
        Self.finish(rig, rig.submit("p1"), LaunchEnding(outcome: .crashed))
        let last = points()
        rig.advance(.seconds(6 * 86_400))
        #expect(points() == last && last < 0)
        rig.advance(.seconds(86_400))
        #expect(points() == 0)
    }

    @Test func `conduct has a ceiling and a floor, so that the next crash or quick end counts`() {
        var ledger = ConductLedger()
        let settings = SchedulerSettings()
        func points(on day: Int64) -> Int { ledger.points(on: day, settings) }
        for _ in 0..<2000 { ledger.add(2, on: 100, settings) }
        #expect(points(on: 100) == 25)
        ledger.add(-20, on: 100, settings)
        #expect(points(on: 100) == 5)
        for _ in 0..<2000 { ledger.add(-20, on: 101, settings) }
        #expect(points(on: 101) == -75)
        ledger.add(2, on: 101, settings)
        #expect(points(on: 101) == -73)
        // By day 107 the day with good conduct no longer counts; the other day counts no lower than the
        // floor.
        #expect(points(on: 107) == -75)
        for _ in 0..<2000 { ledger.add(2, on: 107, settings) }
        #expect(points(on: 107) == 25)
        #expect(points(on: 108) == 25)
        ledger.add(-20, on: 108, settings)
        #expect(points(on: 108) == 5)
        // Points that older versions stored count no more than the ceiling.
        ledger.days = [.init(day: 200, points: 3888)]
        #expect(points(on: 200) == 25)
        ledger.add(-20, on: 200, settings)
        #expect(points(on: 200) == 5)
    }

    @Test(arguments: [RefreshPermission.denied, .restricted])
    func `the host's switch is shown as in force, and allowing a bundle against it is refused`(
        permission: RefreshPermission
    ) throws {
        let rig = SchedulerRig()
        var settings = SchedulerSettings()
        settings.refresh = permission
        rig.send(.settingsChanged(settings))
        #expect(rig.scheduler.facts(of: .sample, at: rig.now).state.refresh == permission)
        #expect(rig.scheduler.refreshPermission(of: .sample) == permission)
        let error = #expect(throws: SubmissionError.self) {
            try rig.scheduler.checkRefreshSwitch(of: .sample, to: .available, byAdministrator: false)
        }
        #expect(error?.code == .notPermitted)
        #expect(
            error?.finding
                == "the host's configuration sets 'refresh: \(permission.rawValue)' for all bundles, so that allowing it "
                + "for one has no effect")
        #expect(error?.remedy.hasPrefix("Set 'refresh: available' in the host's configuration") == true)
        try rig.scheduler.checkRefreshSwitch(of: .sample, to: .denied, byAdministrator: false)
        settings.refresh = .available
        rig.send(.settingsChanged(settings))
        #expect(rig.scheduler.facts(of: .sample, at: rig.now).state.refresh == .available)
    }

    @Test func `usual uses raise the score in the half hour before, and a low score starts then`() throws {
        let rig = SchedulerRig()
        // The bundle is used at 20:00 on ten days. The rig begins at 08:00.
        rig.advance(.seconds(12 * 3600))
        for _ in 0..<10 {
            rig.send(.used(.sample))
            rig.send(.used(.sample))
            rig.advance(.seconds(86_400))
        }
        rig.advance(.seconds(20 * 3600))
        // It is 16:00, on battery at 40 %: enough for a bundle without known use, but not for one used at
        // 20:00.
        rig.change { $0.power = PolicyTests.battery(40) }
        _ = rig.take()
        let id = rig.submit("refresh")
        #expect(rig.take() == [])
        let explanation = try #require(rig.scheduler.explain(id, at: rig.now))
        let usage = try #require(explanation.verdicts.first { $0.policy == "Usage" })
        #expect(usage.score == 0)
        let rise = try #require(usage.rationale.first?.earliestChange)
        // Nearby quarters of an hour count a little, because ten days do not exclude a use in them.
        #expect(rise.text.hasSuffix("T18:45:00Z"))
        let likely = rise + .seconds(3600)
        let wake = try #require(rig.wake.wall)
        #expect(wake >= rise && wake <= likely)
        rig.advance(likely - rig.now.wall)
        #expect(rig.launched() == [Self.refresh])
    }

    @Test func `a bundle in use has deadlines of two days`() throws {
        let rig = SchedulerRig()
        func delay() throws -> Duration {
            let submission = TaskSubmission(identifier: .sample("p1"), origin: .client)
            return try rig.scheduler.admit(submission, at: rig.now).deadline - rig.now.wall
        }
        #expect(try delay() == .seconds(7 * 86_400))
        rig.send(.used(.sample))
        rig.advance(.milliseconds(7 * 86_400_000 - 1))
        #expect(try delay() == .seconds(2 * 86_400))
        rig.advance(.milliseconds(1))
        #expect(try delay() == .seconds(7 * 86_400))
    }

    @Test func `what is saved and restored gives the same answers after a restart`() throws {
        let rig = SchedulerRig()
        rig.send(.used(.sample))
        Self.finish(rig, rig.submit("refresh"), LaunchEnding(outcome: .crashed, cpuTime: .seconds(7)))
        rig.send(.dismissed(.sample))
        var saved: BundleState?
        for case .saveBundleState(let bundle, let state) in rig.takeAll() {
            #expect(bundle == .sample)
            saved = state
        }
        let state = try #require(saved)
        #expect(state == rig.scheduler.bundleState(.sample))
        var restarted = Scheduler()
        _ = restarted.handle(.handlersChanged([.sample]), at: rig.now)
        _ = restarted.handle(.conditionsChanged(rig.conditions), at: rig.now)
        _ = restarted.handle(.bundleRestored(.sample, state), at: rig.now)
        _ = restarted.handle(.started, at: rig.now)
        let submission = TaskSubmission(identifier: .sample("refresh"), origin: .client)
        let request = TaskRequest(
            id: RequestID(rawValue: 9), submission: submission, bundle: .sample, kind: .appRefresh,
            submittedAt: rig.now.wall, attempt: 1, notBefore: nil, deadline: rig.now.wall + .seconds(60))
        #expect(
            restarted.explain(request, at: rig.now).vetoes.map(\.policy)
                == rig.scheduler.explain(request, at: rig.now).vetoes.map(\.policy))
        #expect(restarted.explain(request, at: rig.now).vetoes.map(\.policy) == ["Dismissed", "RateLimit"])
    }
}
