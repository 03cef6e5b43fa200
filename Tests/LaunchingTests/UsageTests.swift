import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// The real runner reports the resource usage of a launch while the launch runs.
@Suite(.system, .serialized) struct UsageTests {
    @Test(arguments: [
        ("spins", GroupKill?.none), ("spins-below", nil), ("spins", .noFork), ("spins", .pidNamespace),
    ])
    func `the CPU time of a running launch is told and grows`(
        _ sample: (what: String, groupKill: GroupKill?)
    ) async throws {
        let harness = try await LaunchHarness(groupKill: sample.groupKill)
        let isCounted = harness.launcher.isolation.groupKill == .cgroup || sample.what == "spins"
        try #require(isCounted, "without a cgroup descendants in other sessions are not counted")
        var order = try harness.order(sample.what)
        order.handler.manifest.sandbox.subprocesses = sample.what == "spins-below"
        let id = order.id
        harness.launcher.launch(order)
        let least = Duration.milliseconds(200)
        var usage: LaunchUsage?
        try await harness.wait(for: "ready") { harness.isReady(id) }
        while usage.map({ $0.cpuTime < least }) ?? true {
            usage = await harness.launcher.usage()[order.id]
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(usage?.cpuIsLowerBound == (harness.launcher.isolation.groupKill != .cgroup))
        harness.launcher.kill(order.id, reason: .cancelledByUser, message: "seen enough")
        try await harness.wait(for: "end") { harness.sight(id).end != nil }
        #expect(await harness.launcher.usage().isEmpty)
        #expect(harness.sight(order.id).cpuTime >= least)
        await harness.end()
    }

    /// Whether the kernel counts a process and its descendants for this user.
    private static let hasInheritedClock = InheritedClock(of: ProcessFacts.number) != nil

    @Test(.enabled(if: hasInheritedClock, "the kernel refuses perf's task clock"))
    func `children that the kernel reaps are counted in a PID namespace`() async throws {
        let harness = try await LaunchHarness(groupKill: .pidNamespace)
        let sight = try await harness.run(try Self.burning("ignored", harness))
        #expect(sight.end?.outcome == .succeeded, "\(String(describing: sight.end))")
        // Ten children used 100 ms each.
        #expect(sight.cpuTime >= .milliseconds(950), "\(sight.cpuTime)")
        await harness.end()
    }

    /// The task does not wait for the host, which handles *spawned* and *ready* while the first child burns.
    @Test(.enabled(if: hasInheritedClock, "the kernel refuses perf's task clock"))
    func `processes of a constructor that the kernel reaps are counted in a PID namespace`() async throws {
        let harness = try await LaunchHarness(groupKill: .pidNamespace)
        var order = try Self.burning("nothing", harness)
        order.handler.libraryPath = try PluginCompiler.compile(
            "constructor_burns", into: harness.folder.appending(path: "library"))
        let sight = try await harness.run(order)
        #expect(sight.end?.outcome == .succeeded, "\(String(describing: sight.end))")
        // The grandchild used 300 ms before the task was ready.
        #expect(sight.cpuTime >= .milliseconds(294), "\(sight.cpuTime)")
        await harness.end()
    }

    @Test(
        .enabled(if: hasInheritedClock, "the kernel refuses perf's task clock"),
        .enabled(if: ProcessFacts.isRoot, "only root can leave a cgroup"))
    func `a child that has left the cgroup is counted`() async throws {
        // Each of these layers would refuse the move.
        let harness = try await LaunchHarness(groupKill: .cgroup, without: [.namespaces, .landlock])
        let sight = try await harness.run(try Self.burning("moved", harness))
        #expect(sight.end?.outcome == .succeeded, "\(String(describing: sight.end))")
        #expect(sight.cpuTime >= .milliseconds(50), "\(sight.cpuTime)")
        await harness.end()
    }

    @Test(.enabled(if: ProcessFacts.isRoot, "only root can give users"))
    func `a bundle with a user of its own can't leave its cgroup, even without other layers`() async throws {
        let harness = try await LaunchHarness(
            groupKill: .cgroup, without: [.namespaces, .landlock], bundleUser: 2_100_000_007)
        let sight = try await harness.run(try Self.burning("moved", harness))
        #expect(sight.end?.message == "it could not burn", "\(String(describing: sight.end))")
        await harness.end()
    }

    private static func burning(_ how: String, _ harness: LaunchHarness) throws -> LaunchOrder {
        let library = try PluginCompiler.compile(
            "burns_unseen", into: harness.folder.appending(path: "library"))
        var order = try harness.order(how, library: library)
        order.handler.manifest.sandbox.subprocesses = true
        return order
    }

    @Test func `a launch that sleeps uses next to nothing`() async throws {
        let harness = try await LaunchHarness()
        let order = try harness.order("expires")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let usage = await harness.launcher.usage()
        #expect(usage.count == 1)
        #expect(usage[order.id].map { $0.cpuTime < .milliseconds(200) } == true, "\(usage)")
        await harness.end()
    }
}
