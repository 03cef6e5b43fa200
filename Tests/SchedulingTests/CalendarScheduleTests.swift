import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// Schedules with dates from a calendar; the test itself answers for the calendar.
@Suite struct CalendarScheduleTests {
    static let nightly = scheduling(.calendar(expression: "02:00", timeZone: "UTC"))
    static let refresh = TaskIdentifier.sample("refresh")

    static func scheduling(_ timing: Schedule.Timing?, _ change: (inout Schedule) -> Void = { _ in })
        -> Manifest
    {
        var manifest = Manifest.sample
        for index in manifest.tasks.indices where manifest.tasks[index].pattern.base == refresh {
            var schedule = Schedule(timing: timing, tolerance: .seconds(300))
            change(&schedule)
            manifest.tasks[index].schedule = schedule
        }
        return manifest
    }

    /// The date after which the scheduler asks the calendar for the next one; `nil` if it does not ask.
    static func question(_ rig: SchedulerRig) -> WallTime? {
        for case .findDate(refresh, "02:00", "UTC", let after) in rig.take() { return after }
        return nil
    }

    static func answer(_ rig: SchedulerRig, after: WallTime, _ next: WallTime?) {
        rig.send(.scheduleDated(refresh, after: after, next: next))
    }

    @Test func `a new schedule asks for the first date after now, and submits it with its tolerance`() {
        let rig = SchedulerRig([Self.nightly])
        let now = rig.now.wall
        #expect(
            rig.take() == [.findDate(Self.refresh, expression: "02:00", timeZone: "UTC", after: now)])
        Self.answer(rig, after: now, now + .seconds(5000))
        #expect(
            rig.take() == [
                .submitScheduled(
                    Self.refresh, .sample, earliest: now + .seconds(5000), deadline: now + .seconds(5300))
            ])
    }

    @Test func `after its launch it asks for the date after that launch's begin`() throws {
        let rig = SchedulerRig([Self.nightly])
        let now = try #require(Self.question(rig))
        Self.answer(rig, after: now, now + .seconds(100))
        ScheduleTests.storeAsked(rig)
        rig.advance(.seconds(100))
        #expect(rig.launched() == ["com.example.a.refresh"])
        rig.advance(.seconds(20))
        #expect(ScheduleTests.runPending(rig))
        #expect(Self.question(rig) == now + .seconds(100))
    }

    @Test func `dates that were missed come once, at once`() throws {
        let rig = SchedulerRig(unstarted: ())
        let now = rig.now.wall
        let last = now + .seconds(-10 * 86_400)
        rig.send(.handlersChanged([Self.nightly]))
        rig.send(.conditionsChanged(.simulatedStart))
        rig.send(.lastLaunched(Self.refresh, last))
        rig.send(.started)
        #expect(Self.question(rig) == last)
        Self.answer(rig, after: last, last + .seconds(86_400))
        #expect(ScheduleTests.storeAsked(rig) == now)
        #expect(ScheduleTests.runPending(rig))
        #expect(Self.question(rig) == now)
    }

    @Test func `an answer to an older question is ignored, and one without a date ends the asking`() throws {
        let rig = SchedulerRig([Self.nightly])
        let now = try #require(Self.question(rig))
        Self.answer(rig, after: now + .seconds(1), now + .seconds(100))
        #expect(rig.take() == [])
        Self.answer(rig, after: now, nil)
        rig.advance(.seconds(86_400))
        #expect(rig.take() == [])
        // A changed expression makes the scheduler ask again.
        rig.send(.handlersChanged([Self.scheduling(.calendar(expression: "03:00", timeZone: nil))]))
        #expect(rig.take().count == 1)
    }

    /// A host that is described by a recap does not start the cancelled date either.
    @Test func `a recap has the dates that were cancelled`() throws {
        let rig = SchedulerRig([Self.nightly])
        let now = try #require(Self.question(rig))
        Self.answer(rig, after: now, now + .seconds(5000))
        ScheduleTests.storeAsked(rig)
        let request = try #require(rig.scheduler.pendingRequest(of: Self.refresh))
        rig.send(.withdrawn(request.id))
        #expect(Self.question(rig) == now + .seconds(5000))
        Self.answer(rig, after: now + .seconds(5000), now + .seconds(91_400))
        ScheduleTests.storeAsked(rig)
        let recap = try #require(rig.scheduler.recap(at: rig.now.wall))
        var copy = Scheduler()
        for event in recap { _ = copy.handle(event, at: rig.now) }
        // After another expression, each asks for the first date after the cancelled one.
        let other = Self.scheduling(.calendar(expression: "03:00", timeZone: "UTC"))
        var questions: [WallTime] = []
        for case .findDate(_, _, _, let after) in copy.handle(.handlersChanged([other]), at: rig.now) {
            questions.append(after)
        }
        #expect(questions == [now + .seconds(5000)])
        // When the date has passed, no schedule needs it any more.
        rig.advance(.seconds(5001))
        let later = try #require(rig.scheduler.recap(at: rig.now.wall))
        #expect(!later.contains { if case .withdrawn = $0 { true } else { false } })
    }

    @Test func `cancelling its request skips that date`() throws {
        let rig = SchedulerRig([Self.nightly])
        let now = try #require(Self.question(rig))
        let date = now + .seconds(5000)
        Self.answer(rig, after: now, date)
        ScheduleTests.storeAsked(rig)
        let request = try #require(rig.scheduler.pendingRequest(of: Self.refresh))
        rig.send(.withdrawn(request.id))
        #expect(Self.question(rig) == date)
    }

    @Test func `a clock that is set, or another expression, has the date of what waits worked out anew`()
        throws
    {
        let rig = SchedulerRig([Self.nightly])
        let now = try #require(Self.question(rig))
        Self.answer(rig, after: now, now + .seconds(5000))
        ScheduleTests.storeAsked(rig)
        rig.moments.jumpWallClock(by: .seconds(-3600))
        rig.send(.timePassed)
        let again = try #require(Self.question(rig))
        #expect(again == rig.now.wall)
        Self.answer(rig, after: again, now + .seconds(5000))
        #expect(rig.take() == [])
        rig.moments.jumpWallClock(by: .seconds(-86_400))
        rig.send(.timePassed)
        let third = try #require(Self.question(rig))
        Self.answer(rig, after: third, now + .seconds(-80_000))
        #expect(ScheduleTests.storeAsked(rig) == now + .seconds(-80_000))
    }

    @Test func `a clock set forward past its date makes it due`() throws {
        let rig = SchedulerRig([Self.nightly])
        let now = try #require(Self.question(rig))
        Self.answer(rig, after: now, now + .seconds(5000))
        ScheduleTests.storeAsked(rig)
        rig.moments.jumpWallClock(by: .seconds(6000))
        rig.send(.timePassed)
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    @Test func `wake names the first date ahead, only for schedules that say so`() throws {
        let plain = SchedulerRig([Self.nightly])
        Self.answer(plain, after: plain.now.wall, plain.now.wall + .seconds(5000))
        ScheduleTests.storeAsked(plain)
        #expect(plain.wake.machine == nil)

        let waking = SchedulerRig([
            Self.scheduling(.calendar(expression: "02:00", timeZone: "UTC")) { $0.wakesMachine = true }
        ])
        let date = waking.now.wall + .seconds(5000)
        Self.answer(waking, after: waking.now.wall, date)
        ScheduleTests.storeAsked(waking)
        #expect(waking.wake.machine == date)
        waking.advance(.seconds(5000))
        #expect(waking.wake.machine == nil)
    }
}

/// Schedules that start on events instead of dates.
@Suite struct EventScheduleTests {
    static let refresh = CalendarScheduleTests.refresh

    static func rig(_ timing: Schedule.Timing? = nil, _ change: (inout Schedule) -> Void) -> SchedulerRig {
        SchedulerRig([CalendarScheduleTests.scheduling(timing, change)])
    }

    static let battery = PowerCondition(externalPower: false, isCharging: false, batteryPercent: 60)

    @Test func `power that comes makes a request, power that is there does not`() {
        let rig = Self.rig { $0.onPower = true }
        #expect(rig.take() == [])
        rig.change { $0.power = .known(Self.battery) }
        #expect(rig.take() == [])
        rig.change { $0.power = .known(.mains) }
        #expect(ScheduleTests.storeAsked(rig) == rig.now.wall)
        #expect(ScheduleTests.runPending(rig))
        rig.change { $0.thermal = .known(.fair) }
        #expect(rig.take() == [])
    }

    @Test func `what was unknown meanwhile is no change by itself`() {
        let rig = Self.rig { $0.onPower = true }
        rig.change { $0.power = .unknown }
        rig.change { $0.power = .known(.mains) }
        #expect(rig.take() == [])
        rig.change { $0.power = .known(Self.battery) }
        rig.change { $0.power = .unknown }
        rig.change { $0.power = .known(.mains) }
        #expect(ScheduleTests.storeAsked(rig) == rig.now.wall)
    }

    @Test func `a network that comes makes a request, another kind of network does not`() {
        let rig = Self.rig { $0.onNetwork = true }
        rig.change { $0.network = .known(.metered) }
        #expect(rig.take() == [])
        rig.change { $0.network = .known(.none) }
        rig.change { $0.network = .known(.constrained) }
        #expect(ScheduleTests.storeAsked(rig) == rig.now.wall)
    }

    @Test func `an event hastens the date of a period, which counts from that launch then`() {
        let rig = Self.rig(.every(.seconds(3600))) { $0.onFileChange = "/srv/a" }
        ScheduleTests.storeAsked(rig)
        #expect(ScheduleTests.runPending(rig))
        ScheduleTests.storeAsked(rig)
        rig.advance(.seconds(1200))
        rig.send(.scheduleTriggered(Self.refresh))
        #expect(ScheduleTests.storeAsked(rig) == rig.now.wall)
        #expect(ScheduleTests.runPending(rig))
        #expect(ScheduleTests.storeAsked(rig) == rig.now.wall + .seconds(3600))
    }

    @Test func `several events before a launch are one request; one that comes during it is another`() throws
    {
        let rig = Self.rig { $0.onFileChange = "/srv/a" }
        rig.send(.scheduleTriggered(Self.refresh))
        rig.send(.scheduleTriggered(Self.refresh))
        #expect(rig.take().count == 1)
        ScheduleTests.storeAsked(rig)
        var submission = TaskSubmission(identifier: Self.refresh, origin: .schedule)
        submission.earliestBeginDate = rig.now.wall
        let id = rig.store(submission)
        #expect(rig.launched() == ["com.example.a.refresh"])
        let launch = rig.begin(id)
        rig.send(.scheduleTriggered(Self.refresh))
        #expect(rig.take() == [])
        rig.end(launch)
        #expect(ScheduleTests.storeAsked(rig) == rig.now.wall)
    }

    @Test func `an event that could not be stored is not lost`() {
        let rig = Self.rig { $0.onBoot = true }
        rig.send(.scheduleTriggered(Self.refresh))
        _ = rig.take()
        rig.send(.scheduleNotStored(Self.refresh))
        rig.advance(.seconds(60))
        #expect(ScheduleTests.storeAsked(rig) == rig.now.wall)
    }

    @Test func `an event of a task without a schedule does nothing`() {
        let rig = SchedulerRig()
        rig.send(.scheduleTriggered(Self.refresh))
        #expect(rig.take() == [])
    }
}
