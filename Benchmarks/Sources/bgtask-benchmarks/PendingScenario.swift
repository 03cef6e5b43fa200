import Scheduling
import TaskModel

/// The reason that keeps the pending requests of a benchmark from starting.
enum PendingScenario: String, CaseIterable {
    /// Each request requires external power, and there is none.
    case power = "wait for power"
    /// Each request has its own earliest begin date in the future.
    case dates = "wait for their dates"
    /// Low-power mode is on.
    case lane = "wait for low-power mode"
    /// The user dismissed every bundle.
    case bundles = "bundles dismissed"
    /// No policy vetoes, but no score is high enough.
    case score = "wait for their scores"
    /// All requests may start; two at a time do.
    case slots = "wait for a slot"

    var kind: TaskKind { self == .bundles || self == .score ? .appRefresh : .processing }

    /// The conditions that keep the requests waiting, and those that release them; the same where conditions
    /// do not matter.
    var conditions: (before: Conditions, after: Conditions) {
        let good = Conditions.simulatedStart
        var bad = good
        switch self {
        case .power, .score:
            bad.power = .known(PowerCondition(externalPower: false, isCharging: false, batteryPercent: 30))
            if self == .score { bad.user = .known(.active) }
        case .lane: bad.lowPowerMode = .known(true)
        case .dates, .bundles, .slots: break
        }
        return (bad, good)
    }
}

/// A scheduler before its start, with `count` pending requests, ten for each bundle.
struct PendingSet {
    private static let tasksPerBundle = 10
    let count: Int
    let scenario: PendingScenario
    let start = Moment(
        boot: .seconds(1000), monotonic: .seconds(1000), wall: WallTime(milliseconds: 1_800_000_000_000))
    private var bundles: Int { max(1, count / Self.tasksPerBundle) }

    func load() -> Scheduler {
        var scheduler = Scheduler()
        _ = scheduler.handle(.handlersChanged((0..<bundles).map(manifest)), at: start)
        _ = scheduler.handle(.conditionsChanged(scenario.conditions.before), at: start)
        if scenario == .bundles {
            for number in 0..<bundles {
                var state = BundleState()
                state.dismissedAt = start.wall
                _ = scheduler.handle(.bundleRestored(bundle(number), state), at: start)
            }
        }
        for number in 0..<count { _ = scheduler.handle(.submitted(request(number)), at: start) }
        return scheduler
    }

    func bundle(_ number: Int) -> BundleIdentifier {
        name("com.example.b\(number % bundles)", BundleIdentifier.init)
    }

    func request(_ number: Int) -> TaskRequest {
        let bundle = bundle(number)
        var submission = TaskSubmission(
            identifier: name("\(bundle).t\(number)", TaskIdentifier.init), origin: .client)
        if scenario == .dates { submission.earliestBeginDate = start.wall + .seconds(3600 + number % 80_000) }
        return TaskRequest(
            id: RequestID(rawValue: Int64(number) + 1), submission: submission, bundle: bundle,
            kind: scenario.kind, submittedAt: start.wall, attempt: 1, notBefore: nil,
            deadline: start.wall + .seconds(86_400 + number % 1000))
    }

    private func manifest(_ number: Int) -> Manifest {
        let bundle = bundle(number)
        var task = TaskDeclaration(pattern: name("\(bundle).*", IdentifierPattern.init), kind: scenario.kind)
        task.requiresExternalPower = scenario == .power
        return Manifest(
            bundle: bundle, library: "libB.so", modes: [.processing, .fetch], tasks: [task],
            sandbox: SandboxDeclaration())
    }

    private func name<Name>(_ text: String, _ make: (String) throws(IdentifierError) -> Name) -> Name {
        do { return try make(text) } catch { preconditionFailure("\(error)") }
    }
}
