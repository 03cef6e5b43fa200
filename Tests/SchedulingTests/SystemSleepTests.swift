import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// While the machine prepares to sleep, nothing starts, and what can wait stops.
@Suite struct SystemSleepTests {
    @Test func `what can wait stops with systemSleep and its reason, and a user's work goes on`() throws {
        let rig = SchedulerRig()
        let (work, film) = (rig.run("p1"), rig.run("export.film"))
        _ = rig.takeAll()
        rig.send(.preparingForSleep(true))
        let actions = rig.takeAll()
        let records = actions.compactMap { action -> Explanation? in
            guard case .expire(work, .systemSleep, let record) = action else { return nil }
            return record
        }
        #expect(records.first?.verdicts.first?.policy == "SystemSleep")
        #expect(!actions.contains { if case .expire(film, _, _) = $0 { true } else { false } })
    }

    @Test func `an activity gets no time to defer, because the machine sleeps in seconds`() {
        let rig = SchedulerRig([
            .make("com.example.a") {
                $0.tasks.append(
                    TaskDeclaration(
                        pattern: try! IdentifierPattern("com.example.a.activity"), kind: .activity))
            }
        ])
        let launch = rig.run("activity")
        _ = rig.take()
        rig.send(.preparingForSleep(true))
        #expect(rig.take() == [.expire(launch, .systemSleep)])
    }

    @Test func `nothing starts, explain and pending say why, and after waking all starts at once`() throws {
        let rig = SchedulerRig()
        let waiting = rig.submit("p1") { $0.earliestBeginDate = rig.now.wall + .seconds(60) }
        rig.send(.preparingForSleep(true))
        let names = ["p2", "export.film", "refresh"]
        let ids = names.map { rig.submit($0) }
        rig.advance(.seconds(60))
        #expect(rig.launched() == [])
        #expect(rig.wake == Wake())
        for id in ids + [waiting] {
            #expect(rig.scheduler.waitingFor(id, at: rig.now) == "SystemSleep")
            let veto = try #require(rig.scheduler.explain(id, at: rig.now)?.vetoes.first)
            #expect(veto.policy == "SystemSleep")
            #expect(veto.rationale.first?.sentence == "The machine is about to sleep; it must be awake")
            #expect(veto.rationale.first?.remedy != nil)
            #expect(rig.scheduler.blockingFactor(of: rig.stored[id]!, at: rig.now) == veto)
        }
        rig.moments.sleepMachine(for: .seconds(3600))
        rig.send(.preparingForSleep(false))
        // Two processing requests, a refresh and a user's export: there is a slot for each.
        #expect(rig.launched().count == 4)
    }

    @Test func `bgtask launch waits for the machine too`() {
        let rig = SchedulerRig()
        rig.send(.preparingForSleep(true))
        let id = rig.submit("p1")
        rig.send(.simulate(id))
        #expect(rig.launched() == [])
        #expect(rig.vetoes("p1") == ["SystemSleep"])
        rig.send(.preparingForSleep(false))
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `the strategy fail is refused, and the policy is named`() throws {
        let rig = SchedulerRig()
        var film = TaskSubmission(identifier: .sample("export.film"), origin: .client)
        film.strategy = .fail
        _ = try rig.scheduler.admit(film, at: rig.now)
        rig.send(.preparingForSleep(true))
        do {
            _ = try rig.scheduler.admit(film, at: rig.now)
            Issue.record("it was accepted")
        } catch {
            #expect(error.code == .immediateRunIneligible)
            #expect(error.finding.contains("SystemSleep"))
        }
    }

    @Test func `a launch that got its number after the announcement stops at once`() {
        let rig = SchedulerRig()
        let id = rig.submit("p1")
        rig.send(.preparingForSleep(true))
        _ = rig.take()
        let launch = rig.begin(id, ready: false)
        #expect(rig.take() == [.expire(launch, .systemSleep)])
    }

    @Test func `a recording that begins during the preparation knows of it`() throws {
        let rig = SchedulerRig()
        rig.send(.preparingForSleep(true))
        rig.submit("p1")
        var copy = Scheduler()
        for event in try #require(rig.scheduler.recap(at: rig.now.wall)) {
            _ = copy.handle(event, at: rig.now)
        }
        let launches = copy.handle(.preparingForSleep(false), at: rig.now).filter(\.isLaunch)
        #expect(launches.count == 1)
    }
}
