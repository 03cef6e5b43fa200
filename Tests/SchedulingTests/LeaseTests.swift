import TaskHostTestSupport
import TaskModel
import Testing

@testable import Scheduling

@Suite struct LeaseTests {
    static let battery = Reading.known(
        PowerCondition(externalPower: false, isCharging: false, batteryPercent: 80))

    @Test func `a refresh launch expires 30 s after it is ready, not after it was started`() {
        let rig = SchedulerRig()
        let launch = rig.begin(rig.submit("refresh"), ready: false)
        _ = rig.take()
        rig.advance(.seconds(4))
        rig.send(.launchReady(launch))
        #expect(rig.wake == Wake(boot: rig.now.boot + .seconds(30)))
        rig.advance(.milliseconds(29_999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.take() == [.expire(launch, .leaseEnded)])
        rig.advance(.seconds(60))
        #expect(rig.take() == [])
        #expect(rig.wake == Wake())
    }

    @Test func `sleep of the machine uses a lease up, a wall clock that is set does not`() {
        let rig = SchedulerRig()
        let launch = rig.run("refresh")
        _ = rig.take()
        rig.moments.jumpWallClock(by: .seconds(86_400 * 365))
        rig.send(.timePassed)
        rig.moments.jumpWallClock(by: .seconds(-86_400 * 700))
        rig.send(.timePassed)
        #expect(rig.take() == [])
        rig.moments.sleepMachine(for: .seconds(30))
        rig.send(.timePassed)
        #expect(rig.take() == [.expire(launch, .leaseEnded)])
    }

    @Test func `on battery a processing lease ends after 10 min`() {
        let rig = SchedulerRig()
        rig.change { $0.power = Self.battery }
        let launch = rig.run("p1")
        rig.send(.launchActive(launch))
        _ = rig.take()
        rig.advance(.milliseconds(599_999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.take() == [.expire(launch, .leaseEnded)])
    }

    @Test func `on external power it renews every 10 min in which something was seen, else it is noProgress`()
    {
        let rig = SchedulerRig()
        let launch = rig.run("p1")
        _ = rig.take()
        rig.send(.launchActive(launch))
        rig.advance(.seconds(600))
        rig.send(.progressed(launch, TaskProgress(completed: 1, total: 2)))
        rig.advance(.seconds(600))
        #expect(rig.take() == [])
        // A repeated report with the same numbers does not count as progress.
        rig.send(.progressed(launch, TaskProgress(completed: 1, total: 2)))
        rig.advance(.seconds(600))
        #expect(rig.take() == [.expire(launch, .noProgress)])
    }

    @Test func `CPU use alone renews it, as long as each period has some of its own`() {
        let rig = SchedulerRig()
        let launch = rig.run("p1")
        _ = rig.take()
        rig.cpuTimes[launch] = .milliseconds(100)
        rig.advance(.seconds(600))
        #expect(rig.take() == [])
        rig.send(.progressed(launch, TaskProgress(completed: 1, total: 2)))
        rig.cpuTimes[launch] = .milliseconds(5100)
        rig.advance(.seconds(600))
        #expect(rig.take() == [])
        // The CPU time before this point does not count a second time.
        rig.cpuTimes[launch] = .milliseconds(5199)
        rig.advance(.seconds(600))
        #expect(rig.take() == [.expire(launch, .noProgress)])
    }

    @Test func `until its CPU time is known a lease that is due stands, and asks once`() {
        let rig = SchedulerRig()
        let launch = rig.run("p1")
        rig.moments.advance(by: .seconds(600))
        var scheduler = rig.scheduler
        #expect(scheduler.handle(.timePassed, at: rig.now).contains(.measureCPU(launch)))
        #expect(scheduler.handle(.timePassed, at: rig.now) == [])
        #expect(
            scheduler.handle(.cpuMeasured(launch, .milliseconds(99)), at: rig.now)
                .contains { if case .expire(launch, .noProgress, _) = $0 { true } else { false } })
    }

    @Test func `renewals end 8 h after it was ready`() {
        let rig = SchedulerRig()
        let launch = rig.run("p1")
        _ = rig.take()
        for _ in 1..<48 {
            rig.send(.launchActive(launch))
            rig.advance(.seconds(600))
        }
        rig.send(.launchActive(launch))
        rig.advance(.milliseconds(599_999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.take() == [.expire(launch, .leaseEnded)])
    }

    @Test func `a runtime that the manifest sets is not renewed`() {
        let rig = SchedulerRig([
            .make("com.example.a") { manifest in
                for index in manifest.tasks.indices {
                    manifest.tasks[index].limits.lease = Lease(
                        duration: .seconds(2), gracePeriod: .seconds(1))
                }
            }
        ])
        let launch = rig.run("p1")
        rig.send(.launchActive(launch))
        _ = rig.take()
        rig.advance(.seconds(2))
        #expect(rig.take() == [.expire(launch, .leaseEnded)])
    }

    // MARK: Turns

    @Test func `a lease is not renewed while another request waits for the slot`() {
        let rig = SchedulerRig()
        let first = rig.run("p1")
        let second = rig.run("p2")
        rig.advance(.seconds(300))
        rig.submit("p3")
        for launch in [first, second] { rig.send(.launchActive(launch)) }
        rig.advance(.milliseconds(299_999))
        #expect(rig.launched() == ["com.example.a.p1", "com.example.a.p2"])
        rig.advance(.milliseconds(1))
        // One request waits, so one launch ends.
        #expect(rig.take() == [.expire(first, .leaseEnded)])
        rig.send(.launchActive(second))
        rig.advance(.seconds(5))
        #expect(rig.take() == [])
        rig.end(first)
        #expect(rig.launched() == ["com.example.a.p3"])
        rig.advance(.seconds(595))
        #expect(rig.take() == [])
    }

    @Test func `after its turn a launch ends as soon as another request waits only for the slot`() throws {
        let rig = SchedulerRig()
        let first = rig.run("p1")
        let second = rig.run("p2")
        for _ in 0..<5 {
            for launch in [first, second] { rig.send(.launchActive(launch)) }
            rig.advance(.seconds(600))
        }
        _ = rig.takeAll()
        // Something else holds this request.
        rig.submit("p3") { $0.earliestBeginDate = rig.now.wall + .seconds(100) }
        rig.advance(.seconds(99))
        #expect(rig.take() == [])
        // The host wakes for it at the end of its window, although no slot is free.
        #expect(rig.wake.wall == rig.now.wall + .seconds(26))
        rig.advance(.seconds(1))
        let record = try #require(
            rig.takeAll().compactMap { action in
                if case .expire(first, .leaseEnded, let record) = action { record } else { nil }
            }.first)
        #expect(
            record.verdicts.first?.rationale.first?.sentence
                == "The run time is 51 min; it must be at most 10 min, because com.example.a.p3 waits for "
                + "the slot")
    }

    @Test func `a long runtime of a refresh does not hold the short lane`() {
        let rig = SchedulerRig(
            ["com.example.a", "com.example.b", "com.example.c"].map { name in
                .make(name) { manifest in
                    for index in manifest.tasks.indices where name != "com.example.c" {
                        manifest.tasks[index].limits.lease = Lease(
                            duration: .seconds(3600), gracePeriod: .seconds(5))
                    }
                }
            })
        let first = rig.run("com.example.a.refresh")
        _ = rig.run("com.example.b.refresh")
        _ = rig.take()
        rig.advance(.seconds(10))
        rig.submit("com.example.c.refresh")
        rig.advance(.milliseconds(19_999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.take() == [.expire(first, .leaseEnded)])
    }

    /// Bundles with tasks for pushes, whose manifests set a long `runtime`.
    private static func pushed() -> SchedulerRig {
        SchedulerRig(
            ["com.example.a", "com.example.b", "com.example.c"].map { name in
                .make(name) { manifest in
                    var task = TaskDeclaration(
                        pattern: try! IdentifierPattern("\(name).push"), kind: .push)
                    task.limits.lease = Lease(duration: .seconds(3600), gracePeriod: .seconds(5))
                    manifest.tasks.append(task)
                    manifest.modes.insert(.remoteNotification)
                }
            })
    }

    @Test func `a long runtime of urgent pushes does not hold the third one`() {
        let rig = Self.pushed()
        let first = rig.run("com.example.a.push") { $0.pushPriority = .immediate }
        _ = rig.run("com.example.b.push") { $0.pushPriority = .immediate }
        rig.advance(.seconds(10))
        rig.submit("com.example.c.push") { $0.pushPriority = .immediate }
        _ = rig.take()
        rig.advance(.milliseconds(19_999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.take() == [.expire(first, .leaseEnded)])
        rig.end(first)
        #expect(rig.launched() == ["com.example.c.push"])
    }

    /// Nothing else happens after both turns are over, so an alarm must bring the push to its slot.
    @Test func `an urgent push whose date comes after the turns of others has an alarm`() {
        let rig = Self.pushed()
        _ = rig.run("com.example.a.push") { $0.pushPriority = .immediate }
        _ = rig.run("com.example.b.push") { $0.pushPriority = .immediate }
        let date = rig.now.wall + .seconds(50)
        rig.submit("com.example.c.push") {
            $0.pushPriority = .immediate
            $0.earliestBeginDate = date
        }
        rig.advance(.seconds(40))
        #expect(rig.wake.wall.map { $0 <= date + .seconds(1) } == true)
        rig.advance(.seconds(10))
        #expect(rig.take().contains { if case .expire = $0 { true } else { false } })
    }

    /// Otherwise, two pushes that never end would hold both slots for an hour after some attempts.
    @Test(arguments: [1, 4, 7])
    func `the turn of an urgent push does not grow`(attempts: Int) throws {
        let rig = Self.pushed()
        let id = rig.submit("com.example.a.push") { $0.pushPriority = .immediate }
        let launch = rig.begin(id)
        var again = try #require(rig.stored[id])
        (again.attempt, again.attempts.withoutProgress) = (attempts + 1, attempts)
        rig.end(launch, putBack: again)
        let next = rig.begin(id)
        _ = rig.run("com.example.b.push") { $0.pushPriority = .immediate }
        rig.submit("com.example.c.push") { $0.pushPriority = .immediate }
        _ = rig.take()
        rig.advance(.milliseconds(29_999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.take() == [.expire(next, .leaseEnded)])
    }

    @Test func `an attempt that ends after its turn does not use up the budget of the day`() throws {
        let rig = SchedulerRig(
            ["com.example.a", "com.example.b", "com.example.c"].map { name in
                .make(name) { manifest in
                    for index in manifest.tasks.indices {
                        manifest.tasks[index].limits.lease = Lease(
                            duration: .seconds(3600), gracePeriod: .seconds(5))
                    }
                }
            })
        let bundle = try BundleIdentifier("com.example.a")
        let id = rig.submit("com.example.a.refresh")
        let launch = rig.begin(id)
        _ = rig.run("com.example.b.refresh")
        #expect(rig.scheduler.bundleState(bundle).budget.launches == 1)
        rig.submit("com.example.c.refresh")
        rig.advance(.seconds(30))
        #expect(rig.take().contains(.expire(launch, .leaseEnded)))
        var again = try #require(rig.stored[id])
        again.putBack(PutBack(notBefore: nil), at: rig.now.wall)
        rig.end(launch, putBack: again)
        #expect(rig.scheduler.bundleState(bundle).budget.launches == 0)
        // An attempt that ends because its own lease is over counts.
        let other = try BundleIdentifier("com.example.b")
        rig.advance(.seconds(3600))
        #expect(rig.scheduler.bundleState(other).budget.launches == 1)
    }

    @Test func `each attempt that brought nothing doubles the next turn, up to the lease`() throws {
        let manifests = ["com.example.a", "com.example.b"].map { name in
            Manifest.make(name) { manifest in
                for index in manifest.tasks.indices {
                    manifest.tasks[index].limits.lease = Lease(
                        duration: .seconds(3600), gracePeriod: .seconds(5))
                }
            }
        }
        for (attempts, turn) in [(0, 600), (1, 1200), (2, 2400), (3, 3600), (7, 3600)] {
            var settings = SchedulerSettings.unpaced
            settings.discretionarySlots = 1
            let rig = SchedulerRig(manifests, settings: settings)
            let id = rig.submit("com.example.a.p1")
            let launch = rig.begin(id)
            var again = try #require(rig.stored[id])
            (again.attempt, again.attempts.withoutProgress) = (attempts + 1, attempts)
            rig.end(launch, putBack: again)
            let next = rig.begin(id)
            rig.submit("com.example.b.p1")
            _ = rig.take()
            rig.advance(.seconds(turn) - .milliseconds(1))
            #expect(rig.take() == [])
            rig.advance(.milliseconds(1))
            #expect(rig.take() == [.expire(next, .leaseEnded)])
        }
    }

    /// A task of 25 min without checkpoints would otherwise be stopped every 10 min, and fail.
    @Test func `a lease that is renewed does not limit the turn`() throws {
        var settings = SchedulerSettings.unpaced
        settings.discretionarySlots = 1
        let rig = SchedulerRig(settings: settings)
        let id = rig.submit("p1")
        let launch = rig.begin(id)
        var again = try #require(rig.stored[id])
        (again.attempt, again.attempts.withoutProgress) = (2, 1)
        rig.end(launch, putBack: again)
        let next = rig.begin(id)
        rig.submit("p2")
        rig.send(.launchActive(next))
        rig.advance(.seconds(600))
        rig.send(.launchActive(next))
        rig.advance(.seconds(600) - .milliseconds(1))
        #expect(!rig.take().contains(.expire(next, .leaseEnded)))
        rig.advance(.milliseconds(1))
        #expect(rig.take().contains(.expire(next, .leaseEnded)))
    }

    @Test func `a launch by hand keeps its slot for its whole lease`() {
        var settings = SchedulerSettings.unpaced
        settings.discretionarySlots = 1
        let rig = SchedulerRig(settings: settings)
        let launch = rig.run("p1") { $0.origin = .simulated }
        rig.submit("p2")
        rig.send(.launchActive(launch))
        _ = rig.take()
        rig.advance(.seconds(600))
        #expect(rig.take() == [])
    }

    @Test func `a continued launch stalls 60 s after its last change of progress`() {
        let rig = SchedulerRig()
        let launch = rig.run("export.film")
        _ = rig.take()
        rig.advance(.seconds(59))
        rig.send(.progressed(launch, TaskProgress(completed: 1, total: 0)))
        #expect(rig.wake == Wake(boot: rig.now.boot + .seconds(30)))
        rig.advance(.seconds(30))
        #expect(rig.wake == Wake(boot: rig.now.boot + .seconds(30)))
        rig.send(.progressed(launch, TaskProgress(completed: 1, total: 0)))
        rig.advance(.milliseconds(29_999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.take() == [.expire(launch, .noProgress)])
    }

    @Test func `sleep of the machine is no stall`() {
        let rig = SchedulerRig()
        let launch = rig.run("export.film")
        _ = rig.take()
        rig.advance(.seconds(30))
        rig.moments.sleepMachine(for: .seconds(3600))
        rig.send(.timePassed)
        #expect(rig.take() == [])
        #expect(rig.wake == Wake(boot: rig.now.boot + .seconds(30)))
        rig.advance(.seconds(30))
        #expect(rig.take() == [.expire(launch, .noProgress)])
    }

    @Test func `a debugger halts lease and stall`() {
        let rig = SchedulerRig()
        let refresh = rig.run("refresh")
        let film = rig.run("export.film")
        _ = rig.take()
        rig.advance(.seconds(20))
        rig.send(.tracingChanged(refresh, isTraced: true))
        rig.send(.tracingChanged(film, isTraced: true))
        #expect(rig.wake == Wake())
        rig.advance(.seconds(3600))
        rig.send(.tracingChanged(refresh, isTraced: false))
        rig.send(.tracingChanged(film, isTraced: false))
        rig.advance(.milliseconds(9999))
        #expect(rig.take() == [])
        rig.advance(.milliseconds(1))
        #expect(rig.take() == [.expire(refresh, .leaseEnded)])
        rig.advance(.seconds(30))
        #expect(rig.take() == [.expire(film, .noProgress)])
    }

    @Test func `a launch is told to stop once, by whoever is first`() {
        let rig = SchedulerRig()
        let (first, second) = (rig.run("refresh"), rig.run("p1"))
        _ = rig.take()
        rig.send(.expireRequested(first, .cancelledByUser))
        rig.send(.expireRequested(first, .simulated))
        rig.send(.launchExpiring(second))
        rig.send(.expireRequested(second, .simulated))
        rig.advance(.seconds(3600))
        #expect(rig.take() == [.expire(first, .cancelledByUser)])
    }

    @Test func `launches of a handler that goes expire with manifestRemoved, others run on`() {
        let rig = SchedulerRig([.sample, .make("com.example.b")])
        let (gone, stays) = (rig.run("p1"), rig.run("com.example.b.p1"))
        _ = rig.take()
        rig.send(.handlersChanged([.make("com.example.b")]))
        #expect(rig.take() == [.expire(gone, .manifestRemoved)])
        rig.end(stays)
    }
}
