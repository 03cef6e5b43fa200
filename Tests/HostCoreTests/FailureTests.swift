import HandlerRegistry
import MemoryStore
import Scheduling
import TaskModel
import Testing

@testable import HostCore

/// What `onFailure:` submits, and what it does not.
@Suite struct FailureTests {
    private static let bundle = "com.example.f"
    private static var work: TaskIdentifier { get throws { try TaskIdentifier("\(bundle).work") } }
    private static var report: TaskIdentifier { get throws { try TaskIdentifier("\(bundle).report") } }

    private func world(attempts: Int? = nil, limit: Int = 10) throws -> VirtualWorld {
        var work = TaskDeclaration(pattern: IdentifierPattern(exactly: try Self.work), kind: .processing)
        work.onFailure = try Self.report
        work.retry = attempts.map { RetryDeclaration(attempts: $0, backOff: .seconds(30)) }
        var report = TaskDeclaration(pattern: IdentifierPattern(exactly: try Self.report), kind: .processing)
        report.queue = QueueDeclaration()
        report.queue?.limit = limit
        // Only a request that a failure made must not start another one.
        report.onFailure = try Self.report
        let manifest = Manifest(
            bundle: try BundleIdentifier(Self.bundle), library: "lib.so", modes: [.processing],
            tasks: [work, report], sandbox: SandboxDeclaration())
        var world = VirtualWorld()
        for index in VirtualManifests.bundles.indices { world.manifests.change(index, to: .gone) }
        world.manifests.others = [
            PermittedHandler(
                manifestPath: "/m/f.yaml", manifest: manifest, libraryPath: "/s/libraries/f/lib.so",
                libraryHash: "f")
        ]
        world.copies.insert("f")
        try world.begin()
        try settle(&world)
        return world
    }

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

    private func submit(
        _ world: inout VirtualWorld, _ identifier: TaskIdentifier, key: String? = nil
    ) throws {
        var submission = TaskSubmission(identifier: identifier, origin: .client)
        submission.idempotencyKey = key
        world.call(.submit(submission, from: nil))
        try settle(&world)
    }

    /// Ends the oldest launch as failed.
    private func fail(_ world: inout VirtualWorld, _ message: String = "no such file") throws {
        var end = LaunchEnd(outcome: .failed, reason: .handlerFailed, message: message)
        end.completion = false
        world.end(try #require(world.tasks.keys.min()), end)
        try settle(&world)
    }

    /// The requests of the store that have not ended, each with its origin.
    private func open(_ world: VirtualWorld) -> [TaskRequest] {
        (world.store.pendingRequests + world.tasks.values.map(\.order.request))
            .filter { $0.submission.origin == .failure }
    }

    @Test func `a failure submits the task once, with the record of the launch`() throws {
        var world = try world()
        try submit(&world, try Self.work)
        try fail(&world)
        let made = open(world)
        #expect(try made.map(\.identifier) == [Self.report])
        #expect(made.first?.failedLaunch == LaunchID(rawValue: 1))
        let payload = try #require(made.first?.submission.payload)
        #expect(payload.contains("no such file") && payload.contains("\"launch\":\"L1\""), "\(payload)")
    }

    @Test
    func `the task is submitted in the write that ends the launch, so a crash neither loses nor repeats it`()
        throws
    {
        var world = try world()
        try submit(&world, try Self.work)
        try fail(&world)
        world.kill()
        try world.begin()
        try settle(&world)
        #expect(open(world).count == 1)
        #expect(world.store.pendingRequests.count + world.tasks.count == 1)
    }

    @Test func `only the last attempt of a request fails`() throws {
        var world = try world(attempts: 2)
        try submit(&world, try Self.work)
        try fail(&world)
        #expect(open(world).isEmpty)
        let next = try #require(world.nextAlarm)
        world.pass(max(.zero, next - world.now.boot))
        world.ring()
        try settle(&world)
        try fail(&world)
        #expect(open(world).count == 1)
    }

    @Test func `a request that a failure made starts no further one`() throws {
        var world = try world()
        try submit(&world, try Self.work)
        try fail(&world)
        while world.tasks.isEmpty {
            let next = try #require(world.nextAlarm)
            world.pass(max(.zero, next - world.now.boot))
            world.ring()
            try settle(&world)
        }
        try fail(&world)
        #expect(world.store.pendingRequests.isEmpty && world.tasks.isEmpty)
    }

    @Test func `success submits nothing`() throws {
        var world = try world()
        try submit(&world, try Self.work)
        var end = LaunchEnd(outcome: .succeeded, reason: nil)
        end.completion = true
        world.end(try #require(world.tasks.keys.min()), end)
        try settle(&world)
        #expect(world.store.pendingRequests.isEmpty && world.tasks.isEmpty)
    }

    @Test func `a client can't take the key of a failure`() throws {
        var world = try world()
        let before = world.core.lastRequest
        try submit(&world, try Self.report, key: "failure-of-L1")
        #expect(world.core.lastRequest == before)
        try submit(&world, try Self.report, key: "failure-of-nothing")
        #expect(world.core.lastRequest == before + 1)
    }

    @Test func `long reports lose lines, and say so`() {
        let text = (1...100).map { "line \($0)" }.joined(separator: "\n")
        let short = FailureRecord.shortened(text, to: 20)
        #expect(short.hasPrefix("line 1\nline 2\n(the rest is left out"))
        #expect(FailureRecord.shortened("short", to: 20) == "short")
    }
}
