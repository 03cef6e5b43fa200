import Foundation
import Glibc
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

private let canGiveUsers = getuid() == 0 && (try? makeGroup()?.remove()) != nil

/// A group of a test's own.
private func makeGroup() -> ControlGroup? {
    try? ControlGroup.own().get().child("bgtask-test-\(UUID().uuidString)")
}

/// Who may start processes in the groups of a bundle that has a user of its own.
@Suite(
    .system, .serialized,
    .enabled(if: canGiveUsers, "only root can give users, and only with cgroups"))
struct GroupsOfUsersTests {
    private static let user: UInt32 = 2_100_000_011

    /// A launch that another one of its bundle has left idle groups to, and whose template has one.
    private func got(without layers: Set<SandboxLayer>) async throws -> String {
        let harness = try await LaunchHarness(
            groupKill: .cgroup, without: layers, bundleUser: Self.user)
        let library = try PluginCompiler.compile(
            "clones_into", into: harness.folder.appending(path: "library"))
        var message = ""
        // The groups of the first launch and its standby are free while the second one runs.
        for _ in 1...3 {
            var order = try harness.order("clones")
            order.handler.libraryPath = library
            order.handler.libraryHash = "clones"
            order.handler.manifest.sandbox.subprocesses = true
            let end = try await harness.run(order).end
            message = end?.completion == true ? end?.message ?? "no message" : "\(String(describing: end))"
        }
        await harness.end()
        return message
    }

    @Test func `a task can start a process only in the group of its launch`() async throws {
        #expect(try await got(without: []) == "nothing")
    }

    @Test func `even without the filter, a task can't start a process in the group of its template`()
        async throws
    {
        let got = try await got(without: [.seccomp])
        #expect(!got.contains("template") && !got.contains("Optional"), "\(got)")
    }

    /// Who owns the list of a group's processes, and so may add to it.
    private func owner(_ group: ControlGroup) -> UInt32? {
        var facts = stat()
        return stat(group.path + "/cgroup.procs", &facts) == 0 ? facts.st_uid : nil
    }

    @Test func `a user may add processes to a group only while a launch starts in it`() throws {
        let base = try #require(makeGroup())
        var pool = try GroupPool(base: base)
        defer { pool.remove() }
        let template = try pool.makeForTemplate(for: Self.user)
        #expect(owner(template) == 0 && owner(template.parent) == 0)

        let first = try pool.acquire(for: Self.user), second = try pool.acquire(for: Self.user)
        #expect([first, second, first.parent].map(owner) == [Self.user, Self.user, Self.user])
        pool.close(first)
        #expect([first, second, first.parent].map(owner) == [0, Self.user, Self.user])
        pool.close(second)
        pool.close(second)
        #expect([first, second, first.parent].map(owner) == [0, 0, 0])

        // A group that is used again, or that no task was started in.
        pool.release(first)
        let again = try pool.acquire(for: Self.user)
        #expect(again == first && [again, again.parent].map(owner) == [Self.user, Self.user])
        pool.release(again)
        #expect([again, again.parent].map(owner) == [0, 0])
        pool.discard(second)
        let last = try pool.acquire(for: nil)
        #expect(owner(last) == 0 && owner(base) == 0)
    }

    @Test func `the parent group of a user is given to it though the first attempt failed`() throws {
        let base = try #require(makeGroup())
        var pool = try GroupPool(base: base)
        defer { pool.remove() }
        // What an attempt leaves that failed after it had created the group.
        _ = try base.child("user-\(Self.user)")
        let group = try pool.acquire(for: Self.user)
        #expect(owner(group.parent) == Self.user)
    }
}
