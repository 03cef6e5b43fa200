import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// Limits that hold for longer than the handler works, and limits that a task passes by far.
@Suite(.system, .serialized) struct LimitTests {
    private static let controllers: Set<String> = {
        guard case .success(let own) = ControlGroup.own() else { return [] }
        return own.controllers
    }()

    @Test(arguments: ["memory", "storage", "threads", "cpu"])
    func `a task that has completed is ended when it passes a limit`(what: String) async throws {
        // The kernel enforces the limits of its controllers by itself; it ends a launch only for memory.
        if what == "threads", getuid() != 0 || Self.controllers.contains("pids") { return }
        let harness = try await LaunchHarness(storageInterval: .milliseconds(50), processLimit: 50)
        var limits = LaunchLimits.standard(for: .processing)
        limits.memory = .mebibytes(64)
        limits.storage = .mebibytes(2)
        if what == "cpu" { limits.cpu = CPULimit(percent: 10, window: .seconds(2)) }
        var end: LaunchEnd?
        let time = try await ContinuousClock().measure {
            end = try await harness.run(try order(what, harness, limits)).end
        }
        #expect(end?.outcome == .succeeded && end?.reason == nil, "\(String(describing: end))")
        let isKernels = what == "memory" && Self.controllers.contains("memory")
        if !isKernels {
            #expect(
                end?.message?.hasPrefix("done; after it had completed, its processes were killed: ") == true)
            let word = what == "cpu" ? "exceeding 10 %" : "limit"
            #expect(end?.message?.contains(word) == true, "\(String(describing: end?.message))")
            #expect(end?.termination?.limits.map(\.name) == (what == "threads" ? nil : [what]))
        }
        #expect(end?.signal == 9)
        #expect(time < TidyingTime.withAssertions)
        await harness.end()
    }

    @Test(
        .enabled(if: !controllers.contains("memory"), "the kernel enforces the limit"),
        arguments: [GroupKill.cgroup, .noFork])
    func `a task that takes far more than its memory limit is ended within its grace period`(
        groupKill: GroupKill
    ) async throws {
        let harness = try await LaunchHarness(groupKill: groupKill)
        var limits = LaunchLimits.standard(for: .processing)
        limits.lease = Lease(duration: .seconds(60), gracePeriod: .seconds(30))
        limits.memory = .mebibytes(64)
        let end = try await harness.run(try order("outgrows", harness, limits)).end
        #expect(end?.outcome == .killed && end?.reason == .memoryLimit, "\(String(describing: end))")
        #expect(end?.code == nil)
        #expect(end?.message?.contains("the limit is 64 MiB") == true)
        await harness.end()
    }

    private func order(_ what: String, _ harness: LaunchHarness, _ limits: LaunchLimits) throws -> LaunchOrder
    {
        let library = try PluginCompiler.compile("outstays", into: harness.folder.appending(path: "library"))
        return try harness.order(what, limits: limits, library: library)
    }
}
