import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// Standbys: task processes that exist before their launch. They need cgroups, and these tests use real
/// processes.
@Suite(.system, .serialized, .enabled(if: Processes.haveGroups, "launches have no cgroup here"))
struct StandbyTests {
    /// Starts a launch that runs until it is asked to stop; returns its order, and the launcher's and
    /// standby's processes.
    private static func running(
        _ harness: LaunchHarness, change: (inout LaunchOrder) -> Void = { _ in }
    ) async throws -> (order: LaunchOrder, launcher: Int32, standby: Int32) {
        var changed = try harness.order("expires")
        change(&changed)
        let order = changed
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let task = try #require(harness.pid(order.id))
        let launcher = try Processes.parent(of: task)
        // The four processes are the launcher, the template, the launch and the standby.
        try await harness.wait(for: "a standby") { LauncherProcesses.all(of: launcher).count == 4 }
        // Its process exists before the template has said so. A test that stops the template needs the word.
        try await harness.wait(for: "word of the standby") {
            await harness.launcher.ask { $0.standbys.values.contains { $0.count != nil } } ?? false
        }
        // The template has its own cgroup. The standby is the process in a launch's cgroup that is not the
        // launch.
        let standby = try #require(
            LauncherProcesses.all(of: launcher).first {
                $0 != launcher && $0 != task && Processes.group(of: $0).contains("/launch-")
            })
        return (order, launcher, standby)
    }

    @Test func `the next launch is the process that stood by, and counts from there`() async throws {
        let harness = try await LaunchHarness()
        let (first, launcher, standby) = try await Self.running(harness)
        let next = try harness.order("succeeds")
        #expect(try await harness.run(next).end?.outcome == .succeeded)
        #expect(harness.pid(next.id) == standby)
        // The template makes another standby.
        try await harness.wait(for: "the next standby") {
            let processes = LauncherProcesses.all(of: launcher)
            return processes.count == 4 && !processes.contains(standby)
        }
        harness.launcher.expire(first.id, reason: .simulated)
        try await harness.wait(for: "its end") { harness.sight(first.id).end != nil }
        #expect(harness.sight(first.id).end?.outcome == .expired)
        await harness.end()
        #expect(LauncherProcesses.all(of: launcher).filter { $0 != launcher } == [])
    }

    @Test func `a standby that dies leaves its launch to be cloned when it comes`() async throws {
        let harness = try await LaunchHarness()
        let (_, launcher, standby) = try await Self.running(harness)
        kill(standby, SIGKILL)
        try await harness.wait(for: "its end") { !LauncherProcesses.all(of: launcher).contains(standby) }
        let next = try harness.order("succeeds")
        let end = try await harness.run(next).end
        #expect(end?.outcome == .succeeded && end?.leftovers == 0)
        #expect(try #require(harness.pid(next.id)) != standby)
        await harness.end()
    }

    @Test func `a standby is killed with all that its launch started, and with the bundle's plugin`()
        async throws
    {
        let harness = try await LaunchHarness()
        let (_, launcher, standby) = try await Self.running(harness) {
            $0.handler.manifest.sandbox.subprocesses = true
        }
        var forking = try harness.order("daemonises")
        forking.handler.manifest.sandbox.subprocesses = true
        let sight = try await harness.run(forking)
        #expect(harness.pid(forking.id) == standby)
        #expect(sight.end?.outcome == .succeeded && sight.end?.leftovers == 1)
        harness.launcher.retire(bundle: try BundleIdentifier("com.example"))
        // The two processes are the launcher and the launch that continues.
        try await harness.wait(for: "the end of template and standby") {
            LauncherProcesses.all(of: launcher).count == 2
        }
        await harness.end()
    }

    @Test func `a launch that may do other things than the standby leaves it alone`() async throws {
        let harness = try await LaunchHarness()
        let (_, launcher, standby) = try await Self.running(harness)
        var forking = try harness.order("daemonises")
        forking.handler.manifest.sandbox.subprocesses = true
        let sight = try await harness.run(forking)
        #expect(sight.end?.outcome == .succeeded && sight.end?.leftovers == 1)
        #expect(try #require(harness.pid(forking.id)) != standby)
        #expect(LauncherProcesses.all(of: launcher).contains(standby))
        await harness.end()
    }

    @Test func `a launch that is told to stop while its standby is made never starts`() async throws {
        let harness = try await LaunchHarness()
        let (_, launcher, _) = try await Self.running(harness)
        let template = try #require(
            LauncherProcesses.all(of: launcher).first {
                $0 != launcher && Processes.group(of: $0).contains("/template-")
            })
        kill(template, SIGSTOP)
        // This launch takes the standby. When it completes, the stopped template is asked for another one,
        // but makes none.
        #expect(try await harness.run(harness.order("succeeds")).end?.outcome == .succeeded)
        let late = try harness.order("succeeds")
        harness.launcher.launch(late)
        harness.launcher.expire(late.id, reason: .simulated)
        try await harness.wait(for: "its end") { harness.sight(late.id).end != nil }
        kill(template, SIGCONT)
        #expect(harness.pid(late.id) == nil, "\(harness.sight(late.id))")
        #expect(harness.sight(late.id).end?.outcome == .expired)
        #expect(try await harness.run(harness.order("succeeds")).end?.outcome == .succeeded)
        await harness.end()
    }

    @Test func `launches that come all at once all run, one of them as the standby`() async throws {
        let harness = try await LaunchHarness()
        let (_, _, standby) = try await Self.running(harness)
        let orders = try (1...20).map { _ in try harness.order("succeeds") }
        for order in orders { harness.launcher.launch(order) }
        try await harness.wait(for: "their ends") { orders.allSatisfy { harness.sight($0.id).end != nil } }
        #expect(orders.allSatisfy { harness.sight($0.id).end?.outcome == .succeeded })
        let pids = orders.compactMap { harness.pid($0.id) }
        #expect(pids.filter { $0 == standby }.count == 1)
        await harness.end()
    }
}

private enum Processes {
    static var haveGroups: Bool {
        let probe = try? IsolationProbe(
            stateDirectory: FileManager.default.temporaryDirectory.path,
            runnerPath: Products.path("bgtask-runner"), wanted: .cgroup)
        return probe?.report.groupKill == .cgroup
    }

    static func parent(of pid: Int32) throws -> Int32 {
        let status = try SmallFile.read("/proc/\(pid)/status")
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("PPid:") })
        return try #require(Int32(line.dropFirst(5).drop { $0 == "\t" }))
    }

    static func group(of pid: Int32) -> String { (try? SmallFile.read("/proc/\(pid)/cgroup")) ?? "" }
}
