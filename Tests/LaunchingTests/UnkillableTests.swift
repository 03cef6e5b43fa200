import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// A process that the kernel does not end: while the freezer of cgroup v1 holds it, SIGKILL has no effect.
@Suite(.system, .serialized) struct UnkillableTests {
    static let freezer = "/sys/fs/cgroup/freezer"

    @Test
    func `what can't be killed is told after 5 s, keeps its launch, and ends as unkillable when it goes`()
        async throws
    {
        let ice = ControlGroup(path: "\(Self.freezer)/bgtask-test-\(UUID().uuidString)")
        guard SmallFile.isWritable(Self.freezer),
            (try? FileManager.default.createDirectory(atPath: ice.path, withIntermediateDirectories: false))
                != nil
        else {
            print("skipped: no freezer of cgroup v1 that we may write")
            return
        }
        defer { try? ice.remove() }
        let harness = try await LaunchHarness()
        let order = try harness.order("ignores")
        harness.launcher.launch(order)
        try await harness.wait(for: "ready") { harness.isReady(order.id) }
        let pid = try #require(harness.pid(order.id))
        try ice.take(pid)
        try SmallFile.write("FROZEN", to: ice.path + "/freezer.state")
        try await harness.wait(for: "the frost") {
            (try? SmallFile.read(ice.path + "/freezer.state")) == "FROZEN\n"
        }
        harness.launcher.kill(order.id, reason: .cancelledByUser, message: "to see it resist")
        try await harness.wait(for: "unkillable") {
            harness.sight(order.id).events.contains(.unkillable(order.id))
        }
        // The launch keeps its slot, and the launcher still runs other launches.
        #expect(harness.sight(order.id).end == nil)
        #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
        #expect(harness.sight(order.id).end == nil)
        try SmallFile.write("THAWED", to: ice.path + "/freezer.state")
        try await harness.wait(for: "end") { harness.sight(order.id).end != nil }
        let end = try #require(harness.sight(order.id).end)
        #expect(end.outcome == .killed && end.reason == .unkillable, "\(end)")
        #expect(
            end.message == "to see it resist; its processes were still there 5 s after the kill", "\(end)")
        await harness.end()
    }
}
