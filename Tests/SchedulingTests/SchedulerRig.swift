import TaskHostTestSupport
import TaskModel

@testable import Scheduling

/// A scheduler with a clock that the test moves.
///
/// The rig answers the scheduler's requests for CPU time; the test reports the starts and ends of launches.
final class SchedulerRig {
    var scheduler: Scheduler
    let moments = VirtualMoments()
    var conditions = Conditions.simulatedStart
    /// The scheduler's actions since the last ``take()``.
    private var said: [SchedulerAction] = []
    /// The newest wake that the scheduler asked for.
    private(set) var wake = Wake()
    /// The CPU time of each launch, which the rig reports when the scheduler asks for a measurement.
    var cpuTimes: [LaunchID: Duration] = [:]
    private var nextRequest: Int64 = 0
    private var nextLaunch: Int64 = 0
    /// The requests in the store, by number.
    private(set) var stored: [RequestID: TaskRequest] = [:]
    /// The running launches.
    private(set) var running: [LaunchID: TaskRequest] = [:]

    /// Starts a scheduler with manifests. The scheduler takes no action yet, unless a schedule needs a
    /// request.
    ///
    /// The standard settings of this rig limit no identifier's rate, so a test may launch one repeatedly at
    /// one moment.
    init(_ manifests: [Manifest] = [.sample], settings: SchedulerSettings = .unpaced) {
        scheduler = Scheduler(settings: settings)
        send(.handlersChanged(manifests))
        send(.conditionsChanged(conditions))
        send(.started)
    }

    init(unstarted: Void) { scheduler = Scheduler() }

    var now: Moment { moments.now() }

    @discardableResult
    func send(_ event: SchedulerEvent) -> [SchedulerAction] {
        let actions = scheduler.handle(event, at: now)
        for action in actions { if case .wake(let instants) = action { wake = instants } }
        said += actions
        for case .measureCPU(let id) in actions { send(.cpuMeasured(id, cpuTimes[id] ?? .zero)) }
        return actions
    }

    /// The actions since the last call, without wakes, saves, measurements and questions. Expirations are
    /// without their explanations.
    func take() -> [SchedulerAction] {
        defer { said = [] }
        return said.compactMap { action in
            switch action {
            case .wake, .saveBundleState, .measureCPU, .ask: nil
            case .expire(let id, let reason, _): .expire(id, reason)
            default: action
            }
        }
    }

    /// All actions since the last call.
    func takeAll() -> [SchedulerAction] {
        defer { said = [] }
        return said
    }

    /// The identifiers that were launched since the last call.
    func launched() -> [String] {
        take().compactMap { action in
            guard case .launch(let id, _, _, _) = action else { return nil }
            return stored[id]?.identifier.rawValue ?? "\(id)"
        }
    }

    @discardableResult
    func submit(_ name: String, _ change: (inout TaskSubmission) -> Void = { _ in }) -> RequestID {
        var submission = TaskSubmission(identifier: TaskIdentifier.sample(name), origin: .client)
        change(&submission)
        return store(submission)
    }

    @discardableResult
    func store(_ submission: TaskSubmission, deadline: WallTime? = nil) -> RequestID {
        nextRequest += 1
        let owner = scheduler.situation.permits.owner(of: submission.identifier)
        let request = TaskRequest(
            id: RequestID(rawValue: nextRequest), submission: submission,
            bundle: owner?.manifest.bundle ?? .sample, kind: owner?.declaration.kind ?? .processing,
            submittedAt: now.wall, attempt: 1, notBefore: nil,
            deadline: deadline ?? scheduler.settings.deadline(for: submission, at: now))
        stored[request.id] = request
        send(.submitted(request))
        return request.id
    }

    /// Records the launch of a request. If `ready` is true, its handler begins.
    @discardableResult
    func begin(_ request: RequestID, ready: Bool = true) -> LaunchID {
        nextLaunch += 1
        let id = LaunchID(rawValue: nextLaunch)
        running[id] = stored[request]
        send(.launchStarted(id, request))
        if ready { send(.launchReady(id)) }
        return id
    }

    /// Submits a request that must start immediately, and begins its launch.
    func run(_ name: String, _ change: (inout TaskSubmission) -> Void = { _ in }) -> LaunchID {
        begin(submit(name, change))
    }

    func end(_ id: LaunchID, putBack: TaskRequest? = nil) {
        running[id] = nil
        if let putBack { stored[putBack.id] = putBack }
        send(.launchEnded(id, putBack: putBack))
    }

    func advance(_ duration: Duration) {
        moments.advance(by: duration)
        send(.timePassed)
    }

    func change(_ edit: (inout Conditions) -> Void) {
        edit(&conditions)
        send(.conditionsChanged(conditions))
    }

    /// The names of the policies that veto the pending request of an identifier.
    func vetoes(_ name: String) -> [String] {
        guard let request = scheduler.pendingRequest(of: .sample(name)) else { return [] }
        return scheduler.explain(request.id, at: now)?.vetoes.map(\.policy) ?? []
    }
}

extension TaskIdentifier {
    /// The identifier `com.example.a.NAME`, or NAME itself if it begins with `com.`.
    static func sample(_ name: String) -> TaskIdentifier {
        try! TaskIdentifier(name.hasPrefix("com.") ? name : "com.example.a.\(name)")
    }
}

extension SchedulerSettings {
    /// The standard settings, but without a rate for single identifiers.
    static var unpaced: Self {
        var settings = Self()
        settings.launchSpacing = .zero
        settings.launchesPerHour = .max
        return settings
    }
}

extension BundleIdentifier {
    static let sample = try! BundleIdentifier("com.example.a")
}

extension Manifest {
    /// The bundle `com.example.a` with the tasks `refresh`, `p1` … `p9` (processing), `powered`, `networked`
    /// and `export.*` (continued).
    static let sample = make("com.example.a")

    static func make(_ bundle: String, _ change: (inout Manifest) -> Void = { _ in }) -> Manifest {
        func task(_ name: String, _ kind: TaskKind) -> TaskDeclaration {
            TaskDeclaration(pattern: try! IdentifierPattern("\(bundle).\(name)"), kind: kind)
        }
        var tasks = [task("refresh", .appRefresh), task("export.*", .continuedProcessing)]
        tasks += (1...9).map { task("p\($0)", .processing) }
        var powered = task("powered", .processing)
        powered.requiresExternalPower = true
        var networked = task("networked", .processing)
        networked.requiresNetworkConnectivity = true
        var manifest = Manifest(
            bundle: try! BundleIdentifier(bundle), library: "libSample.so", modes: [.fetch, .processing],
            tasks: tasks + [powered, networked], sandbox: SandboxDeclaration(gpu: true))
        change(&manifest)
        return manifest
    }

    /// A copy with a schedule for one task.
    func scheduling(_ name: String, every: Duration, tolerance: Duration = .zero) -> Manifest {
        var copy = self
        for index in copy.tasks.indices where copy.tasks[index].pattern.base.rawValue.hasSuffix("." + name) {
            copy.tasks[index].schedule = Schedule(every: every, tolerance: tolerance)
        }
        return copy
    }
}

extension SchedulerAction {
    var isLaunch: Bool { if case .launch = self { true } else { false } }
}
