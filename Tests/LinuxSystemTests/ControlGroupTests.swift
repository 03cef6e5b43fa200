import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

@testable import LinuxSystem

/// Control groups of the running kernel, and folders that imitate groups that the tests cannot have.
@Suite(.system) struct ControlGroupTests {
    private static func folder(_ files: [String: String]) throws -> ControlGroup {
        let url = FileManager.default.temporaryDirectory.appending(path: "group-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: url.appending(path: name)) }
        return ControlGroup(path: url.path)
    }

    @Test func `the memory controller's counts are read, where it is delegated`() throws {
        let group = try Self.folder([
            "memory.events": "low 0\nhigh 3\nmax 17\noom 1\noom_kill 2\noom_group_kill 0\n",
            "memory.peak": "268435456\n",
        ])
        var expected = MemoryEvents()
        expected.limitHits = 17
        expected.kills = 2
        expected.peakBytes = 268_435_456
        #expect(group.memoryEvents == expected)
        #expect(try Self.folder([:]).memoryEvents == nil)
        try FileManager.default.removeItem(atPath: group.path)
    }

    @Test func `controllers that a group has are handed to its children, others are left alone`() throws {
        guard case .success(let own) = ControlGroup.own(), let controller = own.controllers.sorted().first,
            let outer = try? own.child("bgtask-test-\(UUID().uuidString)")
        else {
            print("skipped: no cgroup v2 with a controller here")
            return
        }
        defer { try? outer.remove() }
        // Only a root group can both contain processes and delegate controllers.
        guard own.delegate([controller]) == [controller] else {
            print("skipped: \(own.path) has processes and is no root group")
            return
        }
        #expect(outer.controllers.contains(controller))
        #expect(outer.delegatedControllers == [])
        #expect(outer.delegate([controller, "no-such-controller"]) == [controller])
        #expect(outer.delegatedControllers == [controller])
        let inner = try outer.child("inner")
        #expect(inner.controllers == [controller])
        try inner.remove()
    }

    @Test func `a wait for an empty group lasts as long as it was asked for`() throws {
        guard let group = TestGroup.make() else { return }
        defer { try? group.remove() }
        let process = try TestGroup.sleeper()
        try SmallFile.write("\(process.processIdentifier)", to: group.path + "/cgroup.procs")
        let begin = ContinuousClock.now
        #expect(!group.waitUntilEmpty(timeoutMilliseconds: 200))
        #expect(ContinuousClock.now - begin >= .milliseconds(200))
        _ = kill(process.processIdentifier, SIGKILL)
        #expect(group.waitUntilEmpty(timeoutMilliseconds: 10_000))
        process.waitUntilExit()
    }

    /// The kernel's kill of a group signals only first threads, so each process in the list is killed, too.
    /// The list is made up, because no test can make the kernel use a number again in time.
    @Test func `a number in the list of a group that is another process's by now is not killed`() throws {
        let process = try TestGroup.sleeper()
        let group = try Self.folder(["cgroup.kill": "", "cgroup.procs": "\(process.processIdentifier)\n"])
        try group.kill()
        // A kill would end it at once.
        #expect(!(try ProcessHandle(of: process.processIdentifier)).waitForEnd(timeoutMilliseconds: 200))
        _ = kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try FileManager.default.removeItem(atPath: group.path)
    }

    @Test func `all processes of a group and of those below it are killed`() throws {
        guard let group = TestGroup.make() else { return }
        let below = try group.child("below")
        defer {
            try? below.remove()
            try? group.remove()
        }
        let processes = try (0..<4).map { _ in try TestGroup.sleeper() }
        for (number, process) in processes.enumerated() {
            try (number < 2 ? group : below).take(process.processIdentifier)
        }
        // Only the kill of each process by itself.
        group.killListed()
        #expect(group.waitUntilEmpty(timeoutMilliseconds: 20_000))
        for process in processes { process.waitUntilExit() }
    }
}
