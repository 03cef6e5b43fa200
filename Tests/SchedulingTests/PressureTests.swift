import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// Pressure on CPU or disks holds deferrable work for half an hour at most.
@Suite struct PressureTests {
    static let hogs = PressureCondition(cpu: true, memory: false, io: false)
    static let limit = SchedulerSettings().pressureLimit

    private func strained(_ pressure: PressureCondition = hogs) -> SchedulerRig {
        let rig = SchedulerRig()
        rig.change { $0.pressure = .known(pressure) }
        return rig
    }

    @Test func `after 30 min one launch at a time starts, at idle priority, by an alarm of its own`() throws {
        let rig = strained()
        let end = rig.now.wall + Self.limit
        let ids = ["p1", "p2"].map { rig.submit($0) }
        #expect(rig.launched() == [])
        #expect(rig.wake.wall == end)
        let rationale = try #require(
            rig.scheduler.explain(ids[0], at: rig.now)?.vetoes.first?.rationale.first)
        #expect(rationale.earliestChange == end)
        #expect(rationale.remedy?.hasSuffix("until \(end.text) at most") == true)
        rig.advance(Self.limit - .milliseconds(1))
        #expect(rig.launched() == [])
        rig.advance(.milliseconds(1))
        let started = rig.take()
        guard case .launch(ids[0], false, .idle, _)? = started.first, started.count == 1 else {
            Issue.record("\(started)")
            return
        }
        #expect(rig.vetoes("p2") == ["Pressure"])
        rig.end(rig.begin(ids[0]))
        #expect(rig.launched() == ["com.example.a.p2"])
    }

    @Test func `a break begins the time again, and a change between CPU and disks does not`() {
        let rig = strained()
        rig.submit("p1")
        rig.advance(Self.limit / 2)
        rig.change { $0.pressure = .known(PressureCondition(cpu: false, memory: false, io: true)) }
        rig.advance(Self.limit / 2)
        #expect(rig.launched() == ["com.example.a.p1"])

        let other = strained()
        other.advance(Self.limit - .seconds(1))
        other.change { $0.pressure = .known(.none) }
        other.change { $0.pressure = .known(Self.hogs) }
        other.submit("p1")
        other.advance(Self.limit - .milliseconds(1))
        #expect(other.launched() == [])
        other.advance(.milliseconds(1))
        #expect(other.launched() == ["com.example.a.p1"])
    }

    @Test func `memory pressure has no end, alone or beside the others`() {
        for cpu in [false, true] {
            let rig = strained(PressureCondition(cpu: cpu, memory: true, io: false))
            rig.submit("p1")
            #expect(rig.wake.wall == nil)
            rig.advance(Self.limit * 4)
            #expect(rig.launched() == [])
            rig.change { $0.pressure = .known(Self.hogs) }
            // Only the time under pressure on CPU counts.
            #expect(rig.launched() == (cpu ? ["com.example.a.p1"] : []))
        }
    }

    @Test func `when the pressure ends, the launch gets the priority of deferrable work and others join it`()
    {
        let rig = strained()
        let ids = ["p1", "p2"].map { rig.submit($0) }
        rig.advance(Self.limit)
        let launch = rig.begin(ids[0])
        _ = rig.take()
        rig.change { $0.pressure = .known(.none) }
        let actions = rig.take()
        #expect(actions.contains(.setPriority(launch, .discretionary)))
        #expect(
            actions.contains { if case .launch(ids[1], _, .discretionary, _) = $0 { true } else { false } })
    }

    @Test func `an activity of the trickle is not asked to defer for the pressure that it began under`() {
        let rig = SchedulerRig([
            .make("com.example.a") {
                $0.tasks.append(
                    TaskDeclaration(
                        pattern: try! IdentifierPattern("com.example.a.activity"), kind: .activity))
            }
        ])
        rig.change { $0.pressure = .known(Self.hogs) }
        let id = rig.submit("activity")
        rig.advance(Self.limit)
        #expect(rig.launched() == ["com.example.a.activity"])
        let launch = rig.begin(id)
        rig.advance(.seconds(60))
        #expect(rig.take() == [])
        rig.change { $0.pressure = .known(PressureCondition(cpu: true, memory: true, io: false)) }
        #expect(rig.take().contains(.setShouldDefer(launch, true)))
    }

    @Test func `pressure that comes back and lasts gives a launch of the trickle the lowest priority again`()
    {
        let rig = strained()
        let id = rig.submit("p1")
        rig.advance(Self.limit)
        let launch = rig.begin(id)
        rig.change { $0.pressure = .known(.none) }
        rig.change { $0.pressure = .known(Self.hogs) }
        var settings = SchedulerSettings.unpaced
        settings.pressureLimit = .seconds(60)
        rig.send(.settingsChanged(settings))
        rig.advance(.seconds(59))
        _ = rig.take()
        rig.advance(.seconds(1))
        #expect(rig.take().contains(.setPriority(launch, .idle)))
    }

    @Test func `an activity may go on when the pressure has held it for the longest time`() {
        let rig = SchedulerRig([
            .make("com.example.a") {
                $0.tasks.append(
                    TaskDeclaration(
                        pattern: try! IdentifierPattern("com.example.a.activity"), kind: .activity))
            }
        ])
        var settings = SchedulerSettings.unpaced
        settings.pressureLimit = .seconds(5)
        rig.send(.settingsChanged(settings))
        let launch = rig.begin(rig.submit("activity"))
        rig.change { $0.pressure = .known(Self.hogs) }
        #expect(rig.take().contains(.setShouldDefer(launch, true)))
        rig.advance(.seconds(5))
        #expect(rig.take().contains(.setShouldDefer(launch, false)))
    }

    @Test func `setting the wall clock neither ends the wait nor makes it longer`() {
        let rig = strained()
        rig.submit("p1")
        rig.advance(.seconds(600))
        rig.moments.jumpWallClock(by: .seconds(86_400))
        rig.send(.timePassed)
        #expect(rig.launched() == [])
        rig.moments.jumpWallClock(by: .seconds(-2 * 86_400))
        rig.send(.timePassed)
        rig.advance(Self.limit - .seconds(600))
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `a recording that begins under pressure decides at the same time`() throws {
        let rig = strained()
        rig.submit("p1")
        rig.advance(.seconds(600))
        var copy = Scheduler()
        for event in try #require(rig.scheduler.recap(at: rig.now.wall)) {
            _ = copy.handle(event, at: rig.now)
        }
        rig.advance(Self.limit - .seconds(601))
        let early = copy.handle(.timePassed, at: rig.now).filter(\.isLaunch)
        rig.advance(.seconds(1))
        let timely = copy.handle(.timePassed, at: rig.now).filter(\.isLaunch)
        #expect(early.isEmpty && timely.count == 1)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `the forecast knows the end`() throws {
        let rig = strained()
        let id = rig.submit("p1")
        var history = ConditionHistory()
        var strained = Conditions.simulatedStart
        strained.pressure = .known(Self.hogs)
        for day in 1...3 { history.note(strained, at: rig.now.wall + .seconds(-86_400 * (4 - Int64(day)))) }
        let forecast = rig.scheduler.forecast(rig.stored[id]!, from: history, at: rig.now)
        #expect(forecast.early == rig.now.wall + Self.limit)
    }
}
