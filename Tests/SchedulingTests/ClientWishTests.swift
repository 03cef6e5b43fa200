import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

/// What a client says about a request: the time by which it must start.
@Suite struct StartDeadlineTests {
    private static func limit(
        _ rig: SchedulerRig, _ seconds: Int64, _ action: DeadlineAction
    ) -> (inout TaskSubmission) -> Void {
        let date = rig.now.wall + .seconds(seconds)
        return { $0.startDeadline = StartDeadline(date: date, action: action) }
    }

    @Test func `a request that has not started by its deadline fails then, by an alarm`() throws {
        let rig = SchedulerRig()
        rig.change { $0.power = .unknown }
        let id = rig.submit("powered", Self.limit(rig, 3600, .fail))
        #expect(rig.take() == [])
        #expect(rig.wake.wall == rig.now.wall + .seconds(3600))
        let told = try #require(
            rig.scheduler.explain(id, at: rig.now)?.verdicts.first { $0.policy == "Deadline" })
        #expect(told.decision == .proceed)
        #expect(
            told.rationale.first?.statement
                == "The request fails at 2027-01-15T09:00:00Z (in 60 min) unless it has started")
        rig.advance(.seconds(3599))
        #expect(rig.take() == [])
        rig.advance(.seconds(1))
        #expect(rig.take() == [.cancelRequest(id, .deadlinePassed)])
        #expect(rig.scheduler.pendingRequest(of: .sample("powered")) == nil)
        // No alarm is left, because the request is gone.
        #expect(rig.wake == Wake())
    }

    @Test func `one that has started in time goes on, and fails when it is put back later`() throws {
        let rig = SchedulerRig()
        let id = rig.submit("p1", Self.limit(rig, 60, .fail))
        let launch = rig.begin(id)
        _ = rig.take()
        rig.advance(.seconds(120))
        #expect(rig.take() == [])
        var request = try #require(rig.stored[id])
        request.putBack(PutBack(notBefore: nil), at: rig.now.wall)
        rig.end(launch, putBack: request)
        #expect(rig.take() == [.cancelRequest(id, .deadlinePassed)])
    }

    @Test func `a deadline that passed while the host was off fails the request at the start`() {
        let rig = SchedulerRig(unstarted: ())
        rig.send(.handlersChanged([.sample]))
        rig.send(.conditionsChanged(.simulatedStart))
        let id = rig.submit("p1", Self.limit(rig, -5, .fail))
        rig.send(.started)
        #expect(rig.take() == [.cancelRequest(id, .deadlinePassed)])
    }

    @Test func `a score that is too low delays a request for nine tenths of the time until its deadline`() {
        let rig = SchedulerRig()
        rig.change {
            $0.user = .known(.active)
            $0.power = .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 21))
            $0.pressure = .known(PressureCondition(cpu: false, memory: false, io: false))
        }
        let due = rig.now.wall + .seconds(900)
        let submission = { (action: DeadlineAction) in
            var submission = TaskSubmission(identifier: .sample("refresh"), origin: .client)
            submission.startDeadline = StartDeadline(date: rig.now.wall + .seconds(1000), action: action)
            return submission
        }
        let settings = rig.scheduler.settings
        #expect(settings.deadline(for: submission(.fail), at: rig.now) == due)
        #expect(settings.deadline(for: submission(.start), at: rig.now) == due + .seconds(100))
    }

    @Test func `at a deadline to start, the score no longer counts, and vetoes still do`() throws {
        let rig = SchedulerRig()
        rig.change {
            $0.user = .known(.active)
            $0.power = .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 21))
        }
        let free = rig.submit("refresh", Self.limit(rig, 600, .start))
        let held = rig.submit("powered", Self.limit(rig, 600, .start))
        #expect(rig.scheduler.waitingFor(free, at: rig.now) == "Score")
        rig.advance(.seconds(600))
        #expect(rig.launched() == ["com.example.a.refresh"])
        rig.advance(.seconds(3600))
        #expect(rig.take() == [])
        #expect(rig.scheduler.waitingFor(held, at: rig.now) == "ExternalPower")
    }

    @Test func `a deadline that has passed, or that comes before the begin, is refused`() {
        let rig = SchedulerRig()
        var submission = TaskSubmission(identifier: .sample("p1"), origin: .client)
        submission.startDeadline = StartDeadline(date: rig.now.wall, action: .fail)
        #expect(throws: SubmissionError.self) { try rig.scheduler.admit(submission, at: rig.now) }
        submission.startDeadline?.date = rig.now.wall + .seconds(10)
        #expect(throws: Never.self) { try rig.scheduler.admit(submission, at: rig.now) }
        submission.earliestBeginDate = rig.now.wall + .seconds(10)
        #expect(throws: SubmissionError.self) { try rig.scheduler.admit(submission, at: rig.now) }
        submission.earliestBeginDate = nil
        submission.tags = (1...9).map { try! Tag("t\($0)") }
        #expect(throws: SubmissionError.self) { try rig.scheduler.admit(submission, at: rig.now) }
    }

    @Test func `the forecast of a request ends at its deadline`() throws {
        let rig = SchedulerRig()
        let later = rig.now.wall + .seconds(7200)
        let id = rig.submit("p1") {
            $0.earliestBeginDate = later
            $0.startDeadline = StartDeadline(date: later + .seconds(60), action: .fail)
        }
        let request = try #require(rig.stored[id])
        let forecast = rig.scheduler.forecast(request, from: ConditionHistory(), at: rig.now)
        #expect(forecast.unchanged != nil)
        // A pause until after the deadline leaves no time to start.
        rig.send(.pauseChanged(Pause(since: rig.now.wall, until: later + .seconds(90))))
        #expect(rig.scheduler.forecast(request, from: ConditionHistory(), at: rig.now).unchanged == nil)
    }
}

/// Pauses that a user ordered, of one bundle or of all.
@Suite struct PauseTests {
    @Test func `all of a paused bundle stops and waits, and comes back by an alarm when the pause ends`()
        throws
    {
        let rig = SchedulerRig([.sample, .make("com.example.b")])
        let (work, film, other) = (rig.run("p1"), rig.run("export.film"), rig.run("com.example.b.p1"))
        _ = rig.take()
        let end = rig.now.wall + .seconds(600)
        rig.send(.bundlePaused(.sample, Pause(since: rig.now.wall, until: end)))
        #expect(rig.take() == [.expire(work, .paused), .expire(film, .paused)])
        rig.end(work)
        rig.end(film)
        let id = rig.submit("export.song")
        #expect(rig.take() == [])
        #expect(rig.scheduler.waitingFor(id, at: rig.now) == "Paused")
        let veto = try #require(rig.scheduler.explain(id, at: rig.now)?.vetoes.first)
        #expect(
            veto.rationale.first?.sentence
                == "The bundle com.example.a is paused until 2027-01-15T08:10:00Z; it must be resumed")
        #expect(veto.rationale.first?.remedy == "End the pause: bgtask resume com.example.a")
        #expect(rig.wake.wall == end)
        rig.advance(.seconds(600))
        #expect(rig.launched() == ["com.example.a.export.song"])
        _ = other
    }

    @Test func `a pause of all bundles ends with resume, and one of a bundle goes on`() {
        let rig = SchedulerRig()
        rig.send(.pauseChanged(Pause(since: rig.now.wall, until: nil)))
        rig.send(.bundlePaused(.sample, Pause(since: rig.now.wall, until: rig.now.wall + .seconds(60))))
        rig.submit("p1")
        #expect(rig.vetoes("p1") == ["Paused"])
        #expect(rig.wake == Wake())
        rig.advance(.seconds(30))
        rig.send(.pauseChanged(nil))
        #expect(rig.launched() == [])
        #expect(rig.vetoes("p1") == ["Paused"])
        rig.send(.bundlePaused(.sample, nil))
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `bgtask launch starts a task in spite of the pause, and a later pause stops it`() {
        let rig = SchedulerRig()
        rig.send(.pauseChanged(Pause(since: rig.now.wall, until: nil)))
        let id = rig.submit("p1")
        rig.send(.simulate(id))
        #expect(rig.launched() == ["com.example.a.p1"])
        let launch = rig.begin(id)
        rig.advance(.seconds(60))
        #expect(rig.take() == [])
        rig.send(.pauseChanged(nil))
        rig.send(.pauseChanged(Pause(since: rig.now.wall, until: nil)))
        #expect(rig.take() == [.expire(launch, .paused)])
    }

    @Test func `a recap brings the pause of the host to a new scheduler`() throws {
        let rig = SchedulerRig()
        let pause = Pause(since: rig.now.wall, until: rig.now.wall + .seconds(600))
        rig.send(.pauseChanged(pause))
        rig.submit("p1")
        var copy = Scheduler()
        var actions: [SchedulerAction] = []
        let events = try #require(rig.scheduler.recap(at: rig.now.wall))
        for event in events { actions += copy.handle(event, at: rig.now) }
        #expect(copy.pause(at: rig.now.wall) == pause)
        #expect(actions.allSatisfy { !$0.isLaunch })
    }
}

/// The weights of bundles, and the share of a budget that is available at midnight.
@Suite struct WeightTests {
    @Test func `a bundle of weight 3 gets three quarters of the slots, the other one a quarter`() throws {
        var settings = SchedulerSettings.unpaced
        settings.discretionarySlots = 1
        settings.bundleWeights = [try BundleIdentifier("com.example.b"): 3]
        let rig = SchedulerRig([.sample, .make("com.example.b")], settings: settings)
        var counts: [String: Int] = [:]
        for _ in 0..<80 {
            // Each bundle has work all the time.
            for bundle in ["com.example.a", "com.example.b"]
            where rig.scheduler.pendingRequest(of: .sample("\(bundle).p1")) == nil {
                rig.submit("\(bundle).p1")
            }
            let begun = rig.take().compactMap { action -> RequestID? in
                if case .launch(let id, _, _, _) = action { id } else { nil }
            }
            for id in begun {
                counts[rig.stored[id]?.bundle.rawValue ?? "", default: 0] += 1
                let launch = rig.begin(id)
                rig.moments.advance(by: .seconds(1))
                rig.end(launch)
            }
        }
        let (light, heavy) = (counts["com.example.a"] ?? 0, counts["com.example.b"] ?? 0)
        #expect((70...80).contains(100 * heavy / max(1, light + heavy)), "\(counts)")
    }

    @Test func `new weights count at once, and an older recording has none`() throws {
        var account = ServiceAccount()
        account.add(cpu: .seconds(90), at: WallTime(sinceEpoch: .seconds(1_800_000_000)))
        #expect(account.rank(weight: 2) < account.rank(weight: 1))
        let rig = SchedulerRig()
        var settings = rig.scheduler.settings
        settings.bundleWeights = [.sample: 4]
        rig.send(.settingsChanged(settings))
        #expect(rig.scheduler.facts(of: .sample, at: rig.now).weight == 4)
    }

    @Test func `a bundle's own share of its budget is available at midnight`() {
        let rig = SchedulerRig()
        rig.send(.budgetChanged(.sample, launches: 10, cpu: .seconds(100), burst: 1))
        var facts = rig.scheduler.facts(of: .sample, at: rig.now)
        #expect(facts.burst == 1 && facts.launchesByNow == 10 && facts.cpuByNow == .seconds(100))
        // A third of the day has passed. A launch may begin when half of it has been added.
        rig.send(.budgetChanged(.sample, launches: 12, cpu: .seconds(120), burst: 0.25))
        facts = rig.scheduler.facts(of: .sample, at: rig.now)
        #expect(abs(facts.launchesByNow - 5.5) < 0.01)
        #expect(facts.cpuByNow == .seconds(60))
        rig.send(.budgetChanged(.sample, launches: nil, cpu: nil))
        #expect(rig.scheduler.facts(of: .sample, at: rig.now).burst == rig.scheduler.settings.budgetBurst)
    }
}

/// The spread of schedules over the devices of a fleet.
@Suite struct JitterTests {
    private static func jitter(_ schedule: inout Schedule) {
        schedule.jitter = Schedule.Jitter(spread: .seconds(3600), offset: .seconds(600))
    }

    @Test func `a calendar's date comes later by the device's offset, and the next one is the next date`()
        throws
    {
        let timing = Schedule.Timing.calendar(expression: "02:00", timeZone: "UTC")
        let rig = SchedulerRig([CalendarScheduleTests.scheduling(timing, Self.jitter)])
        let (now, offset) = (rig.now.wall, Duration.seconds(600))
        let after = now + .seconds(-600)
        #expect(CalendarScheduleTests.question(rig) == after)
        CalendarScheduleTests.answer(rig, after: after, now + .seconds(100))
        #expect(ScheduleTests.storeAsked(rig) == now + .seconds(100) + offset)
        rig.advance(.seconds(700))
        #expect(rig.launched() == ["com.example.a.refresh"])
        rig.advance(.seconds(20))
        #expect(ScheduleTests.runPending(rig))
        // The next date must be after this one, not after the launch.
        #expect(CalendarScheduleTests.question(rig) == now + .seconds(100))
    }

    @Test func `the first request of a period comes later by the offset`() {
        let rig = SchedulerRig([CalendarScheduleTests.scheduling(.every(.seconds(7200)), Self.jitter)])
        #expect(ScheduleTests.storeAsked(rig) == rig.now.wall + .seconds(600))
    }

    @Test func `places are stable, differ by task, and fill the spread evenly`() throws {
        let jitter = Schedule.Jitter(spread: .seconds(3600))
        let (one, two) = (TaskIdentifier.sample("p1"), TaskIdentifier.sample("p2"))
        #expect(jitter.offset(ofDevice: 7, task: one) == .seconds(2141))
        #expect(jitter.offset(ofDevice: 7, task: one) != jitter.offset(ofDevice: 7, task: two))
        var quarters = [0, 0, 0, 0]
        for device in 0..<4000 {
            let offset = jitter.offset(ofDevice: UInt64(device), task: one)
            #expect(offset >= .zero && offset < jitter.spread)
            quarters[Int(offset.components.seconds) / 900] += 1
        }
        #expect(quarters.allSatisfy { (900...1100).contains($0) }, "\(quarters)")
    }
}
