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
            #expect(rig.wake == Wake(wall: rig.now.wall + .seconds(5 * 3600 - 60)))
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
        let events = try #require(rig.scheduler.recap(at: rig.now.wall))
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
        // The window ends after 5 min, but two refreshes of a bundle must begin 15 min apart.
        Self.storeScheduled(rig, window: .seconds(300))
        #expect(rig.wake == Wake(wall: start + .seconds(900 + 270)))
        rig.advance(.seconds(899))
        #expect(rig.launched() == [])
        rig.advance(.seconds(1))
        #expect(rig.launched() == ["com.example.a.refresh"], "any event from the date on is enough")
    }

    /// A rig whose task `p1` has these constraints. It is 10:00.
    private static func constrained(_ constraints: TaskConstraints) -> SchedulerRig {
        let rig = SchedulerRig([.make("com.example.a") { $0.constrain("p1", constraints) }])
        rig.advance(time(rig, 10) - rig.now.wall)
        return rig
    }

    @Test func `a schedule starts while between is open, although its tolerance is longer`() throws {
        let window = try #require(DailyWindow(start: 120, end: 240))
        let rig = Self.constrained(TaskConstraints(between: window))
        Self.storeScheduled(rig, "p1", window: .seconds(12 * 3600))
        #expect(rig.vetoes("p1") == ["Between"])
        // When `between` opens at 02:00, the request's own window is over, so the host does not wait for
        // other work.
        let opening = Self.time(rig, 26)
        #expect(rig.wake == Wake(wall: opening))
        let request = try #require(rig.scheduler.pendingRequest(of: .sample("p1")))
        let forecast = rig.scheduler.forecast(request, from: ConditionHistory(), at: rig.now)
        #expect(forecast.unchanged == opening)
        rig.advance(opening - rig.now.wall)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `the host wakes before between closes, if the window ends later`() throws {
        let window = try #require(DailyWindow(start: 120, end: 240))
        // The request's window begins after `between` has opened (02:30), or before that (01:00).
        for begin in [26.5, 25] {
            let rig = Self.constrained(TaskConstraints(between: window))
            var submission = TaskSubmission(identifier: .sample("p1"), origin: .schedule)
            let date = Self.time(rig, 0, Int(begin * 60))
            submission.earliestBeginDate = date
            rig.store(submission, deadline: date + .seconds(12 * 3600))
            let last = Self.time(rig, 27, 59)
            #expect(rig.wake == Wake(wall: last))
            rig.moments.advance(by: date + .seconds(3600) - rig.now.wall)
            #expect(rig.vetoes("p1") == ["Window"])
            rig.advance(last - rig.now.wall)
            #expect(rig.launched() == ["com.example.a.p1"])
        }
    }

    @Test func `a schedule starts in the hour that when names`() throws {
        let rig = Self.constrained(TaskConstraints(when: try WhenExpression("hour == 3", payload: [:])))
        Self.storeScheduled(rig, "p1", window: .seconds(20 * 3600))
        // The window ends later, so the host wakes before the hour is over.
        #expect(rig.wake == Wake(wall: Self.time(rig, 27, 59)))
        rig.advance(Self.time(rig, 27) - rig.now.wall - .milliseconds(1))
        #expect(rig.launched() == [])
        rig.advance(Self.time(rig, 27, 59) - rig.now.wall)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test(arguments: ["hour >= 0", "hour < 6 or hour >= 6", "idle or hour == 3 or hour != 3"])
    func `a clause on the clock that is always true does not move the alarm`(text: String) throws {
        let rig = Self.constrained(TaskConstraints(when: try WhenExpression(text, payload: [:])))
        let plain = Self.constrained(TaskConstraints(battery: 1))
        for rig in [rig, plain] {
            var submission = TaskSubmission(identifier: .sample("p1"), origin: .schedule)
            submission.earliestBeginDate = Self.time(rig, 24)
            rig.store(submission, deadline: Self.time(rig, 44))
        }
        #expect(rig.wake == plain.wake && rig.wake.wall != nil)
    }

    @Test(
        arguments: [
            // The expression, and the hour and minute of the alarm; the window is 0:00 to 20:00 of the next
            // day.
            ("hour < 5", 28, 59), ("hour < 5 or externalPower", 28, 59),
            ("hour < 5 and externalPower", 28, 59),
            ("hour >= 5", 44, 0), ("hour >= 5 and hour < 9 or hour >= 12 and hour < 15", 32, 59),
            ("hour < 5 and externalPower or hour >= 5", 44, 0),
        ] as [(String, Int, Int)])
    func `the host wakes before the clock closes or narrows an expression`(
        text: String, hour: Int, minute: Int
    ) throws {
        let rig = Self.constrained(TaskConstraints(when: try WhenExpression(text, payload: [:])))
        var submission = TaskSubmission(identifier: .sample("p1"), origin: .schedule)
        submission.earliestBeginDate = Self.time(rig, 24)
        rig.store(submission, deadline: Self.time(rig, 44))
        // At the end of the window, the host wakes shortly before.
        let slack = Duration.seconds(hour == 44 ? 60 : 0)
        #expect(rig.wake == Wake(wall: Self.time(rig, hour, minute) + (.zero - slack)))
    }

    @Test func `the host wakes before a request fails`() throws {
        let rig = SchedulerRig()
        let start = rig.now.wall
        rig.end(rig.run("refresh"))
        _ = rig.take()
        // The spacing of refreshes holds the request for 15 min. Its deadline is 10 s or 5 min after that.
        for (seconds, alarm) in [(910, 900), (1200, 1140)] as [(Int64, Int64)] {
            rig.submit("refresh") {
                $0.earliestBeginDate = start + .seconds(600)
                $0.startDeadline = StartDeadline(date: start + .seconds(seconds), action: .fail)
            }
            let id = try #require(rig.scheduler.pendingRequest(of: .sample("refresh"))).id
            #expect(try #require(rig.scheduler.pending.alarm(of: id)) <= start + .seconds(alarm))
        }
        rig.advance(.seconds(1140))
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    @Test func `a date of another policy after the window adds no window`() throws {
        let rig = SchedulerRig()
        let end = rig.now.wall + .seconds(600)
        rig.send(.pauseChanged(Pause(since: rig.now.wall, until: end)))
        Self.storeScheduled(rig, window: .seconds(300))
        #expect(rig.wake == Wake(wall: end))
        rig.advance(.seconds(600))
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    @Test func `a rate that ends with the window adds no window`() {
        let rig = SchedulerRig()
        let start = rig.now.wall
        rig.end(rig.run("refresh"))
        _ = rig.take()
        Self.storeScheduled(rig, window: .seconds(900))
        #expect(rig.wake == Wake(wall: start + .seconds(900)))
    }

    @Test func `the time of the window does not move from look to look`() throws {
        let rig = SchedulerRig()
        let start = rig.now.wall
        rig.end(rig.run("refresh"))
        Self.storeScheduled(rig, window: .seconds(300))
        let request = try #require(rig.scheduler.pendingRequest(of: .sample("refresh")))
        let alarm = start + .seconds(1170)
        for seconds in [960, 60, 60] as [Int64] {
            rig.moments.advance(by: .seconds(seconds))
            let verdict = try #require(rig.scheduler.explain(request.id, at: rig.now)?.vetoes.first)
            #expect(verdict.policy == "Window" && verdict.rationale.first?.earliestChange == alarm)
            var foresight = Foresight(rig.scheduler, at: rig.now)
            #expect(foresight.headline(of: request).contains("08:19"))
        }
    }

    // MARK: What is worth a wake-up

    /// A choice among four quarters with these values.
    private static func choice(_ measure: MomentChoice.Measure, _ values: [Double]) -> MomentChoice {
        MomentChoice(measure: measure, first: 0, values: values, uses: nil, margin: 0.05, least: 0.4)
    }

    @Test func `the host wakes for a better score only if it is much better than at the end`() {
        #expect(Self.choice(.score, [0.9, 0.9, 0.75, 0.75]).planned(from: 0) == nil)
        #expect(Self.choice(.score, [0.9, 0.9, 0.75, 0.65]).planned(from: 0) == 1)
        #expect(Self.choice(.partOfUse, [0.1, 0.2, 0.1, 0.1]).planned(from: 0) == nil)
        #expect(Self.choice(.use, [0.3, 0.5, 0.3, 0.3]).planned(from: 0) == 1)
    }

    // MARK: Parts of the day

    @Test func `no moment counts that lies outside between`() throws {
        let window = try #require(DailyWindow(start: 540, end: 1020))
        // External power is expected from 22:00 on, when between is closed.
        let rig = Self.rig(powered: 22..<24, Self.battery)
        rig.send(
            .handlersChanged([.make("com.example.a") { $0.constrain("p1", TaskConstraints(between: window)) }]
            ))
        rig.advance(Self.time(rig, 10) - rig.now.wall)
        rig.submit("p2")
        #expect(rig.launched() == [], "another task waits for external power")
        rig.submit("p1")
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `no moment counts at which when is not expected to be true`() throws {
        for text in ["hour >= 9 and hour < 17", "externalPower == false"] {
            let rig = Self.rig(powered: 22..<24, Self.battery)
            let when = try WhenExpression(text, payload: [:])
            rig.send(
                .handlersChanged([.make("com.example.a") { $0.constrain("p1", TaskConstraints(when: when)) }])
            )
            rig.advance(Self.time(rig, 10) - rig.now.wall)
            rig.submit("p1")
            #expect(rig.launched() == ["com.example.a.p1"], "\(text)")
        }
    }

    @Test func `the choice plans the last good moment before between closes`() throws {
        let window = try #require(DailyWindow(start: 540, end: 1020))
        let rig = Self.rig(powered: 14..<20, Self.battery)
        rig.send(
            .handlersChanged([
                .make("com.example.a") { $0.constrain("refresh", TaskConstraints(between: window)) }
            ]))
        var submission = TaskSubmission(identifier: .sample("refresh"), origin: .schedule)
        submission.earliestBeginDate = Self.time(rig, 9)
        rig.store(submission, deadline: Self.time(rig, 22))
        #expect(rig.wake == Wake(wall: Self.time(rig, 16, 45)))
    }

    @Test func `equal changes of the clocks change nothing`() {
        let rig = SchedulerRig()
        let change = LocalTimeChange(
            at: rig.now.wall + .seconds(86_400), before: .zero, after: .seconds(3600))
        rig.send(.localTimeChanges([change]))
        var submission = TaskSubmission(identifier: .sample("p1"), origin: .schedule)
        submission.earliestBeginDate = rig.now.wall + .seconds(3600)
        let id = rig.store(submission, deadline: rig.now.wall + .seconds(7200))
        let alarm = rig.scheduler.pending.alarm(of: id)
        #expect(alarm != nil)
        // Without a free slot, a request whose date was released is not judged again.
        var copy = rig.scheduler
        var settings = copy.settings
        settings.discretionarySlots = 0
        copy.situation.settings = settings
        _ = copy.handle(.localTimeChanges([change]), at: rig.now)
        #expect(copy.pending.alarm(of: id) == alarm)
        _ = copy.handle(.localTimeChanges([]), at: rig.now)
        #expect(copy.pending.alarm(of: id) == nil)
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
