import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// Questions to the user, pressure, priorities, and the recorded reasons for stopping a launch.
@Suite struct LaunchRuleTests {
    static func questions(_ rig: SchedulerRig) -> [String] {
        rig.takeAll().compactMap { if case .ask(_, let why) = $0 { why.quantity } else { nil } }
    }

    @Test func `after 30 s without progress the user is asked once, and silence means yes until 60 s`() {
        let rig = SchedulerRig()
        let launch = rig.run("export.film")
        rig.advance(.milliseconds(29_999))
        #expect(Self.questions(rig) == [])
        rig.advance(.milliseconds(1))
        #expect(Self.questions(rig) == ["timeSinceProgress"])
        rig.advance(.seconds(29))
        #expect(Self.questions(rig) == [])
        rig.advance(.seconds(1))
        #expect(rig.take() == [.expire(launch, .noProgress)])
    }

    @Test func `yes begins the wait anew, no ends it`() {
        let rig = SchedulerRig()
        let (one, other) = (rig.run("export.film"), rig.run("export.other"))
        rig.advance(.seconds(40))
        _ = rig.take()
        rig.send(.answered(one, keepGoing: true))
        rig.send(.answered(other, keepGoing: false))
        #expect(rig.take() == [.expire(other, .cancelledByUser)])
        rig.advance(.milliseconds(59_999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.take() == [.expire(one, .noProgress)])
    }

    @Test func `below a quarter of its own usual rate the user is asked once per slow stretch`() {
        let rig = SchedulerRig()
        let launch = rig.run("export.film")
        var done: Int64 = 0
        func work(_ units: Int64, times: Int) {
            for _ in 0..<times {
                rig.advance(.seconds(10))
                done += units
                rig.send(.progressed(launch, TaskProgress(completed: done, total: 100_000)))
            }
        }
        work(100, times: 12)
        work(26, times: 6)
        #expect(Self.questions(rig) == [])
        work(100, times: 12)
        work(10, times: 6)
        #expect(Self.questions(rig) == ["progressRate"])
        work(100, times: 6)
        work(10, times: 5)
        #expect(Self.questions(rig) == ["progressRate"])
    }

    @Test func `memory pressure ends deferrable work first, then the least progress, one in 10 s`() {
        let rig = SchedulerRig()
        let (work, much, little) = (rig.run("p1"), rig.run("export.a"), rig.run("export.b"))
        rig.send(.progressed(work, TaskProgress(completed: 99, total: 100)))
        rig.send(.progressed(much, TaskProgress(completed: 50, total: 100)))
        rig.send(.progressed(little, TaskProgress(completed: 40, total: 100)))
        _ = rig.take()
        rig.change { $0.pressure = .known(PressureCondition(cpu: true, memory: false, io: true)) }
        #expect(rig.take() == [])
        rig.change { $0.pressure = .known(PressureCondition(cpu: false, memory: true, io: false)) }
        #expect(rig.take() == [.expire(work, .pressure)])
        rig.advance(.milliseconds(9999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.take() == [.expire(little, .pressure)])
        rig.change { $0.pressure = .known(.none) }
        rig.advance(.seconds(10))
        #expect(rig.take() == [])
        _ = much
    }

    @Test func `launches are raised while their client is in the foreground, whenever that begins`() {
        let rig = SchedulerRig()
        let id = rig.submit("p1")
        guard case .launch(id, false, .discretionary, _)? = rig.take().first else {
            Issue.record("not launched at low priority")
            return
        }
        rig.send(.foregroundChanged(.sample, true))
        #expect(rig.take() == [])
        let work = rig.begin(id)
        #expect(rig.take() == [.setPriority(work, .foreground)])
        let film = rig.submit("export.film")
        guard case .launch(film, false, .foreground, _)? = rig.take().first else {
            Issue.record("not launched in the foreground")
            return
        }
        let launch = rig.begin(film)
        rig.send(.foregroundChanged(.sample, false))
        #expect(rig.take() == [.setPriority(work, .discretionary), .setPriority(launch, .requested)])
    }

    @Test func `what a rule ended says which one, what it required and what it saw`() throws {
        let rig = SchedulerRig()
        let launch = rig.run("powered")
        _ = rig.takeAll()
        rig.advance(.seconds(5))
        let since = rig.now.wall
        rig.change { $0.power = PolicyTests.battery(50) }
        let record = try #require(
            rig.takeAll().compactMap { if case .expire(launch, _, let why) = $0 { why } else { nil } }.first)
        #expect(record.question == .stop)
        let verdict = try #require(record.verdicts.first)
        #expect(verdict.policy == "ExternalPower")
        #expect(verdict.since == since)
        #expect(verdict.rationale.first?.observed == "not connected (battery at 50 %)")
    }

    @Test func `retries double their wait and end with the attempts`() {
        let retry = RetryDeclaration(attempts: 4, backOff: .seconds(30))
        let delays = (1...4).map { retry.delay(afterFailure: $0) }
        #expect(delays == [.seconds(30), .seconds(60), .seconds(120), nil])
        let long = RetryDeclaration(attempts: 100, backOff: .seconds(3600))
        #expect(long.delay(afterFailure: 50) == .seconds(86_400))
    }

    @Test func `however many wait for power, they set no alarm; the next that waits for a date sets one`() {
        let names = (1...300).map { "com.example.a.w\($0)" }
        let rig = SchedulerRig([
            .make("com.example.a") {
                $0.tasks = names.map {
                    TaskDeclaration(pattern: try! IdentifierPattern($0), kind: .processing)
                }
            }
        ])
        rig.change { $0.power = PolicyTests.battery(50) }
        for (index, name) in names.enumerated() {
            rig.submit(name) {
                $0.requiresExternalPower = true
                $0.earliestBeginDate = rig.now.wall + .seconds(index)
            }
        }
        #expect(rig.wake == Wake())
        rig.change { $0.power = .known(.mains) }
        #expect(rig.launched() == ["com.example.a.w1"])
        // The next request may begin in 1 s. Its alarm may be late by a quarter of the wait that its client
        // asked for, which is 1 s too.
        #expect(rig.wake == Wake(wall: rig.now.wall + .milliseconds(1250)))
    }
}
