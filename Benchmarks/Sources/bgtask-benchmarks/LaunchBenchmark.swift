import Foundation
import Launching
import LinuxSystem
import TaskModel

/// Launch latency through the host's own `TaskLauncher`, alternately with a bare fork and a posix_spawn.
struct LaunchBenchmark {
    let folder: String
    let runner: String
    /// The path of a plugin that uses the module `BackgroundTasks`.
    ///
    /// Its task `org.example.features.one` runs one Swift task and completes.
    let app: String

    /// A way to launch a plugin.
    private struct Variant {
        let name: String
        /// An absolute path, or the name of a file beside this program.
        let library: String
        let isFresh: Bool
        let hash: String
        var ready = Samples()
        var ended = Samples()
        /// The time from the order to *ready*, for launches in a burst.
        var readyInBurst = Samples()
        /// The time from the orders of a burst to its last end.
        var bursts = Samples()
    }

    private static let rounds = 5
    private static let perRound = 40
    /// The number of orders in a burst, and the number of bursts in a round.
    private static let burst = 8
    private static let burstsPerRound = 5

    func run() async throws {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
        var variants = [
            Variant(name: "C plugin, template", library: "libBenchmarkC.so", isFresh: false, hash: "c"),
            Variant(
                name: "Swift plugin, template", library: "libBenchmarkSwift.so", isFresh: false, hash: "s"),
            Variant(name: "Swift app, template", library: app, isFresh: false, hash: "a"),
            Variant(name: "C plugin, spawn", library: "libBenchmarkC.so", isFresh: true, hash: "c"),
            Variant(name: "Swift plugin, spawn", library: "libBenchmarkSwift.so", isFresh: true, hash: "s"),
        ]
        let (stream, continuation) = AsyncStream.makeStream(of: LaunchEvent.self)
        let launcher = TaskLauncher(
            configuration: .init(runnerPath: runner, stateDirectory: folder, moments: SystemClocks())
        ) { continuation.yield($0) }
        try await launcher.start()
        var events = stream.makeAsyncIterator()
        var number: Int64 = 0
        var floor = Floor()
        for round in 0...Self.rounds {
            try floor.sample(Self.perRound)
            for index in variants.indices {
                // The first round loads the templates; its times do not count.
                for _ in 0..<(round == 0 ? 5 : Self.perRound) {
                    number += 1
                    let order = try order(number, variants[index], products)
                    let (ready, ended) = try await measure(order, launcher, &events)
                    guard round > 0 else { continue }
                    variants[index].ready.add(ready)
                    variants[index].ended.add(ended)
                }
                guard !variants[index].isFresh, round > 0 else { continue }
                for _ in 0..<Self.burstsPerRound {
                    let orders = try (1...Self.burst).map {
                        try self.order(number + Int64($0), variants[index], products)
                    }
                    number += Int64(Self.burst)
                    let (ready, ended) = try await measureBurst(orders, launcher, &events)
                    for time in ready { variants[index].readyInBurst.add(time) }
                    variants[index].bursts.add(ended)
                }
            }
        }
        await launcher.shutDown()
        show(variants, floor, isolation: "\(launcher.isolation.groupKill)")
    }

    private func order(_ number: Int64, _ variant: Variant, _ products: String) throws -> LaunchOrder {
        let isApp = variant.hash == "a"
        let identifier = try TaskIdentifier(
            isApp ? "org.example.features.one" : "org.example.bench.\(variant.hash)")
        let bundle = try BundleIdentifier("org.example.bench-\(variant.hash)")
        let library = isApp ? variant.library : "\(products)/\(variant.library)"
        let now = SystemClocks().now().wall
        let request = TaskRequest(
            id: RequestID(rawValue: number),
            submission: TaskSubmission(identifier: identifier, origin: .client), bundle: bundle,
            kind: .processing, submittedAt: now, attempt: 1, notBefore: nil, deadline: now)
        let record = LaunchRecord(
            id: LaunchID(rawValue: number), request: request, token: number, startedAt: now, isolation: "",
            libraryHash: variant.hash, isSimulated: false)
        let declaration = TaskDeclaration(
            pattern: IdentifierPattern(exactly: identifier), kind: .processing)
        var tasks = [declaration]
        if isApp {
            let other = try TaskIdentifier("org.example.features.all")
            tasks.insert(
                TaskDeclaration(pattern: IdentifierPattern(exactly: other), kind: .processing), at: 0)
        }
        var order = LaunchOrder(
            begun: BegunLaunch(record: record, checkpoint: nil, lastSuccess: nil), request: request,
            handler: PermittedHandler(
                manifestPath: "bench.yaml",
                manifest: Manifest(
                    bundle: bundle, library: library, modes: [.processing], tasks: tasks,
                    sandbox: SandboxDeclaration()),
                libraryPath: library, libraryHash: variant.hash),
            declaration: declaration,
            place: LaunchPlace(dataDirectory: folder, temporaryDirectory: folder), environment: [],
            // This is the priority that the host gives to deferrable launches.
            priority: .discretionary)
        order.isFresh = variant.isFresh
        return order
    }

    /// Launches one task and waits for its end.
    ///
    /// Returns the times from the order to *ready* and to the end.
    private func measure(
        _ order: LaunchOrder, _ launcher: TaskLauncher, _ events: inout AsyncStream<LaunchEvent>.Iterator
    ) async throws -> (ready: Duration, ended: Duration) {
        let clock = SystemClocks()
        let start = clock.now().monotonic
        var ready: Duration?
        launcher.launch(order)
        while let event = await events.next() {
            switch event {
            case .ready(order.id, _):
                ready = clock.now().monotonic - start
            case .ended(let ended) where ended.id == order.id:
                guard ended.end.outcome == .succeeded, let ready else {
                    throw BenchmarkError(notSucceeded(ended.end))
                }
                return (ready, clock.now().monotonic - start)
            default:
                continue
            }
        }
        throw BenchmarkError("the launcher's events ended")
    }

    /// Launches all orders at once.
    ///
    /// Returns the times from the orders to each *ready* and to the last end.
    private func measureBurst(
        _ orders: [LaunchOrder], _ launcher: TaskLauncher, _ events: inout AsyncStream<LaunchEvent>.Iterator
    ) async throws -> (ready: [Duration], ended: Duration) {
        let clock = SystemClocks()
        let start = clock.now().monotonic
        var ready: [Duration] = []
        var left = Set(orders.map(\.id))
        for order in orders { launcher.launch(order) }
        while let event = await events.next() {
            switch event {
            case .ready(let id, _) where left.contains(id):
                ready.append(clock.now().monotonic - start)
            case .ended(let ended) where left.contains(ended.id):
                guard ended.end.outcome == .succeeded else {
                    throw BenchmarkError(notSucceeded(ended.end))
                }
                left.remove(ended.id)
                if left.isEmpty { return (ready, clock.now().monotonic - start) }
            default:
                continue
            }
        }
        throw BenchmarkError("the launcher's events ended")
    }

    private func notSucceeded(_ end: LaunchEnd) -> String {
        "a launch ended \(end.outcome): \(end.message ?? "no message")"
    }

    private func show(_ variants: [Variant], _ floor: Floor, isolation: String) {
        print(
            "\nLaunches, one at a time, groups ended by \(isolation) (microseconds; x is times the bare fork)"
        )
        print(cell("", 44, right: false) + cell("median", 12) + cell("p99", 12) + cell("x", 12))
        let base = floor.fork.median
        print(row("bare fork, _exit, wait", floor.fork, floor: base))
        print(row("posix_spawn of a C program, wait", floor.spawn, floor: base))
        for variant in variants {
            print(row("\(variant.name): order to ready seen", variant.ready, floor: base))
            print(row("\(variant.name): order to end seen", variant.ended, floor: base))
        }
        for variant in variants where !variant.isFresh {
            print(row("\(variant.name), \(Self.burst) at once: ready", variant.readyInBurst, floor: base))
            print(row("\(variant.name), \(Self.burst) at once: last end", variant.bursts, floor: base))
        }
    }
}
