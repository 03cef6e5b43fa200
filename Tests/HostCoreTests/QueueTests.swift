import HandlerRegistry
import MemoryStore
import Scheduling
import TaskModel
import Testing

@testable import HostCore

/// A task with a queue, from the submission to the last launch.
@Suite struct QueueTests {
    private static let bundle = "com.example.q"
    private static var encode: TaskIdentifier { get throws { try TaskIdentifier("\(bundle).encode") } }
    private static var other: TaskIdentifier { get throws { try TaskIdentifier("\(bundle).other") } }

    private func world(_ change: (inout QueueDeclaration) -> Void = { _ in }) throws -> VirtualWorld {
        var queue = QueueDeclaration()
        queue.concurrency = 2
        queue.order = .priority
        change(&queue)
        var task = TaskDeclaration(pattern: IdentifierPattern(exactly: try Self.encode), kind: .processing)
        task.queue = queue
        task.command = nil
        task.retry = RetryDeclaration(attempts: 2, backOff: .seconds(30))
        let plain = TaskDeclaration(pattern: IdentifierPattern(exactly: try Self.other), kind: .processing)
        let manifest = Manifest(
            bundle: try BundleIdentifier(Self.bundle), library: "lib.so", modes: [.processing],
            tasks: [task, plain], sandbox: SandboxDeclaration())
        var world = VirtualWorld()
        for index in VirtualManifests.bundles.indices { world.manifests.change(index, to: .gone) }
        world.manifests.others = [
            PermittedHandler(
                manifestPath: "/m/q.yaml", manifest: manifest, libraryPath: "/s/libraries/q/lib.so",
                libraryHash: "q")
        ]
        world.copies.insert("q")
        try world.begin()
        try settle(&world)
        return world
    }

    /// Lets the host and its store come to rest, without ending a launch.
    private func settle(_ world: inout VirtualWorld) throws {
        while true {
            if !world.inputs.isEmpty {
                try world.takeInput()
            } else if !world.writes.isEmpty {
                world.commit()
            } else if !world.work.isEmpty {
                world.doWork(0)
            } else {
                return
            }
        }
    }

    @discardableResult
    private func submit(
        _ world: inout VirtualWorld, _ priority: Int? = nil, key: String? = nil
    ) throws -> RequestID? {
        var submission = TaskSubmission(identifier: try Self.encode, origin: .client)
        submission.priority = priority
        submission.idempotencyKey = key
        let last = world.core.lastRequest
        world.call(.submit(submission, from: nil))
        try settle(&world)
        return world.core.lastRequest == last ? nil : RequestID(rawValue: world.core.lastRequest)
    }

    private func running(_ world: VirtualWorld) -> [String] {
        world.tasks.values.map(\.order.request.id).sorted().map(\.description)
    }

    /// Ends every launch under way again and again, until nothing runs; returns the requests in the order of
    /// their launches.
    private func runAll(_ world: inout VirtualWorld) throws -> [String] {
        var order: [String] = []
        while let id = world.tasks.keys.min() {
            order.append(world.tasks[id]?.order.request.id.description ?? "")
            var end = LaunchEnd(outcome: .succeeded, reason: nil)
            end.completion = true
            world.end(id, end)
            try settle(&world)
        }
        return order
    }

    @Test func `no submission replaces another, and two run at a time, in order of priority`() throws {
        var world = try world()
        for priority in [5, 1, 9, 5, 0, 9] { try submit(&world, priority) }
        // The first two started at once.
        #expect(running(world) == ["R1", "R2"])
        #expect(try runAll(&world) == ["R1", "R2", "R3", "R6", "R4", "R5"])
        #expect(world.store.pendingRequests.isEmpty)
    }

    @Test func `a host that is killed loses no request and no order`() throws {
        var world = try world()
        for priority in [5, 1, 9, 5, 0, 9] { try submit(&world, priority) }
        world.kill()
        try world.begin()
        try settle(&world)
        #expect(world.store.pendingRequests.count + world.tasks.count == 6)
        // What was lost waits for its back-off; then it has its old place.
        var order = try runAll(&world)
        while order.count < 6 {
            let next = try #require(world.nextAlarm)
            world.pass(max(.zero, next - world.now.boot))
            world.ring()
            try settle(&world)
            order += try runAll(&world)
        }
        #expect(order.filter { !["R1", "R2"].contains($0) } == ["R3", "R6", "R4", "R5"])
        #expect(Set(order).count == 6)
    }

    @Test func `a full queue refuses, and takes one more when one has started`() throws {
        var world = try world { $0.limit = 2 }
        for _ in 1...4 { #expect(try submit(&world) != nil) }
        #expect(try submit(&world) == nil)
        var end = LaunchEnd(outcome: .succeeded, reason: nil)
        end.completion = true
        world.end(try #require(world.tasks.keys.min()), end)
        try settle(&world)
        #expect(try submit(&world) != nil)
    }

    @Test func `submissions that the store has not answered count for the limit`() throws {
        var world = try world { $0.limit = 2 }
        for _ in 1...2 { try submit(&world) }
        for _ in 1...4 {
            world.call(.submit(TaskSubmission(identifier: try Self.encode, origin: .client), from: nil))
        }
        try settle(&world)
        #expect(world.core.requests.pending.count == 2)
    }

    @Test func `a key is unique while its request is pending or running, and for a time after`() throws {
        var world = try world { $0.unique = .seconds(3600) }
        #expect(try submit(&world, key: "a") != nil)
        #expect(try submit(&world, key: "a") == nil)
        #expect(try submit(&world, key: "b") != nil)
        _ = try runAll(&world)
        world.pass(.seconds(3599))
        #expect(try submit(&world, key: "a") == nil)
        world.pass(.seconds(1))
        #expect(try submit(&world, key: "a") != nil)
        #expect(try submit(&world, key: "a") == nil)
    }

    @Test func `a request that failed is tried again in its place, and others run meanwhile`() throws {
        var world = try world { $0.concurrency = 1 }
        for _ in 1...3 { try submit(&world) }
        world.end(try #require(world.tasks.keys.min()), LaunchEnd(outcome: .failed, reason: .handlerFailed))
        try settle(&world)
        #expect(running(world) == ["R2"])
        world.pass(.seconds(40))
        world.ring()
        try settle(&world)
        #expect(try runAll(&world) == ["R2", "R1", "R3"])
    }

    @Test func `the scheduler has one request of a queue, whatever its length`() throws {
        var world = try world()
        world.call(.pause(.until(nil)))
        try settle(&world)
        for _ in 1...50 { try submit(&world) }
        let known = world.core.requests.pending.keys.filter {
            world.core.scheduler.pendingRequest($0) != nil
        }
        #expect(known == [RequestID(rawValue: 1)])
        let states = world.core.queueStates(at: world.now)
        #expect(states.map(\.waiting) == [50] && states.map(\.next) == [RequestID(rawValue: 1)])
        let last = try world.core.explain(RequestID(rawValue: 50), at: world.now)
        #expect(last.explanation.verdicts.first?.policy == "Queue")
        #expect(
            last.explanation.verdicts.first?.rationale.first?.observed == "behind 49 other requests")
        let rows = world.core.pendingSummaries(after: nil, limit: 100, at: world.now).rows
        #expect(rows.count == 50 && rows[7].headline.contains("7 requests come before it"))
        #expect(rows[0].headline.contains("pause"))
    }

    @Test func `another task of the bundle gets its turn after one of the queue`() throws {
        var world = try world { $0.concurrency = 1 }
        world.settings = VirtualManifests.settings[2]
        world.inputs.append(.settings(world.settings))
        try settle(&world)
        for _ in 1...20 { try submit(&world) }
        world.pass(.seconds(10))
        world.call(.submit(TaskSubmission(identifier: try Self.other, origin: .client), from: nil))
        try settle(&world)
        world.pass(.seconds(10))
        let order = try runAll(&world)
        let place = try #require(order.firstIndex(of: "R21"))
        #expect(place <= 2)
    }

    @Test func `cancelling the task cancels all of its queue`() throws {
        var world = try world()
        for _ in 1...5 { try submit(&world) }
        world.call(.cancel(.identifier(try Self.encode)))
        try settle(&world)
        #expect(world.store.pendingRequests.isEmpty)
        #expect(world.tasks.values.allSatisfy { $0.expiration == .cancelledByUser })
    }

    @Test func `a priority without a queue that has an order of priority is refused`() throws {
        var world = try world { $0.order = .fifo }
        #expect(try submit(&world, 9) == nil)
        #expect(try submit(&world) != nil)
    }

    @Test func `a drain lets what runs end, and starts nothing`() throws {
        var world = try world()
        for _ in 1...4 { try submit(&world) }
        world.call(.pause(.drained(until: nil)))
        try settle(&world)
        #expect(world.tasks.values.allSatisfy { $0.expiration == nil })
        #expect(try runAll(&world) == ["R1", "R2"])
        world.call(.pause(.ended))
        try settle(&world)
        #expect(try runAll(&world) == ["R3", "R4"])
    }
}
