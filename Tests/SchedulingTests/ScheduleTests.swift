import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

@Suite struct ScheduleTests {
    static let hourly = Manifest.sample.scheduling("refresh", every: .seconds(3600), tolerance: .seconds(300))
    static let refresh = TaskIdentifier.sample("refresh")

    /// Stores the request that the scheduler asks for, as the host does; returns its earliest begin date.
    @discardableResult
    static func storeAsked(_ rig: SchedulerRig) -> WallTime? {
        for action in rig.take() {
            guard case .submitScheduled(let identifier, _, let earliest, let deadline) = action else {
                continue
            }
            var submission = TaskSubmission(identifier: identifier, origin: .schedule)
            submission.earliestBeginDate = earliest
            rig.store(submission, deadline: deadline)
            return earliest
        }
        return nil
    }

    /// Lets the schedule's pending request start and end; returns whether it started.
    static func runPending(_ rig: SchedulerRig) -> Bool {
        guard let id = rig.scheduler.launches.keys.first else { return false }
        let launch = rig.begin(id)
        _ = rig.take()
        rig.end(launch)
        return true
    }

    @Test func `a new schedule asks for a request now, with its tolerance as deadline`() {
        let rig = SchedulerRig([Self.hourly])
        let now = rig.now.wall
        #expect(
            rig.take() == [
                .submitScheduled(Self.refresh, .sample, earliest: now, deadline: now + .seconds(300))
            ])
    }

    @Test func `it asks once a period, and nothing twice`() {
        let rig = SchedulerRig([Self.hourly])
        let start = rig.now.wall
        #expect(Self.storeAsked(rig) == start)
        rig.send(.timePassed)
        #expect(Self.runPending(rig))
        let next = Self.storeAsked(rig)
        #expect(next == start + .seconds(3600))
        rig.advance(.milliseconds(3_599_999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.launched() == ["com.example.a.refresh"])
        #expect(rig.take() == [])
    }

    @Test func `while its launch runs it asks for nothing, nor while it is put back`() throws {
        let rig = SchedulerRig([Self.hourly])
        Self.storeAsked(rig)
        let request = try #require(rig.scheduler.launches.values.first?.request)
        let launch = rig.begin(request.id)
        rig.advance(.seconds(7200))
        _ = rig.take()
        var back = request
        back.attempt = 2
        rig.end(launch, putBack: back)
        #expect(rig.launched() == ["com.example.a.refresh"])
    }

    @Test func `missed periods are caught up once`() {
        let rig = SchedulerRig([Self.hourly])
        Self.storeAsked(rig)
        #expect(Self.runPending(rig))
        Self.storeAsked(rig)
        rig.moments.sleepMachine(for: .seconds(10 * 3600))
        rig.send(.timePassed)
        #expect(rig.launched() == ["com.example.a.refresh"])
        #expect(Self.runPending(rig))
        #expect(Self.storeAsked(rig) == rig.now.wall + .seconds(3600))
    }

    @Test func `a restart neither doubles nor loses a period`() {
        let rig = SchedulerRig(unstarted: ())
        let now = rig.now.wall
        rig.send(.handlersChanged([Self.hourly]))
        rig.send(.conditionsChanged(.simulatedStart))
        rig.send(.lastLaunched(Self.refresh, now + .seconds(-600)))
        rig.send(.lastLaunched(Self.refresh, now + .seconds(-4000)))
        rig.send(.started)
        #expect(Self.storeAsked(rig) == now + .seconds(3000))

        let late = SchedulerRig(unstarted: ())
        late.send(.lastLaunched(Self.refresh, now + .seconds(-86_400)))
        late.send(.handlersChanged([Self.hourly]))
        late.send(.started)
        #expect(Self.storeAsked(late) == now)

        let pending = SchedulerRig(unstarted: ())
        var submission = TaskSubmission(identifier: Self.refresh, origin: .schedule)
        submission.earliestBeginDate = now + .seconds(100)
        pending.send(.handlersChanged([Self.hourly]))
        pending.store(submission)
        pending.send(.started)
        #expect(pending.take() == [])
    }

    @Test func `a client's submission stands in for the schedule's next, which resumes after it`() throws {
        let rig = SchedulerRig([Self.hourly])
        Self.storeAsked(rig)
        #expect(Self.runPending(rig))
        Self.storeAsked(rig)
        rig.advance(.seconds(600))
        let start = rig.now.wall
        let own = rig.submit("refresh") { $0.earliestBeginDate = start + .seconds(1200) }
        #expect(rig.take() == [])
        rig.advance(.seconds(1200))
        #expect(rig.launched() == ["com.example.a.refresh"])
        let launch = rig.begin(own)
        rig.end(launch)
        #expect(Self.storeAsked(rig) == start + .seconds(1200 + 3600))
    }

    @Test func `cancelling its request skips that period`() throws {
        let rig = SchedulerRig([Self.hourly])
        Self.storeAsked(rig)
        #expect(Self.runPending(rig))
        Self.storeAsked(rig)
        let request = try #require(rig.scheduler.pendingRequest(of: Self.refresh))
        rig.advance(.seconds(600))
        rig.send(.withdrawn(request.id))
        #expect(Self.storeAsked(rig) == rig.now.wall + .seconds(3600))
    }

    @Test func `what could not be stored is asked for again after a minute`() {
        let rig = SchedulerRig([Self.hourly])
        _ = rig.take()
        rig.send(.scheduleNotStored(Self.refresh))
        #expect(rig.wake == Wake(wall: rig.now.wall + .seconds(60)))
        rig.advance(.milliseconds(59_999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(Self.storeAsked(rig) == rig.now.wall)
    }

    @Test func `a schedule that goes takes its request along, a manifest that goes leaves it`() throws {
        let rig = SchedulerRig([Self.hourly])
        Self.storeAsked(rig)
        #expect(Self.runPending(rig))
        Self.storeAsked(rig)
        let request = try #require(rig.scheduler.pendingRequest(of: Self.refresh))
        rig.send(.handlersChanged([]))
        #expect(rig.take() == [])
        rig.send(.handlersChanged([.sample]))
        #expect(rig.take() == [.cancelRequest(request.id, .manifestRemoved)])
        #expect(rig.scheduler.pendingRequest(of: Self.refresh) == nil)
    }

    @Test func `a period that becomes shorter holds at once`() {
        let rig = SchedulerRig([Self.hourly])
        Self.storeAsked(rig)
        #expect(Self.runPending(rig))
        Self.storeAsked(rig)
        rig.send(.handlersChanged([.sample.scheduling("refresh", every: .seconds(60))]))
        #expect(Self.storeAsked(rig) == rig.now.wall + .seconds(60))
    }

    @Test func `a wall clock set back a year does not stop a schedule for a year`() {
        let rig = SchedulerRig([Self.hourly])
        Self.storeAsked(rig)
        #expect(Self.runPending(rig))
        Self.storeAsked(rig)
        rig.moments.jumpWallClock(by: .seconds(-365 * 86_400))
        rig.send(.timePassed)
        #expect(Self.storeAsked(rig) == rig.now.wall + .seconds(3600))
    }

    @Test func `continued tasks and wildcards are never scheduled`() {
        let rig = SchedulerRig([.sample.scheduling("export", every: .seconds(60))])
        #expect(rig.take() == [])
    }
}
