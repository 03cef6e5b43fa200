import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// The memory that constructors take, where launches have no cgroup: a template loads the library first, and
/// then each task does.
@Suite(.system, .serialized) struct LoadingMemoryTests {
    private func run(_ which: String, _ groupKill: GroupKill) async throws -> LaunchEnd? {
        let harness = try await LaunchHarness(groupKill: groupKill)
        let library = try PluginCompiler.compile(
            "constructor_grabs", into: harness.folder.appending(path: "library"))
        var limits = LaunchLimits.standard(for: .processing)
        limits.memory = .mebibytes(64)
        let order = try harness.order(
            "grabs", limits: limits, variable: "GRABS=\(which)", library: library)
        let end = try await harness.run(order).end
        await harness.end()
        return end
    }

    @Test(arguments: [GroupKill.pidNamespace, .noFork])
    func `a template without a cgroup is killed for its memory while it loads`(groupKill: GroupKill)
        async throws
    {
        let end = try await run("first", groupKill)
        #expect(end?.outcome == .failed)
        #expect(end?.message?.contains("the limit is 64 MiB") == true, "\(String(describing: end))")
    }

    @Test(arguments: [GroupKill.pidNamespace, .noFork])
    func `a task without a cgroup is killed for its memory while it loads`(groupKill: GroupKill) async throws
    {
        let end = try await run("second", groupKill)
        #expect(end?.reason == .memoryLimit, "\(String(describing: end))")
        #expect(end?.message?.contains("the limit is 64 MiB") == true, "\(String(describing: end))")
    }
}
