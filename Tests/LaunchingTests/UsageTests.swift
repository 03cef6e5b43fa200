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
