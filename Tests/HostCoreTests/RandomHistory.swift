import Launching
import Scheduling
import TaskModel

@testable import HostCore

/// What may go wrong in a random history.
enum VirtualFault: CaseIterable {
    /// A commit fails.
    case fullDisk
    /// Directories can't be made.
    case noDirectory
    /// The host dies, and another one begins.
    case killedHost
    /// The host is stopped, and another one begins.
    case stoppedHost
    /// Tasks crash, fail, or are killed.
    case badTasks
    /// The machine sleeps.
    case sleep
    /// Conditions change.
    case weather
}

/// A history of a host that follows from a seed.
struct RandomHistory {
    let seed: UInt64
    var steps = 120
    var faults = Set(VirtualFault.allCases)

    /// Two bundles: refresh, processing with and without constraints, one that is retried, one that runs at most once.
    static let manifests: [Manifest] = {
        func manifest(_ bundle: String) -> Manifest {
            func task(_ name: String, _ kind: TaskKind, _ change: (inout TaskDeclaration) -> Void = { _ in })
                -> TaskDeclaration
            {
                var task = TaskDeclaration(pattern: try! IdentifierPattern("\(bundle).\(name)"), kind: kind)
                change(&task)
                return task
            }
            return Manifest(
                bundle: try! BundleIdentifier(bundle), library: "lib.so", modes: [.fetch, .processing],
                tasks: [
                    task("refresh", .appRefresh),
                    task("work", .processing) {
                        $0.retry = RetryDeclaration(attempts: 3, backOff: .seconds(30))
                    },
                    task("powered", .processing) { $0.requiresExternalPower = true },
                    task("once", .processing) { $0.isAtMostOnce = true },
                    task("export", .continuedProcessing),
                ], sandbox: SandboxDeclaration())
        }
        return [manifest("com.example.a"), manifest("com.example.b")]
    }()

    /// Plays the history.
    ///
    /// - Throws: The first promise that did not hold.
    func play() throws {
        var random = SeededNumbers(seed: seed)
        var world = VirtualWorld(Self.manifests)
        try world.begin()
        for _ in 0..<steps {
            try step(&world, &random)
            try world.check()
        }
        world.conditions = .simulatedStart
        if world.hasDrained || world.core.phase != .serving {
            try drain(&world)
            try world.begin()
        }
        world.inputs += [.hasWoken, .conditions(world.conditions)]
        try world.settle()
    }

    private func step(_ world: inout VirtualWorld, _ random: inout SeededNumbers) throws {
        func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<34: try world.takeInput()
        case 34..<52: world.commit(failing: faults.contains(.fullDisk) && chance(0.1))
        case 52..<62:
            guard !world.work.isEmpty else { return }
            let index = Int.random(in: 0..<world.work.count, using: &random)
            world.doWork(index, failing: faults.contains(.noDirectory) && chance(0.1))
        case 62..<76: runTask(&world, &random)
        case 76..<88: call(&world, &random)
        case 88..<92:
            world.pass(.milliseconds(Int64.random(in: 1...3_600_000, using: &random)))
            world.ring()
        case 92..<94:
            guard faults.contains(.weather) else { return }
            var conditions = Conditions.simulatedStart
            if chance(0.5) {
                conditions.power = .known(
                    PowerCondition(externalPower: false, isCharging: false, batteryPercent: 50))
            }
            if chance(0.3) { conditions.user = .known(.active) }
            world.conditions = conditions
            world.inputs.append(.conditions(conditions))
        case 94..<95:
            guard faults.contains(.sleep) else { return }
            world.inputs.append(world.core.isGoingToSleep ? .hasWoken : .willSleep)
        case 95..<98:
            guard faults.contains(.killedHost) else { return }
            world.kill()
            world.pass(.seconds(1))
            try world.begin()
        default:
            guard faults.contains(.stoppedHost), chance(0.3) else { return }
            try world.hear(.stop)
            try drain(&world)
            try world.begin()
        }
    }

    /// Lets a host that was stopped come to its end.
    private func drain(_ world: inout VirtualWorld) throws {
        for _ in 0..<2000 where !world.hasDrained {
            if !world.inputs.isEmpty {
                try world.takeInput()
            } else if !world.writes.isEmpty {
                world.commit()
            } else if !world.work.isEmpty {
                world.doWork(0)
            } else if let id = world.tasks.keys.min() {
                world.end(id, LaunchEnd(outcome: .expired, reason: .hostShutdown))
            } else {
                throw BrokenPromise("a host that was stopped never drains")
            }
        }
        if !world.hasDrained { throw BrokenPromise("a host that was stopped goes on for ever") }
        world.kill()
    }

    private func runTask(_ world: inout VirtualWorld, _ random: inout SeededNumbers) {
        func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
        let ids = world.tasks.keys.sorted()
        guard let id = ids.randomElement(using: &random), let task = world.tasks[id] else { return }
        guard task.isReady else {
            world.tasks[id]?.isReady = true
            world.inputs.append(.launch(.started(id, pid: 7)))
            return world.inputs.append(.launch(.ready(id, at: world.now)))
        }
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            world.inputs.append(
                .launch(
                    .progress(id, TaskProgress(completed: Int64.random(in: 0..<9, using: &random), total: 9)))
            )
        case 2: world.inputs.append(.launch(.checkpoint(id, [UInt8.random(in: 0..<9, using: &random)])))
        case 3:
            let name = ["refresh", "work", "powered"].randomElement(using: &random) ?? "work"
            var submission = TaskSubmission(
                identifier: try! TaskIdentifier("\(task.order.bundle).\(name)"), origin: .handler)
            if chance(0.5) { submission.earliestBeginDate = world.now.wall + .seconds(600) }
            world.handlerCall { .submit(id, call: $0, submission) }
        case 4: world.handlerCall { .cancel(id, call: $0, chance(0.5) ? task.order.identifier : nil) }
        case 5 where faults.contains(.badTasks):
            world.end(id, LaunchEnd(outcome: chance(0.5) ? .crashed : .lost, reason: .signal))
        default:
            var end = LaunchEnd(outcome: .succeeded, reason: nil)
            if let expiration = task.expiration {
                end = LaunchEnd(outcome: .expired, reason: expiration)
                end.neverListened = chance(0.3)
            } else {
                end.completion = true
            }
            world.end(id, end)
        }
    }

    private func call(_ world: inout VirtualWorld, _ random: inout SeededNumbers) {
        func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
        let bundle = chance(0.5) ? "com.example.a" : "com.example.b"
        let name = ["refresh", "work", "powered", "once", "export"].randomElement(using: &random) ?? "work"
        let identifier = try! TaskIdentifier("\(bundle).\(name)")
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5:
            var submission = TaskSubmission(identifier: identifier, origin: .client)
            if chance(0.3) { submission.idempotencyKey = "key-\(Int.random(in: 0..<3, using: &random))" }
            if chance(0.3) { submission.earliestBeginDate = world.now.wall + .seconds(900) }
            world.call(.submit(submission, from: nil))
        case 5 where chance(0.5):
            let unknown = try! TaskIdentifier("\(bundle).unknown")
            world.call(
                [
                    .submit(TaskSubmission(identifier: unknown, origin: .client), from: nil),
                    .open(try! BundleIdentifier(bundle)),
                    .push(try! BundleIdentifier(bundle), payload: nil, .considerate),
                    .connect([try! IdentifierPattern("\(bundle).unknown")], process: 7),
                ].randomElement(using: &random)!)
        case 5: world.call(.cancel(.identifier(identifier)))
        case 6: world.call(.simulate(identifier, debug: chance(0.3)))
        case 7: world.call(.expire(.identifier(identifier), .simulated))
        case 8:
            world.call(
                .change(try! BundleIdentifier(bundle), chance(0.5) ? .used : .budget(launches: 40, cpu: nil)))
        default:
            let id = RequestID(rawValue: Int64.random(in: 1..<9, using: &random))
            world.call(.cancel(.request(id)))
        }
    }

    /// A shorter history, or one with fewer kinds of faults, in which a promise is broken too.
    func shrunk() -> RandomHistory {
        var smallest = self
        func fails(_ history: RandomHistory) -> Bool {
            do {
                try history.play()
                return false
            } catch { return true }
        }
        for fault in VirtualFault.allCases {
            var candidate = smallest
            candidate.faults.remove(fault)
            if fails(candidate) { smallest = candidate }
        }
        // Halving: a shorter history that fails is taken, wherever the promise broke.
        var passing = 0
        while passing + 1 < smallest.steps {
            var candidate = smallest
            candidate.steps = (passing + smallest.steps) / 2
            if fails(candidate) { smallest = candidate } else { passing = candidate.steps }
        }
        return smallest
    }
}
