import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

@Suite struct LaunchWindowTests {
    /// Submits a processing request with a begin date an hour ahead.
    private static func submitInAnHour(_ rig: SchedulerRig, _ name: String = "p1") -> RequestID {
        rig.submit(name) { $0.earliestBeginDate = rig.now.wall + .seconds(3600) }
    }

    @Test func `the host wakes a quarter of the asked time after the begin date, and at most 15 min`() {
        for (asked, delay) in [(60, 15), (3600, 900), (86_400, 900)] {
            let rig = SchedulerRig()
            let begin = rig.now.wall + .seconds(asked)
            rig.submit("p1") { $0.earliestBeginDate = begin }
            #expect(rig.wake == Wake(wall: begin + .seconds(delay)))
            rig.advance(.milliseconds((asked + delay) * 1000 - 1))
            #expect(rig.launched() == ["com.example.a.p1"], "an event in the window is enough")
        }
    }

    @Test func `without another event, a request starts with its alarm`() {
        let rig = SchedulerRig()
        _ = Self.submitInAnHour(rig)
        rig.moments.advance(by: .milliseconds(3600 * 1000 + 900 * 1000))
        #expect(rig.wake.wall == rig.now.wall)
        rig.send(.timePassed)
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `before its begin date, no event starts it`() {
        let rig = SchedulerRig()
        _ = Self.submitInAnHour(rig)
        rig.moments.advance(by: .milliseconds(3600 * 1000 - 1))
        rig.change { $0.power = PolicyTests.battery(80) }
        #expect(rig.launched() == [])
        rig.moments.advance(by: .milliseconds(1))
        rig.change { $0.power = PolicyTests.battery(79) }
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `with a delay of 0, the host wakes at the begin date`() {
        var settings = SchedulerSettings.unpaced
        settings.wakeDelay = .zero
        let rig = SchedulerRig(settings: settings)
        _ = Self.submitInAnHour(rig)
        #expect(rig.wake.wall == rig.now.wall + .seconds(3600))
    }

    @Test func `no alarm is delayed for a push, a further attempt or a user`() throws {
        let settings = SchedulerSettings()
        var submission = TaskSubmission(identifier: .sample("x"), origin: .client)
        submission.earliestBeginDate = WallTime(sinceEpoch: .seconds(3600))
        func window(_ kind: TaskKind, attempt: Int = 1) -> LaunchWindow {
            let request = TaskRequest(
                id: RequestID(rawValue: 1), submission: submission, bundle: .sample, kind: kind,
                submittedAt: WallTime(sinceEpoch: .zero), attempt: attempt, notBefore: nil,
                deadline: WallTime(sinceEpoch: .seconds(86_400)))
            return LaunchWindow(request, settings)
        }
        #expect(window(.processing).wake - window(.processing).ripe == .seconds(900))
        #expect(window(.push).wake == window(.push).ripe)
        #expect(window(.processing, attempt: 2).wake == window(.processing, attempt: 2).ripe)
        #expect(window(.continuedProcessing).wake == window(.continuedProcessing).ripe)
        submission.earliestBeginDate = nil
        #expect(window(.processing).wake == window(.processing).ripe)
    }

    /// The store keeps a request's deadline, and not the window that the submission named.
    @Test func `an activity keeps its window when it is stored, and one without an interval has none`() {
        let rig = SchedulerRig()
        func window(_ end: Duration?) -> LaunchWindow {
            var submission = TaskSubmission(identifier: .sample("x"), origin: .handler)
            submission.earliestBeginDate = rig.now.wall + .seconds(3600)
            submission.deadline = end.map { rig.now.wall + $0 }
            let settings = rig.scheduler.settings
            let terms = RequestTerms(
                bundle: .sample, kind: .activity, acceptedAt: rig.now.wall,
                deadline: settings.deadline(for: submission, kind: .activity, at: rig.now), pendingLimit: nil)
            return LaunchWindow(terms.request(RequestID(rawValue: 1), of: submission), settings)
        }
        let given = window(.seconds(3 * 3600))
        #expect(given.isGiven)
        // Shortly before the end, because the launch may have to wait for a slot.
        #expect(given.wake == rig.now.wall + .seconds(3 * 3600 - 60))
        #expect(!window(nil).isGiven)
        #expect(window(nil).wake == rig.now.wall + .seconds(4500))
    }

    @Test func `explain says until when a request waits for other work, and what starts it now`() throws {
        let rig = SchedulerRig()
        let id = Self.submitInAnHour(rig)
        #expect(rig.vetoes("p1") == ["EarliestBeginDate"])
        rig.moments.advance(by: .seconds(3601))
        #expect(rig.vetoes("p1") == ["Window"])
        #expect(rig.scheduler.waitingFor(id, at: rig.now) == "Window")
        let request = try #require(rig.scheduler.pendingRequest(of: .sample("p1")))
        let verdict = try #require(rig.scheduler.blockingFactor(of: request, at: rig.now))
        #expect(verdict.rationale.first?.earliestChange == rig.wake.wall)
        #expect(verdict.rationale.first?.remedy?.contains("bgtask launch com.example.a.p1") == true)
        rig.send(.simulate(id))
        #expect(rig.launched() == ["com.example.a.p1"])
    }

    @Test func `twenty schedules with overlapping windows need one alarm a period`() {
        let manifests = (10..<30).map {
            Manifest.make("com.example.b\($0)")
                .scheduling("refresh", every: .seconds(1800), tolerance: .seconds(900))
        }
        let rig = SchedulerRig(manifests)
        var (alarms, launches) = (0, 0)
        let end = rig.now.wall + .seconds(86_400)
        while rig.now.wall < end {
            settle(rig, &launches)
            guard let next = rig.wake.wall else { break }
            rig.moments.advance(by: next - rig.now.wall)
            alarms += 1
            rig.send(.timePassed)
        }
        #expect((20 * 47...20 * 49).contains(launches), "\(launches) launches")
        #expect(alarms <= 50, "\(alarms) alarms")
    }

    /// Stores all requests that schedules ask for, and runs all launches, each for a second.
    private func settle(_ rig: SchedulerRig, _ launches: inout Int) {
        while true {
            let actions = rig.take()
            if actions.isEmpty { return }
            for action in actions {
                switch action {
                case .submitScheduled(let identifier, _, let earliest, let deadline):
                    var submission = TaskSubmission(identifier: identifier, origin: .schedule)
                    submission.earliestBeginDate = earliest
                    rig.store(submission, deadline: deadline)
                case .launch(let id, _, _, _):
                    launches += 1
                    let launch = rig.begin(id)
                    rig.moments.advance(by: .seconds(1))
                    rig.end(launch)
                default: break
                }
            }
        }
    }

    /// The tolerance is 5 min. Otherwise, a task that its budget holds for a quarter of an hour would leave
    /// the wake-ups that it shares with others.
    @Test func `a launch up to 62 percent of its period late keeps the next date, a later one moves it`() {
        for (late, next) in [(0, 3600), (300, 3600), (1800, 3600), (2232, 3600), (2233, 5833)] {
            let rig = SchedulerRig([ScheduleTests.hourly])
            let start = rig.now.wall
            rig.change { $0.lowPowerMode = .known(true) }
            ScheduleTests.storeAsked(rig)
            rig.moments.advance(by: .seconds(late))
            rig.change { $0.lowPowerMode = .known(false) }
            #expect(rig.launched() == ["com.example.a.refresh"])
            #expect(ScheduleTests.runPending(rig))
            #expect(ScheduleTests.storeAsked(rig) == start + .seconds(next), "\(late) s late")
        }
    }

    @Test(arguments: [
        20, 25, 30, 35, 40, 45, 50, 60, 75, 80, 90, 100, 120, 180, 240, 300, 360, 480, 720, 1440,
    ])
    func
        `a launch that a budget held has half a minute for a slot, and keeps or moves its date as without it`(
            minutes: Int64
        )
    {
        let schedule = Schedule(every: .seconds(minutes * 60), tolerance: .seconds(300))
        let date = WallTime(sinceEpoch: .seconds(1_800_000_000))
        for late in stride(from: Int64(0), to: minutes * 60, by: 300) {
            let bases = [0, 6, 29].map {
                schedule.base(of: date + .seconds(late + $0), scheduled: date) == date
            }
            #expect(Set(bases).count == 1, "\(late) s late")
        }
    }
}
