import Scheduling
import TaskModel

/// What the scheduler's decisions cost, by the number of pending requests; nothing here waits or does I/O.
struct SchedulingBenchmark {
    private let clock = ContinuousClock()
    private static let tasksPerBundle = 10

    func run() {
        print(
            "\nScheduling, by pending requests (us): first pass; power comes for all; one event; explain one")
        print(
            cell("pending", 12) + cell("started", 12) + cell("power comes", 14) + cell("submit", 12)
                + cell("progress", 12) + cell("timePassed", 12) + cell("explain", 12))
        for count in [1000, 10_000, 100_000] { measure(count) }
    }

    private func measure(_ count: Int) {
        let bundles = max(1, count / Self.tasksPerBundle)
        let start = Moment(
            boot: .seconds(1000), monotonic: .seconds(1000), wall: WallTime(milliseconds: 1_800_000_000_000))
        var scheduler = Scheduler()
        var conditions = Conditions.simulatedStart
        conditions.power = .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 80))
        _ = scheduler.handle(.handlersChanged((0..<bundles).map(Self.manifest)), at: start)
        _ = scheduler.handle(.conditionsChanged(conditions), at: start)
        for number in 0..<count {
            _ = scheduler.handle(.submitted(Self.request(number, bundles, start)), at: start)
        }

        // Every request waits for power: the first pass looks at each.
        let first = time { _ = scheduler.handle(.started, at: start) }
        conditions.power = .known(.mains)
        var actions: [SchedulerAction] = []
        let power = time { actions = scheduler.handle(.conditionsChanged(conditions), at: start) }
        var launches: Int64 = 0
        for case .launch(let id, _, _, _) in actions {
            launches += 1
            _ = scheduler.handle(.launchStarted(LaunchID(rawValue: launches), id), at: start)
        }
        var (submit, progress, passed, explain) = (Samples(), Samples(), Samples(), Samples())
        for step in 1...500 {
            let now = start.advanced(by: .milliseconds(step))
            let request = Self.request(count + step, bundles, start)
            submit.add(time { _ = scheduler.handle(.submitted(request), at: now) })
            let report = TaskProgress(completed: Int64(step), total: 500)
            progress.add(time { _ = scheduler.handle(.progressed(LaunchID(rawValue: 1), report), at: now) })
            passed.add(time { _ = scheduler.handle(.timePassed, at: now) })
            explain.add(time { _ = scheduler.explain(request.id, at: now) })
        }
        let cells = [submit, progress, passed, explain].map { cell(decimal($0.median / 1000), 12) }
        print(
            cell("\(count)", 12) + cell(decimal(microseconds(first), 0), 12)
                + cell(decimal(microseconds(power), 0), 14) + cells.joined())
    }

    private func time(_ work: () -> Void) -> Duration { clock.measure(work) }

    private func microseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) * 1e6 + Double(attoseconds) * 1e-12
    }

    private static func manifest(_ number: Int) -> Manifest {
        let pattern = identifier("com.example.b\(number).*", IdentifierPattern.init)
        var task = TaskDeclaration(pattern: pattern, kind: .processing)
        task.requiresExternalPower = true
        return Manifest(
            bundle: identifier("com.example.b\(number)", BundleIdentifier.init), library: "libB.so",
            modes: [.processing], tasks: [task], sandbox: SandboxDeclaration())
    }

    private static func request(_ number: Int, _ bundles: Int, _ now: Moment) -> TaskRequest {
        let bundle = "com.example.b\(number % bundles)"
        let submission = TaskSubmission(
            identifier: identifier("\(bundle).t\(number)", TaskIdentifier.init), origin: .client)
        return TaskRequest(
            id: RequestID(rawValue: Int64(number) + 1), submission: submission,
            bundle: identifier(bundle, BundleIdentifier.init), kind: .processing, submittedAt: now.wall,
            attempt: 1, notBefore: nil, deadline: now.wall + .seconds(86_400 + number % 1000))
    }

    private static func identifier<Name>(
        _ text: String, _ make: (String) throws(IdentifierError) -> Name
    ) -> Name {
        do { return try make(text) } catch { preconditionFailure("\(error)") }
    }
}
