import Foundation
import LinuxSystem
import Synchronization
import TaskHostTestSupport
import TaskModel

@testable import Launching

/// A TaskLauncher with the real runner, in its own folder.
final class LaunchHarness: Sendable {
    struct Stuck: Error, CustomStringConvertible { let description: String }

    /// The observations of one launch.
    struct Sight: Sendable {
        var events: [LaunchEvent] = []
        var end: LaunchEnd?
        var cpuTime = Duration.zero
        var cpuIsLowerBound = false
        var peakMemory: ByteCount?
        var network: NetworkBytes?
    }

    let launcher: TaskLauncher
    /// The clocks of the launcher, which a test can advance.
    let clocks = AdvancedClocks()
    let folder: URL
    let library: String
    /// The user of the orders' bundle; `nil` for the test's user.
    private let bundleUser: UInt32?
    private let endEvents: @Sendable () -> Void
    private let sights = Mutex<[LaunchID: Sight]>([:])
    private let launcherDeaths = Mutex(0)
    private let hasNoLauncher = Mutex(false)

    /// Whether the launcher has reported that no launch can be started at present.
    var isWithoutLauncher: Bool { hasNoLauncher.withLock { $0 } }

    /// Why templates ended while no launch waited for them.
    let templateEnds = Mutex<[String]>([])

    private let lastID = Mutex<Int64>(0)

    init(
        groupKill: GroupKill? = nil, folder: URL? = nil, templateIdleTime: Duration? = nil,
        maximumTemplates: Int? = nil,
        answerTime: Duration? = nil, runner: String = Products.path("bgtask-runner"),
        without layers: Set<SandboxLayer> = [], owner: UInt32? = nil, storageInterval: Duration? = nil,
        bundleUser: UInt32? = nil, processLimit: UInt64? = nil, messageRate: MessageAllowances.Rate? = nil
    ) async throws {
        self.bundleUser = bundleUser
        self.folder =
            folder ?? FileManager.default.temporaryDirectory.appending(path: "launching-\(UUID().uuidString)")
        for name in ["state", "data", "tmp"] {
            try FileManager.default.createDirectory(
                at: self.folder.appending(path: name), withIntermediateDirectories: true)
        }
        library = try PluginCompiler.compile("misbehaves", into: self.folder)
        if let owner {
            try Data().write(to: self.folder.appending(path: "state/launcher.lock"))
            for name in ["state/launcher.lock", "state", "data", "tmp"] {
                try Self.give(self.folder.appending(path: name), to: owner)
            }
        }
        if let bundleUser {
            for name in ["data", "tmp"] { try Self.give(self.folder.appending(path: name), to: bundleUser) }
        }
        var configuration = TaskLauncher.Configuration(
            runnerPath: runner,
            stateDirectory: self.folder.appending(path: "state").path,
            groupKill: groupKill, moments: clocks)
        configuration.withoutLayers = layers
        configuration.users = bundleUser.map { $0...($0 + 99) }
        if let processLimit { configuration.processLimit = processLimit }
        if let messageRate { configuration.messageRate = messageRate }
        if owner != nil { configuration.runsAsRoot = false }
        if let storageInterval { configuration.storageInterval = storageInterval }
        if let templateIdleTime { configuration.templateIdleTime = templateIdleTime }
        configuration.maximumTemplates = maximumTemplates
        if let answerTime { configuration.answerTime = answerTime }
        let (events, continuation) = AsyncStream.makeStream(of: LaunchEvent.self)
        endEvents = { continuation.finish() }
        launcher = TaskLauncher(configuration: configuration) { continuation.yield($0) }
        try await launcher.start()
        Task { [self] in
            for await event in events { note(event) }
        }
    }

    /// Changes the owner of a file; only root can.
    static func give(_ file: URL, to owner: UInt32) throws {
        try FileManager.default.setAttributes(
            [.ownerAccountID: owner, .groupOwnerAccountID: owner], ofItemAtPath: file.path)
    }

    /// Ends the launcher and removes the folder.
    func end() async {
        await launcher.shutDown()
        endEvents()
        try? FileManager.default.removeItem(at: folder)
    }

    /// An order for the fixture's task with this label.
    func order(
        _ what: String, limits: LaunchLimits? = nil, variable: String? = nil, library: String? = nil,
        bundle: String = "com.example"
    ) throws -> LaunchOrder {
        let number = lastID.withLock { last in
            last += 1
            return last
        }
        let limits =
            limits
            ?? LaunchLimits(
                lease: Lease(duration: .seconds(30), gracePeriod: .seconds(1)), cpu: nil,
                memory: .mebibytes(256))
        var order = try LaunchOrder(
            running: "com.example.\(what)", number: number, library: library ?? self.library, limits: limits,
            place: LaunchPlace(
                dataDirectory: folder.appending(path: "data").path,
                temporaryDirectory: folder.appending(path: "tmp").path),
            environment: ["PATH=/usr/bin:/bin"] + [variable].compactMap(\.self), bundle: bundle)
        order.place.user = bundleUser
        return order
    }

    /// Launches a task and waits for its end. With `expire`, the task expires as soon as it is ready.
    func run(_ order: LaunchOrder, expire reason: Reason? = nil) async throws -> Sight {
        launcher.launch(order)
        if let reason {
            try await wait(for: "ready of \(order.record.identifier)") { self.isReady(order.id) }
            launcher.expire(order.id, reason: reason)
        }
        try await wait(for: "end of \(order.record.identifier)") { self.sight(order.id).end != nil }
        return sight(order.id)
    }

    func sight(_ id: LaunchID) -> Sight { sights.withLock { $0[id] ?? Sight() } }
    var deaths: Int { launcherDeaths.withLock { $0 } }

    func isReady(_ id: LaunchID) -> Bool {
        sight(id).events.contains { if case .ready = $0 { true } else { false } }
    }

    func pid(_ id: LaunchID) -> Int32? {
        for case .started(_, let pid) in sight(id).events { return pid }
        return nil
    }

    /// Checks repeatedly until the condition holds; the limit of 60 s is long because machines can be busy.
    func wait(for what: String, until isThere: @Sendable () async -> Bool) async throws {
        let deadline = Date(timeIntervalSinceNow: 60)
        while await !isThere() {
            if Date() > deadline { throw Stuck(description: "\(what) did not come within 60 s") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits until the handler has logged a line, which it does when it listens for its expiration, then
    /// expires the launch. A launch whose handler does not listen yet would end at once.
    func expireOnceItListens(_ id: LaunchID) async throws {
        try await wait(for: "its word") {
            sight(id).events.contains { if case .log = $0 { true } else { false } }
        }
        launcher.expire(id, reason: .simulated)
    }

    private func note(_ event: LaunchEvent) {
        switch event {
        case .launcherDied:
            launcherDeaths.withLock { $0 += 1 }
        case .templateEnded(_, let message):
            templateEnds.withLock { $0.append(message) }
        case .launcherUnavailable:
            hasNoLauncher.withLock { $0 = true }
        case .ended(let ended):
            sights.withLock {
                var sight = $0[ended.id] ?? Sight()
                sight.events.append(event)
                sight.end = ended.end
                sight.cpuTime = ended.cpuTime
                sight.cpuIsLowerBound = ended.cpuIsLowerBound
                sight.peakMemory = ended.peakMemory
                sight.network = ended.network
                $0[ended.id] = sight
            }
        case .started(let id, _), .ready(let id, _), .progress(let id, _), .log(let id, _, _, _, _),
            .output(let id, _, _), .checkpoint(let id, _), .cancel(let id, _, _), .pending(let id, _),
            .sessionCall(let id, _, _),
            .assertionBegan(let id, _, _), .assertionEnded(let id, _), .expiring(let id, _, _),
            .cpuWarning(let id, _), .unkillable(let id), .tracingChanged(let id, _),
            .advice(let id, _, _), .faulted(let id, _), .titleChanged(let id, _, _), .neverListened(let id):
            sights.withLock { $0[id, default: Sight()].events.append(event) }
        case .submit(let id, let call, let submission):
            sights.withLock { $0[id, default: Sight()].events.append(event) }
            launcher.reply(
                id, call: call,
                .failure(
                    SubmissionError(
                        code: .notPermitted, subject: submission.identifier.rawValue,
                        finding: "not permitted",
                        remedy: "Ask")))
        }
    }
}

extension LaunchOrder {
    /// An order as the host makes it for the only task of a bundle.
    ///
    /// - Parameters:
    ///   - identifier: The task.
    ///   - number: The number of the launch, of its request and of its fencing token.
    ///   - library: The plugin's file; `nil` for none.
    ///   - limits: What the task declares.
    ///   - place: The launch's directories.
    ///   - environment: The complete environment of the task's process.
    ///   - bundle: The bundle of the task.
    init(
        running identifier: String, number: Int64, library: String?, limits: LaunchLimits,
        place: LaunchPlace, environment: [String], bundle: String = "com.example"
    ) throws {
        let identifier = try TaskIdentifier(identifier)
        let bundle = try BundleIdentifier(bundle)
        let hash = library.map { _ in "h" }
        let start = WallTime(milliseconds: 1_800_000_000_000)
        var declaration = TaskDeclaration(pattern: IdentifierPattern(exactly: identifier), kind: .processing)
        declaration.limits = limits
        let request = TaskRequest(
            id: RequestID(rawValue: number),
            submission: TaskSubmission(identifier: identifier, origin: .client), bundle: bundle,
            kind: .processing, submittedAt: start, attempt: 1, notBefore: nil, deadline: start)
        let record = LaunchRecord(
            id: LaunchID(rawValue: number), request: request, token: number, startedAt: start,
            isolation: "cgroup", libraryHash: hash, isSimulated: false)
        self.init(
            begun: BegunLaunch(record: record, checkpoint: nil, lastSuccess: nil), request: request,
            handler: PermittedHandler(
                manifestPath: "example.yaml",
                manifest: Manifest(
                    bundle: bundle, library: library, modes: [.processing], tasks: [declaration],
                    sandbox: SandboxDeclaration()),
                libraryPath: library, libraryHash: hash),
            declaration: declaration, place: place, environment: environment,
            priority: .foreground)
    }
}

/// The machine's clocks, ahead of their time by as much as a test wants; timers still run in real time.
final class AdvancedClocks: MomentSource {
    private let lead = Mutex(Duration.zero)

    func now() -> Moment { SystemClocks().now().advanced(by: lead.withLock { $0 }) }

    /// Advances all clocks.
    func advance(by duration: Duration) { lead.withLock { $0 += duration } }
}
