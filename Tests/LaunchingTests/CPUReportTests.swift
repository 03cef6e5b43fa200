import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// The host's reaction to a launch that uses too much CPU time, and its report.
///
/// Alone, because a stack that comes too late beside other tests is left out.
@Suite(.alone, .serialized) struct CPUReportTests {
    private static func limits() -> LaunchLimits {
        var limits = LaunchLimits.standard(for: .processing)
        limits.lease = Lease(duration: .seconds(60), gracePeriod: .milliseconds(200))
        limits.cpu = CPULimit(percent: 20, window: .seconds(2))
        return limits
    }

    @Test(arguments: [GroupKill?.none, .noFork, .pidNamespace])
    func `the report of a CPU limit has the numbers, the samples, the thread and the function that burns`(
        _ groupKill: GroupKill?
    ) async throws {
        let harness = try await LaunchHarness(groupKill: groupKill)
        // The handler reacts at once, but on a busy machine it must first get a core, so the grace period is
        // long.
        var limits = Self.limits()
        limits.lease = Lease(duration: .seconds(60), gracePeriod: .seconds(10))
        let end = try #require(
            try await harness.run(try harness.order("spins-handled", limits: limits)).end)
        #expect(end.outcome == .expired && end.reason == .cpuLimit, "\(end)")
        #expect(end.message?.contains("exceeding 20 % over 2 s") == true, "\(end)")
        let lines = (end.report ?? "").split(separator: "\n").map(String.init)
        #expect(lines.first.map { end.message?.hasPrefix($0) == true } == true, "\(end)")
        #expect(lines.contains { $0.hasPrefix("CPU time at each sample: 0.0 s at 0.0 s, ") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("  ") && $0.hasSuffix("bgtask-runner") }, "\(lines)")
        let stack = try #require(lines.firstIndex { $0.hasPrefix("most frequent stack, ") }, "\(lines)")
        #expect(lines[stack + 1].hasPrefix("  spin+0x") && lines[stack + 1].hasSuffix("misbehaves.so"))
        #expect(lines[stack + 2].hasPrefix("  run+0x"), "\(lines)")
        #expect(lines.contains { $0.hasPrefix("  task_run+0x") && $0.hasSuffix("bgtask-runner") }, "\(lines)")
        await harness.end()
    }

    @Test func `a handler that uses the profiling signal itself is asked by another one`() async throws {
        let harness = try await LaunchHarness()
        var limits = Self.limits()
        limits.lease = Lease(duration: .seconds(60), gracePeriod: .seconds(10))
        let end = try #require(
            try await harness.run(try harness.order("spins-profiled", limits: limits)).end)
        #expect(end.report?.contains("\n  spin+0x") == true, "\(end)")
        await harness.end()
    }

    @Test(arguments: [GroupKill?.none, .noFork, .pidNamespace])
    func `the report of a launch that was killed at its deadline has the main thread's stack`(
        _ groupKill: GroupKill?
    ) async throws {
        let harness = try await LaunchHarness(groupKill: groupKill)
        var limits = LaunchLimits.standard(for: .processing)
        limits.lease = Lease(duration: .seconds(60), gracePeriod: .seconds(5))
        let order = try harness.order("ignores", limits: limits)
        harness.launcher.launch(order)
        try await harness.wait(for: "its question for the descriptor") {
            harness.sight(order.id).events.contains { if case .log = $0 { true } else { false } }
        }
        harness.launcher.expire(order.id, reason: .simulated)
        try await harness.wait(for: "its end") { harness.sight(order.id).end != nil }
        let end = try #require(harness.sight(order.id).end)
        #expect(end.outcome == .killed && end.code == LaunchLife.deadlineCode, "\(end)")
        let lines = (end.report ?? "").split(separator: "\n").map(String.init)
        #expect(lines.first == "main thread, shortly before the kill:", "\(end)")
        #expect(lines.contains { $0.hasPrefix("  run+0x") && $0.hasSuffix("misbehaves.so") }, "\(lines)")
        await harness.end()
    }

    @Test func `where processes burn that the task started, the report names their threads and no stack`()
        async throws
    {
        let harness = try await LaunchHarness()
        try #require(harness.launcher.isolation.groupKill == .cgroup, "descendants are counted by a cgroup")
        var order = try harness.order("spins-below", limits: Self.limits())
        order.handler.manifest.sandbox.subprocesses = true
        let end = try #require(try await harness.run(order).end)
        #expect(end.reason == .cpuLimit)
        #expect(end.report?.contains("no stack: ") == true, "\(end)")
        #expect(end.report?.contains("threads, by CPU time") == true, "\(end)")
        await harness.end()
    }

    @Test func `half of the quota halves the weight of the group, and the end gives it back`() throws {
        // A plain folder imitates the cgroup, because the cpu controller is rarely delegated where tests run.
        let folder = FileManager.default.temporaryDirectory.appending(path: "group-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let group = ControlGroup(path: folder.path)
        try Data("80\n".utf8).write(to: folder.appending(path: "cpu.weight"))
        let order = try LaunchOrder(
            running: "com.example.a", number: 1, library: nil, limits: Self.limits(),
            place: LaunchPlace(dataDirectory: "/", temporaryDirectory: "/"), environment: [])
        let launch = RunningLaunch(order)
        launch.group = group
        for _ in 0..<2 {
            launch.setHalved(true)
            launch.setHalved(true)
            #expect(group.cpuWeight == 40)
            launch.setHalved(false)
            launch.setHalved(false)
            #expect(group.cpuWeight == 80)
        }
    }
}
