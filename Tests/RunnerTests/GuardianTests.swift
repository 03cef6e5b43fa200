import Foundation
import Glibc
import LinuxSystem
import RunnerWire
import TaskHostTestSupport
import TaskModel
import Testing

/// What happens to the processes that tasks have started when the launcher is killed, and when it can't act.
@Suite(.system, .serialized, .enabled(if: Cgroups.root != nil, "there are no cgroups"))
struct GuardianTests {
    private static let deadline: Int32 = 20_000

    /// The daemon that the fixture leaves.
    private static func daemon(of task: TestTask) throws -> ProcessHandle {
        try task.waitUntilReady()
        guard case .log(let line) = try task.next(), let number = pid_t(line.message) else {
            throw HarnessError("no number of the daemon")
        }
        return try ProcessHandle(of: number)
    }

    private static func children(of process: pid_t) throws -> [pid_t] {
        let path = "/proc/\(process)/task/\(process)/children"
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: " ").compactMap {
            pid_t($0)
        }
    }

    /// The guardian, when it has closed what it does not need: it has as many descriptors as the test says.
    private static func guardian(of launcher: TestLauncher, descriptors count: Int) throws -> pid_t {
        let handle = try ProcessHandle(of: launcher.pid)
        for _ in 0..<(deadline / 10) {
            let found = try children(of: launcher.pid).first {
                (try? String(contentsOfFile: "/proc/\($0)/comm", encoding: .utf8)) == "bgtask-guardian\n"
                    && (try? descriptors(of: $0).count) == count
            }
            if let found { return found }
            if handle.waitForEnd(timeoutMilliseconds: 10) { break }
        }
        throw HarnessError("there is no guardian with \(count) descriptors")
    }

    /// What the descriptors of a process refer to.
    private static func descriptors(of process: pid_t) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
        }
    }

    @Test func `what a task has started ends with a launcher that is killed, without a host`() throws {
        let launcher = try TestLauncher(guarded: true)
        let task = try launcher.run("leaves_daemon", .cgroup, subprocesses: true)
        let daemon = try Self.daemon(of: task)
        kill(launcher.pid, SIGKILL)
        #expect(launcher.waitForEnd() == SIGKILL)
        #expect(daemon.waitForEnd(timeoutMilliseconds: Self.deadline), "the daemon outlives the launcher")
    }

    @Test func `a guardian has only what it needs, and another one follows when it is killed`() throws {
        let lock = FileManager.default.temporaryDirectory.appending(path: "lock-\(UUID().uuidString)").path
        defer { unlink(lock) }
        let launcher = try TestLauncher(lock: lock, guarded: true)
        let first = try Self.guardian(of: launcher, descriptors: 3)
        let handle = try ProcessHandle(of: first)
        kill(first, SIGKILL)
        #expect(handle.waitForEnd(timeoutMilliseconds: Self.deadline))
        let (template, _) = try launcher.template("leaves_daemon", .cgroup)
        let task = try launcher.launch(template, .cgroup, subprocesses: true)
        let daemon = try Self.daemon(of: task)
        let open = try Self.descriptors(of: try Self.guardian(of: launcher, descriptors: 3))
        #expect(open.count == 3 && open.contains(lock), "\(open)")
        kill(launcher.pid, SIGKILL)
        #expect(daemon.waitForEnd(timeoutMilliseconds: Self.deadline), "the daemon outlives the launcher")
    }

    /// No process but the launcher may hold the other end of the guardian's pipe.
    @Test(arguments: Mode.all)
    func `a task has no descriptor of the guardian`(mode: Mode) throws {
        let launcher = try TestLauncher(guarded: true)
        let (template, _) = try launcher.template("expires", mode.isolation)
        let task = try launcher.launch(template, mode.isolation, fresh: mode.fresh)
        try task.waitUntilReady()
        func pipes(_ process: pid_t) throws -> Set<String> {
            Set(try Self.descriptors(of: process).filter { $0.hasPrefix("pipe:") })
        }
        let guardian = try Self.guardian(of: launcher, descriptors: 3)
        let own = try pipes(guardian)
        #expect(own.count == 1)
        for child in try Self.children(of: launcher.pid) where child != guardian {
            #expect(try pipes(child).isDisjoint(with: own))
        }
        task.hangUp()
    }

    @Test func `a launcher that ends by itself leaves no guardian`() throws {
        let launcher = try TestLauncher(guarded: true)
        let guardian = try ProcessHandle(of: try Self.guardian(of: launcher, descriptors: 3))
        launcher.closeSocket()
        #expect(launcher.waitForEnd() == 0)
        #expect(guardian.waitForEnd(timeoutMilliseconds: 0))
    }

    @Test func `the next launcher waits for the guardian of one that was killed`() throws {
        let lock = FileManager.default.temporaryDirectory.appending(path: "lock-\(UUID().uuidString)").path
        defer { unlink(lock) }
        let launcher = try TestLauncher(lock: lock, guarded: true)
        let guardian = try Self.guardian(of: launcher, descriptors: 3)
        kill(guardian, SIGSTOP)
        kill(launcher.pid, SIGKILL)
        #expect(launcher.waitForEnd() == SIGKILL)
        let probe = open(lock, O_RDWR | O_CLOEXEC)
        defer { close(probe) }
        #expect(flock(probe, LOCK_EX | LOCK_NB) == -1)
        kill(guardian, SIGCONT)
        #expect(flock(probe, LOCK_EX) == 0)
    }

    /// The launcher is stopped and knows no groups, so the task must do it.
    @Test(.enabled(if: KernelSandbox.layers.contains(.landlockScopes), "the kernel has no scope of signals"))
    func `a task without an expiration handler ends with what it has started when its host goes`() throws {
        let launcher = try TestLauncher()
        let (template, _) = try launcher.template("leaves_daemon", .cgroup) { $0.sandbox = [.landlockScopes] }
        let task = try launcher.launch(template, .cgroup, subprocesses: true)
        let daemon = try Self.daemon(of: task)
        kill(launcher.pid, SIGSTOP)
        defer { kill(launcher.pid, SIGCONT) }
        task.hangUp()
        #expect(daemon.waitForEnd(timeoutMilliseconds: Self.deadline), "the daemon outlives its task")
    }
}
