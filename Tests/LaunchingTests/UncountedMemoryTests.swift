import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// Memory that the pages of a task's processes do not show, where no kernel counts it for the host.
@Suite(.system, .serialized) struct UncountedMemoryTests {
    /// Where a launch runs.
    struct Place: CustomTestStringConvertible, Sendable {
        var cage: CagedRunner.Cage?
        var groupKill: GroupKill

        var testDescription: String { "\(cage?.rawValue ?? "this user"), \(groupKill.rawValue)" }

        static let all: [Place] =
            [.cgroup, .pidNamespace, .noFork].map { Place(cage: nil, groupKill: $0) }
            + (getuid() == 0
                ? [
                    Place(cage: .container, groupKill: .noFork),
                    Place(cage: .ordinaryUser, groupKill: .pidNamespace),
                    Place(cage: .ordinaryUser, groupKill: .noFork),
                    Place(cage: .containerOfUser, groupKill: .noFork),
                ] : [])
    }

    @Test(arguments: Place.all)
    func `a task gets no memory that nothing counts`(place: Place) async throws {
        let runner = try place.cage.map { try CagedRunner($0) }
        let harness = try await harness(place, runner)
        let answer = try await harness.run(try order("hoards", harness)).end?.message
        let isCounted = place.groupKill == .cgroup && Self.hasMemoryController
        #expect(answer == (isCounted ? "memfd memfd_secret anonymous" : "nothing"))
        await harness.end()
    }

    @Test(
        .enabled(if: !hasMemoryController, "the kernel counts the memory of launches"),
        arguments: Place.all.filter { $0.groupKill != .noFork })
    func `shared memory of a task with processes counts as its memory`(place: Place) async throws {
        let runner = try place.cage.map { try CagedRunner($0) }
        let harness = try await harness(place, runner)
        var limits = try harness.order("shares").declaration.limits
        limits.memory = .mebibytes(100)
        var order = try order("shares", harness, limits)
        order.handler.manifest.sandbox.subprocesses = true
        let sight = try await harness.run(order)
        #expect(sight.end?.reason == .memoryLimit, "\(String(describing: sight.end))")
        await harness.end()
    }

    @Test(
        .enabled(if: !hasMemoryController && getuid() == 0, "only root sees what mappings keep"),
        arguments: [GroupKill.cgroup, .pidNamespace], ["hides", "crowds"])
    func `shared memory that no process has mapped at present counts, too`(
        groupKill: GroupKill, what: String
    ) async throws {
        let harness = try await LaunchHarness(groupKill: groupKill, storageInterval: .milliseconds(50))
        var limits = try harness.order(what).declaration.limits
        limits.memory = .mebibytes(100)
        var order = try order(what, harness, limits)
        order.handler.manifest.sandbox.subprocesses = true
        let sight = try await harness.run(order)
        #expect(sight.end?.reason == .memoryLimit, "\(String(describing: sight.end))")
        #expect(sight.end?.message?.contains("of shared memory") == true)
        // The report has the same figure, and not the peak of what the processes have mapped.
        let used = sight.end?.termination?.limits.first { $0.name == "memory" }?.used
        #expect(sight.end?.message?.contains(try #require(used)) == true, "\(used ?? "")")
        await harness.end()
    }

    @Test(
        .enabled(if: !hasMemoryController, "the kernel counts the memory of launches"),
        arguments: [GroupKill.cgroup, .pidNamespace, .noFork], [false, true])
    func `page tables count as memory`(groupKill: GroupKill, mayGrow: Bool) async throws {
        if mayGrow, groupKill == .noFork { return }
        let harness = try await LaunchHarness(groupKill: groupKill)
        var limits = try harness.order("spreads").declaration.limits
        limits.memory = .mebibytes(100)
        var order = try order("spreads", harness, limits)
        order.handler.manifest.sandbox.subprocesses = mayGrow
        let sight = try await harness.run(order)
        #expect(sight.end?.reason == .memoryLimit, "\(String(describing: sight.end))")
        await harness.end()
    }

    /// Files and memory of such a process are not in its own directory of /proc.
    @Test(
        .enabled(if: !hasMemoryController, "the kernel counts the memory of launches"),
        arguments: [GroupKill.cgroup, .pidNamespace])
    func `memory of a process whose first thread has ended counts`(groupKill: GroupKill) async throws {
        let harness = try await LaunchHarness(groupKill: groupKill)
        var limits = try harness.order("takes").declaration.limits
        limits.memory = .mebibytes(100)
        var order = try order("takes", harness, limits, library: "leaderless")
        order.handler.manifest.sandbox.subprocesses = true
        let sight = try await harness.run(order)
        #expect(sight.end?.reason == .memoryLimit, "\(String(describing: sight.end))")
        await harness.end()
    }

    /// The kernel's kill of a group signals only first threads.
    @Test func `a process whose first thread has ended does not outlive its launch`() async throws {
        let harness = try await LaunchHarness(groupKill: .cgroup)
        var order = try order("stays", harness, library: "leaderless")
        order.handler.manifest.sandbox.subprocesses = true
        let sight = try await harness.run(order)
        let process = try #require(sight.end?.message.flatMap { Int32($0) })
        try await harness.wait(for: "the end of process \(process)") {
            !FileManager.default.fileExists(atPath: "/proc/\(process)")
        }
        await harness.end()
    }

    /// Whether the tests' own cgroup can give the memory controller to launches.
    private static let hasMemoryController: Bool = {
        guard case .success(let own) = ControlGroup.own() else { return false }
        return own.controllers.contains("memory")
    }()

    private func harness(_ place: Place, _ runner: CagedRunner?) async throws -> LaunchHarness {
        try await LaunchHarness(
            groupKill: place.groupKill, runner: runner?.path ?? Products.path("bgtask-runner"),
            owner: place.cage.flatMap { $0 == .container ? nil : CagedRunner.user })
    }

    private func order(
        _ label: String, _ harness: LaunchHarness, _ limits: LaunchLimits? = nil, library: String = "hoards"
    ) throws -> LaunchOrder {
        var order = try harness.order(label, limits: limits)
        order.handler.libraryPath = try PluginCompiler.compile(
            library, into: harness.folder.appending(path: "library"))
        order.handler.libraryHash = library
        return order
    }
}
