import Foundation
import Glibc
import LinuxSystem
import RunnerWire
import TaskHostTestSupport
import TaskModel
import Testing

/// A launcher that runs out of descriptors, or whose host does not read: it puts launches back, loses
/// nothing, and goes on when there are descriptors again.
@Suite(.system, .serialized) struct LauncherShortageTests {
    /// Reads to the end of a launch that must succeed, or lack something in its own process, which has the
    /// launcher's limit. Returns whether it succeeded.
    private static func finish(_ task: TestTask, of launcher: TestLauncher) throws -> Bool {
        let last = try task.all().last
        _ = try launcher.exited()
        if case .loadFailed(let failed) = last {
            #expect(failed.isShortage, "\(failed.finding)")
            return false
        }
        guard case .done(let done) = last else { throw HarnessError("\(String(describing: last))") }
        #expect(done.success)
        return true
    }

    /// Puts a new process of the test into a group.
    private static func sleeper(in group: String) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sleep")
        process.arguments = ["1000"]
        try process.run()
        try SmallFile.write("\(process.processIdentifier)", to: group + "/cgroup.procs")
        return process
    }

    /// A template with a group of its own; returns the process, too.
    private static func template(
        of launcher: TestLauncher, _ fixture: String
    ) throws -> (id: UInt64, process: pid_t, group: String) {
        let group = try Cgroups.make("template-\(launcher.pid)")
        let (id, answer) = try launcher.template(fixture, .cgroup) { $0.cgroup = group }
        guard case .templateReady(let ready) = answer, ready.isCloneable else {
            throw HarnessError("\(answer)")
        }
        let text = try String(contentsOfFile: group + "/cgroup.procs", encoding: .utf8)
        return (id, try #require(pid_t(text.prefix { $0 != "\n" })), group)
    }

    /// Each number of free descriptors makes another call fail.
    @Test(arguments: Mode.all)
    func `a launch without descriptors is put back, and starts when there are some`(mode: Mode) throws {
        let launcher = try TestLauncher()
        let (template, answer) = try launcher.template("work", mode.isolation)
        guard case .templateReady = answer else { throw HarnessError("\(answer)") }
        let before = try launcher.countDescriptors()
        var putBack = 0
        for free in 0...16 {
            try launcher.limitDescriptors(free: free)
            do {
                let task = try launcher.launch(
                    template, mode.isolation, fresh: mode.fresh, mayEndEarly: true)
                _ = try Self.finish(task, of: launcher)
            } catch let shortage as PutBack {
                putBack += 1
                #expect(shortage.finding.contains("(24)"), "\(shortage.finding)")
            }
            try launcher.unlimitDescriptors()
        }
        #expect(putBack >= 8)
        let task = try launcher.launch(template, mode.isolation, fresh: mode.fresh)
        #expect(try Self.finish(task, of: launcher))
        // The launcher sees the end of a filter at some moment after the end of its launch.
        for _ in 0..<1000 where try launcher.countDescriptors() > before {}
        #expect(try launcher.countDescriptors() <= before)
    }

    @Test(.enabled(if: Cgroups.root != nil, "only templates with cgroups make clones"))
    func `a clone for which no descriptor is free is put back, and its template stays`() throws {
        let launcher = try TestLauncher()
        let template = try Self.template(of: launcher, "work")
        defer { rmdir(template.group) }
        kill(template.process, SIGSTOP)
        let error = #expect(throws: PutBack.self) {
            try launcher.launch(
                template.id, .cgroup,
                meanwhile: {
                    try launcher.limitDescriptors(free: 0)
                    kill(template.process, SIGCONT)
                })
        }
        #expect(error?.finding.contains("(24)") == true, "\(String(describing: error))")
        try launcher.unlimitDescriptors()
        #expect(try Self.finish(try launcher.launch(template.id, .cgroup), of: launcher))
    }

    /// A process of the test is left in the group when its task ends.
    @Test(.enabled(if: Cgroups.root != nil, "there are no cgroups"))
    func `a launch whose group can't be opened has not ended, and its processes die later`() throws {
        let launcher = try TestLauncher()
        let (template, _) = try launcher.template("expires", .cgroup)
        let task = try launcher.launch(template, .cgroup, subprocesses: true)
        try task.waitUntilReady()
        try task.waitForLog()
        let groups = try SmallFile.read("/proc/\(task.pid)/cgroup").split(separator: "\n")
        let name = try #require(groups.last { $0.hasPrefix("0::") }?.split(separator: "/").last)
        let rest = try Self.sleeper(in: "\(try #require(Cgroups.root))/\(name)")
        defer { rest.terminate() }
        let handle = try ProcessHandle(of: rest.processIdentifier)
        try launcher.limitDescriptors(free: 0)
        try task.send(TaskExpireMessage(reason: "simulated", grace: 5000, deadline: .max))
        #expect(try task.all() == [.done(DoneMessage(success: false, message: "simulated"))])
        #expect(try waitUntilReadable(task.pidfd))
        try launcher.unlimitDescriptors()
        #expect(try launcher.exited().waitStatus == 0)
        #expect(handle.waitForEnd(timeoutMilliseconds: 20_000), "a process outlives its launch")
    }

    @Test func `a host that does not read for a while gets every report, in order`() throws {
        let launcher = try TestLauncher(sendBuffer: 1)
        let (template, _) = try launcher.template("work")
        let orders = 2000
        let first = launcher.number()
        for order in 0..<UInt64(orders) {
            try launcher.send(
                SpawnMessage(
                    launch: first + order, template: order % 100 == 0 ? template : 0, cgroup: nil,
                    subprocesses: false, fresh: true, memory: nil))
        }
        var answered: [UInt64] = []
        while answered.count < orders {
            switch try launcher.next() {
            case .spawned(let spawned): answered.append(spawned.launch)
            case .spawnFailed(let failed): answered.append(failed.launch)
            case let report: throw HarnessError("\(report)")
            }
        }
        #expect(answered == (0..<UInt64(orders)).map { first + $0 })
        #expect(launcher.takeDescriptors().count >= 5 * orders / 100)
    }

    /// The kernel counts the descriptors that a user has sent and nobody has received, except for root.
    @Test(.enabled(if: geteuid() == 0, "needs root, to start a launcher as another user"))
    func `a user's launcher with too many descriptors under way sends them when the host reads`() throws {
        let folder = try TemporaryFolder()
        let wrapper = folder.url.appending(path: "as-user")
        let script =
            "#!/bin/sh\nulimit -n 40\nexec setpriv --reuid=61246 --regid=61246 --clear-groups \"$@\"\n"
        try Data(script.utf8).write(to: wrapper)
        chmod(wrapper.path, 0o755)
        let launcher = try TestLauncher(wrapper: wrapper.path)
        chmod(launcher.folder.path, 0o755)
        let (template, answer) = try launcher.template("work")
        guard case .templateReady = answer else { throw HarnessError("\(answer)") }
        let orders = 40
        let first = launcher.number()
        for order in 0..<UInt64(orders) {
            try launcher.send(
                SpawnMessage(
                    launch: first + order, template: template, cgroup: nil, subprocesses: false, fresh: true,
                    memory: nil))
        }
        var spawned = 0
        var refused = 0
        var ended = 0
        while spawned + refused < orders {
            switch try launcher.next() {
            case .spawned: spawned += 1
            case .exited: ended += 1
            case .spawnFailed(let failed):
                refused += 1
                #expect(failed.isShortage, "\(failed.finding)")
            case let report: throw HarnessError("\(report)")
            }
        }
        #expect(launcher.takeDescriptors().count >= 5 * spawned)
        #expect(spawned > 0 && refused > 0)
        // Without their pipes, the tasks end.
        for _ in ended..<spawned { _ = try launcher.exited() }
        #expect(try Self.finish(try launcher.launch(template, fresh: true), of: launcher))
    }
}

/// A directory of one test, which everybody may read.
private final class TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appending(path: "shortage-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        chmod(url.path, 0o755)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
