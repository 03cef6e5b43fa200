import HandlerRegistry
import RequestStore
import Scheduling
import TaskHostTestSupport
import TaskModel
import Testing

@testable import HostCore

/// Faults that random histories found, each in a test of its own.
@Suite struct FoundFaultTests {
    /// A scheduler that has just asked the host to start a request.
    private func starting(
        _ settings: SchedulerSettings, notBefore: WallTime?, at now: Moment
    ) throws -> (Scheduler, RequestID) {
        let identifier = try TaskIdentifier("com.example.a.refresh")
        let request = TaskRequest(
            id: RequestID(rawValue: 1), submission: TaskSubmission(identifier: identifier, origin: .client),
            bundle: try BundleIdentifier("com.example.a"), kind: .appRefresh, submittedAt: now.wall,
            attempt: 2, notBefore: notBefore, deadline: now.wall + .seconds(86_400))
        var scheduler = Scheduler(settings: settings)
        let manifests = VirtualManifests().snapshot.handlers.map(\.manifest)
        let events: [SchedulerEvent] = [
            .handlersChanged(manifests), .conditionsChanged(.simulatedStart), .submitted(request),
        ]
        for event in events { _ = scheduler.handle(event, at: now) }
        #expect(isLaunched(by: scheduler.handle(.started, at: now)))
        return (scheduler, request.id)
    }

    private func isLaunched(by actions: [SchedulerAction]) -> Bool {
        actions.contains { if case .launch(RequestID(rawValue: 1), _, _, _) = $0 { true } else { false } }
    }

    // While the host handles one input, it sends the scheduler further events. If the scheduler launched the
    // request again at one of them, the host would never finish this input.
    @Test func `a start that was not possible waits, though back-offs are shorter`() throws {
        let now = VirtualMoments().now()
        var settings = SchedulerSettings()
        settings.backOffLimit = .seconds(1)
        var (scheduler, id) = try starting(settings, notBefore: nil, at: now)
        let retry = now.wall + HostCore.startRetryDelay
        #expect(!isLaunched(by: scheduler.handle(.launchNotStarted(id, retry: retry), at: now)))
        #expect(isLaunched(by: scheduler.handle(.timePassed, at: now.advanced(by: HostCore.startRetryDelay))))
    }

    @Test
    func `a start that was not possible waits, though its back-off is from before a clock was set back`()
        throws
    {
        let now = VirtualMoments().now()
        var (scheduler, id) = try starting(
            SchedulerSettings(), notBefore: now.wall + .seconds(172_800), at: now)
        let retry = now.wall + HostCore.startRetryDelay
        #expect(!isLaunched(by: scheduler.handle(.launchNotStarted(id, retry: retry), at: now)))
        #expect(isLaunched(by: scheduler.handle(.timePassed, at: now.advanced(by: HostCore.startRetryDelay))))
    }

    @Test func `a request whose start the store refused does not wait for a client that left meanwhile`()
        throws
    {
        var world = VirtualWorld()
        try world.begin()
        world.connect([try IdentifierPattern("com.example.c.export")], process: 7)
        try world.takeInput()
        let identifier = try TaskIdentifier("com.example.c.export")
        world.submit(TaskSubmission(identifier: identifier, origin: .client), from: 7)
        try world.takeInput()
        world.commit()
        while !world.inputs.isEmpty { try world.takeInput() }
        let client = try #require(world.connectedClients.first)
        world.leave(client, isDead: true)
        try world.takeInput()
        world.commit(failing: true)
        while !world.inputs.isEmpty { try world.takeInput() }
        world.commit()
        while !world.inputs.isEmpty { try world.takeInput() }
        #expect(world.core.requests.request(of: identifier) == nil)
        try world.settle()
    }

    /// A world in which a machine that prepares to sleep has a request.
    private func preparingForSleep() throws -> VirtualWorld {
        var world = VirtualWorld()
        try world.begin()
        try settleStore(&world)
        world.inputs.append(.willSleep)
        try settleStore(&world)
        world.call(.submit(TaskSubmission(identifier: try Self.export, origin: .client), from: nil))
        try settleStore(&world)
        return world
    }

    private static var export: TaskIdentifier {
        get throws { try TaskIdentifier("com.example.a.export") }
    }

    private func settleStore(_ world: inout VirtualWorld) throws {
        while !world.inputs.isEmpty || !world.writes.isEmpty {
            while !world.inputs.isEmpty { try world.takeInput() }
            world.commit()
        }
    }

    @Test func `a sleep whose end nobody reports holds launches for 60 s awake and no longer`() throws {
        var world = try preparingForSleep()
        let id = try #require(world.core.requests.request(of: Self.export)?.id)
        #expect(world.core.scheduler.waitingFor(id, at: world.now) == "SystemSleep")
        // Boot time and wall time continue during a sleep, and the monotonic clock does not.
        world.now.boot += .seconds(3600)
        world.now.wall = world.now.wall + .seconds(3600)
        world.ring()
        try settleStore(&world)
        #expect(world.core.isGoingToSleep)
        world.pass(HostCore.longestSleepPreparation - .milliseconds(1))
        world.ring()
        try settleStore(&world)
        #expect(world.core.isGoingToSleep)
        let due = try #require(world.alarm.boot)
        #expect(due <= world.now.boot + .milliseconds(1))
        world.pass(.milliseconds(1))
        world.ring()
        try settleStore(&world)
        #expect(!world.core.isGoingToSleep)
        #expect(world.core.launches.launch(of: try Self.export) != nil)
    }

    @Test func `after waking a request starts at once`() throws {
        var world = try preparingForSleep()
        world.inputs.append(.hasWoken)
        try settleStore(&world)
        #expect(world.core.launches.launch(of: try Self.export) != nil)
    }

    @Test func `the launch of an app that the store refused is asked for again`() throws {
        var world = VirtualWorld()
        try world.begin()
        world.commit(failing: true)
        try world.settle()
        #expect(world.store.facts.launchedApps.count == 1)
    }

    @Test func `a full disk that keeps a bundle's state out is logged once until there is room`() throws {
        var world = VirtualWorld()
        try world.begin()
        func settleStore() throws {
            while !world.inputs.isEmpty || !world.writes.isEmpty {
                while !world.inputs.isEmpty { try world.takeInput() }
                world.commit()
            }
        }
        try settleStore()
        let bundle = try BundleIdentifier("com.example.a")
        func complaints() -> Int { world.errors.count { $0.contains("could not be stored yet") } }
        for outage in 1...2 {
            for _ in 0..<5 {
                world.call(.change(bundle, .used))
                while !world.inputs.isEmpty { try world.takeInput() }
                world.commit(failing: true)
                while !world.inputs.isEmpty { try world.takeInput() }
            }
            #expect(complaints() == outage)
            world.pass(BundleKeeper.patience)
            world.ring()
            try settleStore()
        }
    }

    @Test func `a request whose start a full disk refused waits, in all listings`() throws {
        // The request is stored before its launch, so that only the launch meets the full disk.
        var world = try preparingForSleep()
        let identifier = try Self.export
        world.inputs.append(.hasWoken)
        while !world.inputs.isEmpty { try world.takeInput() }
        world.commit(failing: true)
        while !world.inputs.isEmpty { try world.takeInput() }
        let request = try #require(world.core.scheduler.pendingRequest(of: identifier))
        try #require(request.notBefore != nil)
        let row = world.core.pendingSummaries(after: nil, limit: 10, at: world.now).rows
            .first { $0.request.id == request.id }
        #expect(row?.headline.contains("Starts now") == false, "\(row?.headline ?? "")")
        let pending = world.core.pendingRequest(of: identifier, at: world.now)
        #expect(pending?.headline == row?.headline)
        let told = try world.core.explain(identifier, at: world.now)
        #expect(!told.explanation.mayStart && told.outlook.headline == row?.headline)
    }

    @Test func `a client's request keeps its client while the end of its failed launch is not stored`()
        throws
    {
        var world = VirtualWorld()
        try world.begin()
        world.connect([try IdentifierPattern("com.example.c.work")], process: 7)
        try world.takeInput()
        // The manifest lets failed launches be tried again.
        let identifier = try TaskIdentifier("com.example.c.work")
        world.submit(TaskSubmission(identifier: identifier, origin: .client), from: 7)
        try settleStore(&world)
        let launch = try #require(world.core.launches.launch(of: identifier)?.record.id)
        world.report(launch, .complete(success: false, message: nil), process: 7)
        while !world.inputs.isEmpty { try world.takeInput() }
        world.commit(failing: true)
        while !world.inputs.isEmpty { try world.takeInput() }
        try #require(world.core.unsavedEnds.count == 1)
        world.pass(HostCore.storeRetryDelay)
        world.ring()
        try settleStore(&world)
        let request = try #require(world.core.requests.request(of: identifier))
        #expect(request.attempt == 2)
        #expect(world.core.requests.clients[request.id] != nil)
        try world.settle()
    }

    @Test func `a request that comes after another one starts when that has ended, in spite of a restart`()
        throws
    {
        var world = VirtualWorld()
        try world.begin()
        let identifier = try Self.export
        var submission = TaskSubmission(identifier: identifier, origin: .client)
        world.call(.submit(submission, from: nil))
        try settleStore(&world)
        let first = try #require(world.core.launches.launch(of: identifier)?.record)
        submission.ifPending = .append
        world.call(.submit(submission, from: nil))
        try settleStore(&world)
        let next = try #require(world.core.requests.appended(to: identifier))
        #expect(next.after == first.request)
        #expect(world.core.explain(next, at: world.now).vetoes.first?.policy == "Order")
        #expect(
            world.core.pendingSummaries(after: nil, limit: 9, at: world.now).rows.first?.reason?.policy
                == "Order")
        try world.settle()
        let launches = world.store.launches(identifier: identifier, limit: 9, before: nil)
        #expect(launches.map(\.request).first == next.id)
    }

    @Test func `a pause survives the host, and one that has ended does not`() throws {
        var world = VirtualWorld()
        try world.begin()
        let end = world.now.wall + .seconds(600)
        world.call(.pause(.until(end)))
        try settleStore(&world)
        #expect(world.store.facts.pause?.until == end)
        world.kill()
        try world.begin()
        #expect(world.core.scheduler.pause(at: world.now.wall)?.until == end)
        world.kill()
        world.pass(.seconds(600))
        try world.begin()
        #expect(world.core.scheduler.pause(at: world.now.wall) == nil)
        try world.settle()
    }

    /// A world in which a request waits for the running or pending request of its identifier.
    private func appended(
        after hold: (inout VirtualWorld) -> Void = { _ in }, deadline: Duration? = nil
    ) throws -> (VirtualWorld, TaskRequest) {
        var world = VirtualWorld()
        try world.begin()
        hold(&world)
        let identifier = try Self.export
        var submission = TaskSubmission(identifier: identifier, origin: .client)
        world.call(.submit(submission, from: nil))
        try settleStore(&world)
        submission.ifPending = .append
        submission.startDeadline = deadline.map {
            StartDeadline(date: world.now.wall + $0, action: .fail)
        }
        world.call(.submit(submission, from: nil))
        try settleStore(&world)
        return (world, try #require(world.core.requests.appended(to: identifier)))
    }

    @Test func `a request that waits for another one fails at its own deadline`() throws {
        var (world, next) = try appended(deadline: .seconds(600))
        let date = try #require(next.failsAt)
        #expect(world.alarm.wall.map { $0 <= date } == true)
        world.pass(.seconds(600))
        world.ring()
        try settleStore(&world)
        #expect(world.core.requests.appended(to: try Self.export) == nil)
        #expect(world.core.launches.launch(of: try Self.export) != nil)
        try world.settle()
    }

    @Test func `a title that no launch could be given is refused`() throws {
        var world = VirtualWorld()
        try world.begin()
        let identifier = try Self.export
        let titles = ["a\0b", String(repeating: "x", count: 1025)]
        for (title, subtitle) in titles.map({ ($0, "") }) + titles.map({ ("", $0) }) {
            var submission = TaskSubmission(identifier: identifier, origin: .client)
            (submission.title, submission.subtitle) = (title, subtitle)
            world.call(.submit(submission, from: nil))
            try settleStore(&world)
            #expect(world.core.requests.request(of: identifier) == nil)
            #expect(world.core.launches.launch(of: identifier) == nil)
        }
        var submission = TaskSubmission(identifier: identifier, origin: .client)
        submission.title = String(repeating: "x", count: 1024)
        world.call(.submit(submission, from: nil))
        try settleStore(&world)
        #expect(
            world.core.requests.request(of: identifier) != nil
                || world.core.launches.launch(of: identifier) != nil)
    }

    @Test func `a title or the strategy fail is refused for a task that is not continued`() throws {
        var world = VirtualWorld()
        try world.begin()
        let identifier = try TaskIdentifier("com.example.a.powered")
        var (titled, failing) = (
            TaskSubmission(identifier: identifier, origin: .client),
            TaskSubmission(identifier: identifier, origin: .client)
        )
        titled.title = "Cleaning"
        failing.strategy = .fail
        for submission in [titled, failing] {
            world.call(.submit(submission, from: nil))
            try settleStore(&world)
            #expect(world.core.requests.request(of: identifier) == nil)
        }
        world.call(.submit(TaskSubmission(identifier: identifier, origin: .client), from: nil))
        try settleStore(&world)
        #expect(world.core.requests.request(of: identifier) != nil)
    }

    @Test func `a dismissal cancels continued tasks that wait for others, and starts none of them`() throws {
        var (world, next) = try appended(after: { $0.call(.pause(.until(nil))) })
        let first = try #require(next.after)
        #expect(world.core.requests.pending[first] != nil)
        world.call(.change(next.bundle, .dismissed))
        try settleStore(&world)
        #expect(world.core.requests.pending[first] == nil)
        #expect(world.core.requests.pending[next.id] == nil)
        world.call(.pause(.ended))
        try world.settle()
        #expect(world.store.launches(identifier: try Self.export, limit: 9, before: nil).isEmpty)
    }

    // `next` waits for the launch of `first`. A third request comes in between and is cancelled again; then
    // `next` became pending, and `first` could not be put back.
    @Test(arguments: [false, true])
    func `a request that is put back comes before one that waits for it, whatever came in between`(
        isReplaced: Bool
    ) throws {
        var (world, next) = try appended()
        let identifier = try Self.export
        let launch = try #require(world.core.launches.launch(of: identifier)?.record)
        let first = launch.request
        world.call(.submit(TaskSubmission(identifier: identifier, origin: .client), from: nil))
        try settleStore(&world)
        if isReplaced {
            world.call(.submit(TaskSubmission(identifier: identifier, origin: .client), from: nil))
            try settleStore(&world)
        }
        let between = try #require(world.core.requests.request(of: identifier))
        #expect(world.core.requests.appended(to: identifier)?.after == between.id)
        world.call(.cancel(.request(between.id)))
        try settleStore(&world)
        #expect(world.core.requests.appended(to: identifier)?.after == first)
        #expect(world.store.request(next.id)?.request.after == first)
        world.core.launches[launch.id]?.record.expiration = .systemSleep
        world.end(launch.id, LaunchEnd(outcome: .expired, reason: .systemSleep))
        try settleStore(&world)
        #expect(world.store.request(first)?.outcome == nil, "it was put back, or runs again")
        #expect(world.store.request(next.id)?.request.after == first)
        try world.settle()
    }

    @Test func `a condition that comes and goes starts and stops a request ever more rarely`() throws {
        var world = VirtualWorld()
        try world.begin()
        let identifier = try TaskIdentifier("com.example.a.powered")
        world.call(.submit(TaskSubmission(identifier: identifier, origin: .client), from: nil))
        var launches = 0
        func setPower(_ isOn: Bool) throws {
            world.conditions.power = .known(
                isOn ? .mains : PowerCondition(externalPower: false, isCharging: false, batteryPercent: 90))
            world.inputs.append(.conditions(world.conditions))
            try settleStore(&world)
        }
        // The condition changes each second, for two minutes.
        for _ in 0..<60 {
            try setPower(true)
            world.ring()
            try settleStore(&world)
            while !world.work.isEmpty { world.doWork(0) }
            try settleStore(&world)
            // The schedules of the world must not take the slots.
            for other in world.core.launches.all.map(\.record) where other.identifier != identifier {
                world.end(other.id, LaunchEnd(outcome: .succeeded, reason: nil))
            }
            try settleStore(&world)
            world.pass(.seconds(1))
            let launch = world.core.launches.launch(of: identifier)?.record
            if launch != nil { launches += 1 }
            try setPower(false)
            if let launch {
                world.end(launch.id, LaunchEnd(outcome: .expired, reason: .externalPowerLost))
                try settleStore(&world)
            }
            world.pass(.seconds(1))
        }
        let request = try #require(world.core.requests.request(of: identifier))
        #expect(
            (3...7).contains(launches),
            "\(launches) launches; it waits for \(world.core.explain(request, at: world.now).vetoes)")
        let verdict = world.core.explain(request, at: world.now).vetoes.first {
            $0.policy == "EarliestBeginDate"
        }
        #expect(
            verdict?.rationale.first?.observed.contains(
                "conditions stopped several attempts soon after their start, the last one with externalPowerLost"
            )
                == true)
        // Once the condition stays, the request starts when the dwell is over.
        try setPower(true)
        world.pass(FlapBook.longestDwell)
        world.ring()
        try settleStore(&world)
        #expect(world.core.launches.launch(of: identifier) != nil)
    }

    /// A checkpoint in each attempt once reset the count of attempts that conditions stopped.
    @Test func `nor does a checkpoint in each attempt evade that`() throws {
        var world = VirtualWorld()
        try world.begin()
        let identifier = try TaskIdentifier("com.example.a.powered")
        world.call(.submit(TaskSubmission(identifier: identifier, origin: .client), from: nil))
        var launches = 0
        for flip in 0..<219 {
            let isOn = flip.isMultiple(of: 2)
            world.conditions.power = .known(
                isOn ? .mains : PowerCondition(externalPower: false, isCharging: false, batteryPercent: 90))
            world.inputs.append(.conditions(world.conditions))
            try settleStore(&world)
            world.ring()
            try settleStore(&world)
            while !world.work.isEmpty { world.doWork(0) }
            try settleStore(&world)
            for other in world.core.launches.all.map(\.record) where other.identifier != identifier {
                world.end(other.id, LaunchEnd(outcome: .succeeded, reason: nil))
            }
            try settleStore(&world)
            world.pass(.milliseconds(12_000 / 219))
            guard let launch = world.core.launches.launch(of: identifier)?.record else { continue }
            if isOn {
                launches += 1
                world.inputs.append(.launch(.started(launch.id, pid: 7)))
                world.inputs.append(.launch(.ready(launch.id, at: world.now)))
                world.inputs.append(.launch(.checkpoint(launch.id, [UInt8(flip & 255)])))
                try settleStore(&world)
                #expect(world.core.launches.launch(of: identifier)?.record.hasNewCheckpoint == true)
            } else {
                world.end(launch.id, LaunchEnd(outcome: .expired, reason: .externalPowerLost))
                try settleStore(&world)
            }
        }
        #expect(launches == 3)
        #expect(FlapBook.counts(runTime: .seconds(9), gotFurther: true))
        #expect(!FlapBook.counts(runTime: .seconds(10), gotFurther: true))
        #expect(FlapBook.counts(runTime: .seconds(59), gotFurther: false))
        #expect(!FlapBook.counts(runTime: .seconds(60), gotFurther: false))
    }

    @Test func `a handler that submits in a loop is refused, and others are not`() throws {
        var rates = SubmissionRates()
        let (a, b) = (try BundleIdentifier("com.example.a"), try BundleIdentifier("com.example.b"))
        for _ in 0..<600 {
            #expect(rates.take(of: a, perMinute: 600, at: .seconds(5)) == .accepted)
        }
        #expect(
            rates.take(of: a, perMinute: 600, at: .seconds(5))
                == .exceeded(wait: .milliseconds(100), isFirst: true))
        guard case .exceeded(_, isFirst: false) = rates.take(of: a, perMinute: 600, at: .seconds(5)) else {
            Issue.record("the flood is reported twice")
            return
        }
        #expect(rates.take(of: b, perMinute: 600, at: .seconds(5)) == .accepted)
        #expect(rates.take(of: a, perMinute: 600, at: .milliseconds(5100)) == .accepted)
        #expect(rates.take(of: a, perMinute: 600, at: .milliseconds(5100)) != .accepted)

        var world = VirtualWorld()
        try world.begin()
        world.call(.submit(TaskSubmission(identifier: try Self.export, origin: .client), from: nil))
        try settleStore(&world)
        let launch = try #require(world.core.launches.launch(of: try Self.export)?.record.id)
        let refresh = TaskSubmission(
            identifier: try TaskIdentifier("com.example.a.refresh"), origin: .handler)
        let limit = world.core.scheduler.settings.submissionsPerMinute
        let before = world.core.lastRequest
        for _ in 0..<(limit + 50) { world.handlerCall { .submit(launch, call: $0, refresh) } }
        try settleStore(&world)
        #expect(world.core.lastRequest - before <= Int64(limit))
        #expect(world.handlerCalls.isEmpty, "each call has an answer")
        try world.settle()
    }
}
