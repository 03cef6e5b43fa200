import HandlerRegistry
import MemoryStore
import Scheduling
import TaskModel
import Testing

@testable import HostCore

/// Requests that wait for the success of others, with and without queues.
@Suite struct PredecessorTests {
    private static let bundle = "com.example.q"

    private func world() throws -> VirtualWorld {
        let names = ["first", "second", "join"]
        let tasks = try ["queued"].map { name in
            var task = TaskDeclaration(
                pattern: IdentifierPattern(exactly: try TaskIdentifier("\(Self.bundle).\(name)")),
                kind: .processing)
            task.queue = QueueDeclaration()
            return task
        }
        let plain = try names.map { name in
            TaskDeclaration(
                pattern: IdentifierPattern(exactly: try TaskIdentifier("\(Self.bundle).\(name)")),
                kind: .processing)
        }
        let manifest = Manifest(
            bundle: try BundleIdentifier(Self.bundle), library: "lib.so", modes: [.processing],
            tasks: tasks + plain, sandbox: SandboxDeclaration())
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
        _ world: inout VirtualWorld, _ name: String, after: Int64...
    ) throws -> RequestID? {
        var submission = TaskSubmission(
            identifier: try TaskIdentifier("\(Self.bundle).\(name)"), origin: .client)
        submission.predecessors = after.map(RequestID.init(rawValue:))
        let last = world.core.lastRequest
        world.call(.submit(submission, from: nil))
        try settle(&world)
        return world.core.lastRequest == last ? nil : RequestID(rawValue: world.core.lastRequest)
    }

    private func end(_ world: inout VirtualWorld, _ outcome: Outcome = .succeeded) throws {
        var end = LaunchEnd(outcome: outcome, reason: outcome == .succeeded ? nil : .handlerFailed)
        end.completion = outcome == .succeeded
        world.end(try #require(world.tasks.keys.min()), end)
        try settle(&world)
        world.pass(.seconds(10))
        world.ring()
        try settle(&world)
    }

    private func running(_ world: VirtualWorld) -> [String] {
        world.tasks.values.map(\.order.request.id).sorted().map(\.description)
    }

    private func state(_ world: VirtualWorld, _ request: Int64) -> String {
        let record = world.store.request(RequestID(rawValue: request))
        let reason = record?.reason.map { ", \($0.rawValue)" } ?? ""
        return (record?.outcome?.rawValue ?? record?.state.rawValue ?? "none") + reason
    }

    @Test func `a request waits for all that it names, and says for which`() throws {
        var world = try world()
        try submit(&world, "first")
        try submit(&world, "second")
        try submit(&world, "join", after: 1, 2)
        #expect(running(world) == ["R1", "R2"])
        let join = RequestID(rawValue: 3)
        let explanation = try world.core.explain(join, at: world.now).explanation
        #expect(explanation.verdicts.first?.policy == "Order")
        #expect(
            explanation.verdicts.first?.rationale.first?.sentence
                == "R1 and R2 have not succeeded; they must be successful")
        try end(&world)
        let rows = world.core.pendingSummaries(after: nil, limit: 9, at: world.now).rows
        #expect(rows.map(\.headline) == ["Waits until R2 has succeeded."])
        #expect(running(world) == ["R2"])
        try end(&world)
        #expect(running(world) == ["R3"])
    }

    @Test func `a chain fails with the first request that fails, and so does what follows it`() throws {
        var world = try world()
        try submit(&world, "first")
        try submit(&world, "queued", after: 1)
        try submit(&world, "queued", after: 2)
        try submit(&world, "join", after: 3)
        #expect(running(world) == ["R1"])
        try end(&world, .failed)
        for request: Int64 in 2...4 { #expect(state(world, request) == "failed, predecessorFailed") }
        #expect(world.core.requests.pending.isEmpty && world.store.pendingRequests.isEmpty)
    }

    @Test func `a cancelled and a replaced request fail what follows them`() throws {
        var world = try world()
        try submit(&world, "first")
        try submit(&world, "second", after: 1)
        try submit(&world, "queued", after: 2)
        // The second request of the task takes the place of the one that waits.
        try submit(&world, "second", after: 1)
        #expect(state(world, 3) == "failed, predecessorFailed")
        try submit(&world, "queued", after: 4)
        world.call(.cancel(.request(RequestID(rawValue: 4))))
        try settle(&world)
        #expect(state(world, 4) == "cancelled, cancelledByUser")
        #expect(state(world, 5) == "failed, predecessorFailed")
        #expect(running(world) == ["R1"])
    }

    @Test func `a host that is killed keeps what waits, and for what`() throws {
        var world = try world()
        try submit(&world, "first")
        try submit(&world, "queued", after: 1)
        try submit(&world, "join", after: 1, 2)
        try end(&world)
        #expect(running(world) == ["R2"])
        world.kill()
        try world.begin()
        try settle(&world)
        let join = world.store.request(RequestID(rawValue: 3))?.request
        #expect(join?.submission.predecessors.map(\.rawValue) == [1, 2])
        #expect(join?.openPredecessors.map(\.rawValue) == [2])
        while running(world).isEmpty {
            let next = try #require(world.nextAlarm)
            world.pass(max(.zero, next - world.now.boot))
            world.ring()
            try settle(&world)
        }
        #expect(running(world) == ["R2"])
        try end(&world)
        #expect(running(world) == ["R3"])
    }

    @Test func `a request that succeeded is no wait, and others that ended or are unknown are refused`()
        throws
    {
        var world = try world()
        try submit(&world, "first")
        try end(&world)
        try submit(&world, "second", after: 1)
        #expect(running(world) == ["R2"])
        try end(&world, .failed)
        #expect(try submit(&world, "join", after: 2) == nil)
        #expect(try submit(&world, "join", after: 99) == nil)
        #expect(try submit(&world, "join") == RequestID(rawValue: 3))
        // Without a queue, the second request would take the place of the first.
        #expect(try submit(&world, "join", after: 3) == nil)
        #expect(running(world) == ["R3"])
    }

    @Test func `a request of a queue that waits for others does not hold back those behind it`() throws {
        var world = try world()
        try submit(&world, "first")
        try submit(&world, "queued", after: 1)
        try submit(&world, "queued")
        #expect(running(world) == ["R1", "R3"])
        try end(&world)
        try end(&world)
        #expect(running(world) == ["R2"])
    }
}
