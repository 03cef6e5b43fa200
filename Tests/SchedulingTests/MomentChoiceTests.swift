import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// The choice of the moment within a window. The rigs begin at 08:00.
@Suite struct MomentChoiceTests {
    private static let battery = {
        var conditions = Conditions.simulatedStart
        conditions.power = PolicyTests.battery(60)
        return conditions
    }()

    private static let mains = Conditions.simulatedStart

    /// Ten days on battery, but for the time between two hours, when there is external power.
    private static func outlook(_ now: WallTime, powered hours: Range<Int>) -> ConditionOutlook? {
        var history = ConditionHistory()
        let today = now.wholeSeconds / 86_400
        for day in (today - 10)...today {
            for (hour, conditions) in [(0, battery), (hours.lowerBound, mains), (hours.upperBound, battery)] {
                let time = WallTime(sinceEpoch: .seconds(day * 86_400 + Int64(hour) * 3600))
                if time < now { history.note(conditions, at: time) }
            }
        }
        return ConditionOutlook(history, at: now, localTimeOffset: .zero)
    }

    /// A rig with an outlook, whose present conditions are these.
    private static func rig(
        powered hours: Range<Int>, _ present: Conditions, settings: SchedulerSettings = .unpaced
    ) -> SchedulerRig {
        let rig = SchedulerRig(settings: settings)
        rig.change { $0 = present }
        rig.send(.outlookChanged(outlook(rig.now.wall, powered: hours)))
        _ = rig.take()
        return rig
    }

    /// Stores the request of a schedule whose window begins now.
    @discardableResult
    private static func storeScheduled(
        _ rig: SchedulerRig, _ name: String = "refresh", window: Duration
    ) -> RequestID {
        var submission = TaskSubmission(identifier: .sample(name), origin: .schedule)
        submission.earliestBeginDate = rig.now.wall
        return rig.store(submission, deadline: rig.now.wall + window)
    }

    private static func time(_ rig: SchedulerRig, _ hour: Int, _ minute: Int = 0) -> WallTime {
        let day = rig.now.wall.wholeSeconds / 86_400
        return WallTime(sinceEpoch: .seconds(day * 86_400 + Int64(hour * 3600 + minute * 60)))
    }

    @Test func `a ripe request waits for better conditions that are expected in its window`() throws {
        let rig = Self.rig(powered: 10..<12, Self.battery)
        let id = Self.storeScheduled(rig, window: .seconds(5 * 3600))
        #expect(rig.launched() == [])
        #expect(rig.vetoes("refresh") == ["Score"])
        let explanation = try #require(rig.scheduler.explain(id, at: rig.now))
        #expect(try #require(explanation.score) < #require(explanation.threshold))
        let reason = try #require(explanation.vetoes.first?.rationale.first)
        #expect(reason.required.contains("is expected at \(Self.time(rig, 10).text)"), "\(reason.required)")
        #expect(explanation.scoreSuffices == Self.time(rig, 11, 45), "nothing better comes after it")
        rig.moments.advance(by: .seconds(2 * 3600))
        rig.send(.timePassed)
        #expect(rig.launched() == [], "an event without better conditions changes nothing")
        rig.change { $0 = Self.mains }
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    @Test func `it does not wait for conditions that are expected after its window`() throws {
        let rig = Self.rig(powered: 14..<16, Self.battery)
        Self.storeScheduled(rig, window: .seconds(5 * 3600))
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    @Test func `what was expected and does not come delays it only until then`() throws {
        let rig = Self.rig(powered: 10..<12, Self.battery)
        Self.storeScheduled(rig, window: .seconds(5 * 3600))
        rig.advance(Self.time(rig, 11, 45) - rig.now.wall - .milliseconds(1))
        #expect(rig.launched() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    @Test func `the host wakes before conditions that are expected to become worse`() throws {
        let rig = Self.rig(powered: 7..<10, Self.mains)
        // The window begins in half an hour, so that the request waits for its alarm.
        var submission = TaskSubmission(identifier: .sample("refresh"), origin: .schedule)
        submission.earliestBeginDate = rig.now.wall + .seconds(1800)
        rig.store(submission, deadline: rig.now.wall + .seconds(5 * 3600))
        #expect(rig.wake == Wake(wall: Self.time(rig, 9, 45)))
        #expect(rig.vetoes("refresh") == ["EarliestBeginDate"])
        rig.moments.advance(by: .seconds(3600))
        #expect(rig.vetoes("refresh") == ["Window"])
        rig.send(.timePassed)
        #expect(rig.launched() == ["com.example.a.refresh"], "any event in the window is enough")
    }

    @Test func `without an outlook, and with equal conditions, the host wakes at the end of the window`()
        throws
    {
        for hasOutlook in [false, true] {
            let rig = Self.rig(powered: 0..<24, Self.mains)
            if !hasOutlook { rig.send(.outlookChanged(nil)) }
            var submission = TaskSubmission(identifier: .sample("refresh"), origin: .schedule)
            submission.earliestBeginDate = rig.now.wall + .seconds(1800)
            rig.store(submission, deadline: rig.now.wall + .seconds(5 * 3600))
            #expect(rig.wake == Wake(wall: rig.now.wall + .seconds(5 * 3600)))
        }
    }

    @Test func `with a threshold of 0 or a margin of 1, no request waits for better conditions`() throws {
        for change in [{ $0.scoreThreshold = 0 }, { $0.scoreMargin = 1 }]
            as [(inout SchedulerSettings) -> Void]
        {
            var settings = SchedulerSettings.unpaced
            change(&settings)
            let rig = Self.rig(powered: 10..<12, Self.battery, settings: settings)
            Self.storeScheduled(rig, window: .seconds(5 * 3600))
            #expect(rig.launched() == ["com.example.a.refresh"])
        }
    }

    @Test func `processing waits until its deadline, and a refresh without a window does not`() throws {
        let rig = Self.rig(powered: 22..<24, Self.battery)
        rig.submit("p1")
        rig.submit("refresh")
        #expect(rig.launched() == ["com.example.a.refresh"])
        #expect(rig.vetoes("p1") == ["Score"])
        rig.moments.advance(by: .seconds(14 * 3600))
        rig.change { $0 = Self.mains }
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `a recap contains the outlook`() throws {
        let rig = Self.rig(powered: 10..<12, Self.battery)
        let events = try #require(rig.scheduler.recap())
        var copy = Scheduler()
        for event in events { _ = copy.handle(event, at: rig.now) }
        #expect(copy.outlook != nil && copy.outlook == rig.scheduler.outlook)
    }

    // MARK: Use

    /// A rig whose sample bundle was used at 20:00 and some minutes on ten days; it is 08:00 again.
    private static func habit(_ manifest: Manifest = .sample) -> SchedulerRig {
        let rig = SchedulerRig([manifest])
        rig.advance(.seconds(12 * 3600))
        for day in 0..<10 {
            rig.advance(.seconds(60 * day))
            rig.send(.used(.sample))
            rig.advance(.seconds(86_400 - 60 * day))
        }
        rig.advance(.seconds(12 * 3600))
        _ = rig.take()
        return rig
    }

    @Test func `a refresh is launched just before the bundle is usually used`() throws {
        let rig = Self.habit()
        Self.storeScheduled(rig, window: .seconds(14 * 3600))
        #expect(rig.launched() == [])
        #expect(rig.wake == Wake(wall: Self.time(rig, 19, 45)))
        let request = try #require(rig.scheduler.pendingRequest(of: .sample("refresh")))
        let reason = try #require(rig.scheduler.blockingFactor(of: request, at: rig.now)?.rationale.first)
        #expect(reason.quantity == "expectedUse")
        #expect(reason.required == Self.time(rig, 19, 45).text)
        rig.advance(Self.time(rig, 19, 45) - rig.now.wall - .milliseconds(1))
        #expect(rig.launched() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    private static func prefetching() -> Manifest {
        var manifest = Manifest.sample
        for index in manifest.tasks.indices where manifest.tasks[index].kind == .processing {
            manifest.tasks[index].isPrefetch = true
        }
        return manifest
    }

    @Test func `a prefetch waits for the use of its bundle, whatever the score is`() throws {
        let rig = Self.habit(Self.prefetching())
        rig.change { $0 = Self.battery }
        rig.submit("p1")
        #expect(rig.launched() == [])
        #expect(rig.wake == Wake(wall: Self.time(rig, 19, 45)))
        rig.change { $0 = Self.mains }
        #expect(rig.launched() == [], "better conditions alone do not start it")
        rig.advance(Self.time(rig, 19, 45) - rig.now.wall)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `where nothing is learnt, a prefetch starts in its ordinary window`() {
        let rig = SchedulerRig([Self.prefetching()])
        rig.submit("p1")
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `a use counts for working days or for weekends`() throws {
        var situation = Situation(settings: SchedulerSettings())
        situation.notice(WallTime(sinceEpoch: .zero))
        var usage = UsageHistogram()
        // 2026-01-05 is a Monday. The bundle is used at 07:40 on each working day of three weeks.
        let monday: Int64 = 1_767_571_200
        for day in Int64(0)..<21 where day % 7 < 5 {
            usage.count(at: WallTime(sinceEpoch: .seconds(monday + day * 86_400 + 27_600)), in: situation)
        }
        func likelihood(_ day: Int64, _ hour: Int64, _ minute: Int64) throws -> Double {
            let time = WallTime(sinceEpoch: .seconds(monday + day * 86_400 + hour * 3600 + minute * 60))
            return try #require(usage.likelihood(at: time, in: situation))
        }
        #expect(try likelihood(21, 7, 15) > 0.7)
        #expect(try likelihood(21, 7, 30) > 0.7)
        #expect(try likelihood(21, 7, 0) < 0.2)
        #expect(try likelihood(21, 8, 0) < 0.2)
        #expect(try likelihood(26, 7, 15) == 0, "on Saturday")
    }

    // MARK: Dates that hold a request

    @Test func `a request that a rate held past its window has its window again, and joins others`() {
        let rig = SchedulerRig()
        let start = rig.now.wall
        rig.end(rig.run("refresh"))
        _ = rig.take()
        // The window ends after 5 min, and the rate after 15.
        Self.storeScheduled(rig, window: .seconds(300))
        #expect(rig.wake == Wake(wall: start + .seconds(900 + 300)))
        rig.advance(.seconds(899))
        #expect(rig.launched() == [])
        rig.advance(.seconds(1))
        #expect(rig.launched() == ["com.example.a.refresh"], "any event from the date on is enough")
    }

    @Test func `a clock that was a year ahead does not put a bundle last for a year`() {
        let rig = SchedulerRig([.sample, .make("com.example.b")])
        rig.moments.jumpWallClock(by: .seconds(365 * 86_400))
        rig.end(rig.run("p1"))
        let wrong = rig.scheduler.bundleState(.sample).service.rank
        rig.moments.jumpWallClock(by: .seconds(-365 * 86_400))
        rig.send(.timePassed)
        let state = rig.scheduler.bundleState(.sample).service
        #expect(state.rank < wrong - 300)
        #expect(state.at == rig.now.wall && state.seconds > 0)
    }
}
