import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// Unused templates end, and the next launch loads them again.
@Suite(.system, .serialized) struct TemplateTests {
    private static func parent(of pid: Int32) throws -> Int32 {
        let status = try SmallFile.read("/proc/\(pid)/status")
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("PPid:") })
        return try #require(Int32(line.dropFirst(5).drop { $0 == "\t" }))
    }

    @Test func `a template that is not used for the idle time is retired; the next launch has a new one`()
        async throws
    {
        let harness = try await LaunchHarness(templateIdleTime: .milliseconds(500))
        let order = try harness.order("expires")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let task = try #require(harness.pid(order.id))
        let launcher = try Self.parent(of: task)
        try await harness.wait(for: "the template's end") {
            LauncherProcesses.all(of: launcher) == [launcher, task].sorted()
        }
        // The task continues after its template has ended.
        #expect(harness.sight(order.id).end == nil)
        #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
        harness.launcher.expire(order.id, reason: .simulated)
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        try await harness.wait(for: "the second template's end") {
            LauncherProcesses.all(of: launcher) == [launcher]
        }
        await harness.end()
    }

    @Test func `of too many templates, the one that was not used for longest ends`() async throws {
        let harness = try await LaunchHarness(maximumTemplates: 2)
        let running = try harness.order("expires", variable: "NUMBER=0")
        harness.launcher.launch(running)
        try await harness.wait(for: "ready") { harness.isReady(running.id) }
        let task = try #require(harness.pid(running.id))
        let launcher = try Self.parent(of: task)
        // Each variable needs a template of its own. The first one ends, although its task still runs.
        for number in 1...5 {
            let order = try harness.order("succeeds", variable: "NUMBER=\(number)")
            #expect(try await harness.run(order).end?.outcome == .succeeded)
        }
        let standbys = harness.launcher.isolation.groupKill == .cgroup ? 2 : 0
        try await harness.wait(for: "two templates") {
            LauncherProcesses.all(of: launcher).count <= 2 + 2 + standbys
        }
        #expect(harness.sight(running.id).end == nil)
        await harness.end()
    }

    @Test func `the number of templates follows from the limit of descriptors`() {
        let expected: [(Int?, Int)] = [(nil, 64), (20, 4), (1024, 64), (4096, 256), (1 << 20, 1000)]
        for (descriptors, templates) in expected {
            #expect(TaskLauncher.maximumTemplates(descriptors: descriptors) == templates)
        }
    }

    @Test func `a template in use stays`() async throws {
        let harness = try await LaunchHarness()
        let order = try harness.order("expires")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let task = try #require(harness.pid(order.id))
        let launcher = try Self.parent(of: task)
        // The processes are the launcher, the template, the task, and a standby where tasks have cgroups.
        let standbys = harness.launcher.isolation.groupKill == .cgroup ? 1 : 0
        try await harness.wait(for: "all four") {
            LauncherProcesses.all(of: launcher).count == 3 + standbys
        }
        await harness.end()
    }

    /// What the kernel says of a process: its nice value, its scheduling class (3 is SCHED_BATCH) and its
    /// class for disk I/O.
    private static func classes(of pid: Int32) throws -> [String] {
        let stat = try SmallFile.read("/proc/\(pid)/stat")
        let end = try #require(stat.lastIndex(of: ")"))
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        let io = Command.run("ionice", "-p", "\(pid)").output
        return [String(fields[16]), String(fields[38]), io.trimmingCharacters(in: .whitespacesAndNewlines)]
    }

    @Test func `a deferrable launch has its priority from the first instruction on, and so has the next one`()
        async throws
    {
        let harness = try await LaunchHarness()
        for _ in 0..<2 {
            var order = try harness.order("expires")
            order.priority = .discretionary
            let id = order.id
            harness.launcher.launch(order)
            try await harness.wait(for: "ready") { harness.isReady(id) }
            let task = try #require(harness.pid(id))
            let classes = try Self.classes(of: task)
            #expect(classes == ["10", "3", "idle"])
            harness.launcher.expire(id, reason: .simulated)
            try await harness.wait(for: "end") { harness.sight(id).end != nil }
        }
        var order = try harness.order("expires")
        order.priority = .foreground
        let id = order.id
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(id) }
        let task = try #require(harness.pid(id))
        let own = try Self.classes(of: ProcessFacts.number)
        #expect(try Self.classes(of: task) == own)
        harness.launcher.setPriority(id, .discretionary)
        try await harness.wait(for: "the change") { (try? Self.classes(of: task)) == ["10", "3", "idle"] }
        await harness.end()
    }

    /// The measurement of a launch with very many processes takes seconds.
    @Test func `a change of priority does not wait for the measurement of another launch`() async throws {
        let harness = try await LaunchHarness()
        let order = try harness.order("expires")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let task = try #require(harness.pid(order.id))
        let release = DispatchSemaphore(value: 0)
        LauncherCore.crowdedSurveys.async { release.wait() }
        defer { release.signal() }
        harness.launcher.setPriority(order.id, .discretionary)
        try await harness.wait(for: "the change") { (try? Self.classes(of: task)) == ["10", "3", "idle"] }
        await harness.end()
    }
}
