import Foundation
import Glibc
import LinuxSystem
import RunnerWire
import TaskHostTestSupport
import TaskModel
import Testing

/// The launcher's duties towards the host when plugins, templates or hosts die.
@Suite(.system, .serialized) struct LauncherTests {
    @Test(arguments: Mode.grouped)
    func `a daemon that a task leaves behind is killed and counted`(mode: Mode) throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("daemonises", mode.isolation, fresh: mode.fresh, subprocesses: true)
        let exited = try launcher.exited()
        #expect(exited.waitStatus == 0 && exited.leftovers == 1)
        // The daemon that the fixture started held these pipes open, so their end proves that the daemon has
        // ended.
        #expect(try task.all().last == .done(DoneMessage(success: true, isDeaf: true)))
        #expect(try task.output() == "")
    }

    @Test(arguments: Mode.all)
    func `without permission a task can't fork`(mode: Mode) throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("daemonises", mode.isolation, fresh: mode.fresh)
        #expect(
            try task.all().last
                == .done(DoneMessage(success: false, message: "Operation not permitted", isDeaf: true)))
    }

    @Test func `subprocesses are refused where nothing could kill them`() throws {
        let launcher = try TestLauncher()
        let (template, _) = try launcher.template("work")
        try launcher.send(
            SpawnMessage(
                launch: 99, template: template, cgroup: nil, subprocesses: true, fresh: false, memory: nil))
        guard case .spawnFailed(let failed) = try launcher.next() else { throw HarnessError("not refused") }
        #expect(failed.launch == 99 && failed.finding.contains("may start processes"))
    }

    @Test(arguments: Mode.all)
    func `a task that ignores everything dies by kill`(mode: Mode) throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("stubborn", mode.isolation, fresh: mode.fresh)
        try task.waitUntilReady()
        try task.waitForLog()
        try launcher.send(KillMessage(launch: task.launch))
        let exited = try launcher.exited()
        #expect(exited.waitStatus == UInt64(SIGKILL) && exited.leftovers == 0)
        #expect(try task.all() == [])
    }

    @Test(arguments: [GroupKill.noFork, .pidNamespace])
    func `a crash in a constructor is the template's, with its signal`(isolation: GroupKill) throws {
        let launcher = try TestLauncher()
        guard case .templateFailed(let failed) = try launcher.template("constructor_aborts", isolation).1
        else {
            throw HarnessError("loaded")
        }
        #expect(failed.waitStatus.map { $0 & 0x7F } == UInt64(SIGABRT))
    }

    /// Only so the host counts what the task starts before the host can look at it.
    @Test(.enabled(if: InheritedClock(of: getpid()) != nil, "the kernel refuses perf's task clock"))
    func `a task with processes and without a group comes with a counter`() throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("stubborn", .pidNamespace, fresh: true, subprocesses: true)
        let counter = try #require(task.counter)
        try task.waitUntilReady()
        var nanoseconds: UInt64 = 0
        #expect(read(counter, &nanoseconds, 8) == 8 && nanoseconds > 0)
        try launcher.send(KillMessage(launch: task.launch))
        _ = try launcher.exited()
        #expect(try launcher.run("stubborn", .noFork, fresh: true).counter == nil)
    }

    /// The kernel's kill of a group signals only first threads.
    @Test(.enabled(if: Cgroups.root != nil, "there are no cgroups"))
    func `a process whose first thread has ended does not keep its launch from ending`() throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("leaderless", .cgroup, subprocesses: true)
        #expect(try launcher.exited().leftovers > 0)
        _ = try task.all()
    }

    /// The list of the group that is killed is made up, because no test can make the kernel use a number
    /// again in time.
    @Test(.enabled(if: Cgroups.root != nil, "only clones are made in a group by their template"))
    func `a number in the list of a group that is another process's by now is not killed`() throws {
        let launcher = try TestLauncher()
        let (template, _) = try launcher.template("expires", .cgroup)
        let other = Process()
        other.executableURL = URL(filePath: "/bin/sleep")
        other.arguments = ["1000"]
        try other.run()
        try Data("\(other.processIdentifier)\n".utf8).write(
            to: launcher.folder.appending(path: "cgroup.procs"))
        // No task can be made there, and the launcher kills what may be in that group.
        try launcher.send(
            SpawnMessage(
                launch: 99, template: template, cgroup: launcher.folder.path, subprocesses: false,
                fresh: false, memory: nil))
        let report = try launcher.next()
        guard case .spawnFailed = report else { throw HarnessError("\(report)") }
        // A kill would end it at once.
        #expect(!(try ProcessHandle(of: other.processIdentifier)).waitForEnd(timeoutMilliseconds: 200))
        _ = kill(other.processIdentifier, SIGKILL)
        other.waitUntilExit()
    }

    @Test func `a library that is missing is reported in the loader's words`() throws {
        let launcher = try TestLauncher()
        try launcher.send(
            TemplateMessage(template: 1, library: "/nonexistent/a.so", directory: "/", isolation: .noFork))
        guard case .templateFailed(let failed) = try launcher.next() else { throw HarnessError("loaded") }
        #expect(failed.finding.contains("/nonexistent/a.so") && failed.waitStatus == nil)
    }

    @Test(arguments: ["wrong_abi", "no_entry"])
    func `a library without a usable entry fails to load, in words`(fixture: String) throws {
        let launcher = try TestLauncher()
        let task = try launcher.run(fixture)
        guard case .loadFailed(let failed) = try task.next() else { throw HarnessError("loaded") }
        #expect(failed.finding.contains(fixture == "no_entry" ? "bgtask_plugin_entry" : "ABI version 2"))
        #expect(try launcher.exited().waitStatus == 69 << 8)
    }

    @Test func `a library that starts a thread when loaded is never cloned, and runs`() throws {
        let launcher = try TestLauncher()
        let (template, answer) = try launcher.template("constructor_thread")
        guard case .templateReady(let ready) = answer else { throw HarnessError("\(answer)") }
        #expect(!ready.isCloneable && ready.finding?.contains("2 threads") == true)
        for _ in 1...2 {
            let task = try launcher.launch(template)
            #expect(try task.all().last == .done(DoneMessage(success: true, isDeaf: true)))
            #expect(try launcher.exited().waitStatus == 0)
        }
    }

    @Test(.enabled(if: Cgroups.root != nil, "only templates with cgroups stay"))
    func `a template that is killed is reported, and its running task goes on`() throws {
        let launcher = try TestLauncher()
        let (template, _) = try launcher.template("expires", .cgroup)
        let task = try launcher.launch(template, .cgroup)
        try task.waitUntilReady()
        try task.waitForLog()
        try launcher.send(KillTemplateMessage(template: template))
        guard case .templateFailed(let failed) = try launcher.next() else { throw HarnessError("no report") }
        #expect(failed.template == template && failed.waitStatus == UInt64(SIGKILL))
        try task.send(TaskExpireMessage(reason: "simulated", grace: 5000, deadline: .max))
        #expect(try task.all() == [.done(DoneMessage(success: false, message: "simulated"))])
        #expect(try launcher.exited().waitStatus == 0)
        #expect(throws: HarnessError.self) { try launcher.launch(template, .cgroup) }
    }

    @Test(.enabled(if: Cgroups.root != nil, "only templates with cgroups stay"))
    func `a retired template ends in silence, its running task goes on, spawns are refused`() throws {
        let launcher = try TestLauncher()
        let (template, _) = try launcher.template("expires", .cgroup)
        let task = try launcher.launch(template, .cgroup)
        try task.waitUntilReady()
        try task.waitForLog()
        try launcher.send(RetireMessage(template: template))
        try task.send(TaskExpireMessage(reason: "simulated", grace: 5000, deadline: .max))
        #expect(try launcher.exited().waitStatus == 0)
        #expect(throws: HarnessError.self) { try launcher.launch(template, .cgroup) }
    }

    /// The host retires a template for new code, while it makes a standby and a launch.
    @Test(.enabled(if: Cgroups.root != nil, "only templates with cgroups stay"))
    func `a template that is retired before it answers makes the launch that it was asked for`() throws {
        let launcher = try TestLauncher()
        let standby = try Cgroups.make("standby-\(launcher.pid)")
        defer { rmdir(standby) }
        var group: String?
        let (template, _) = try launcher.template("expires", .cgroup) {
            group = try? Cgroups.make("template-\(launcher.pid)")
            $0.cgroup = group
        }
        let path = try #require(group)
        defer { rmdir(path) }
        let text = try String(contentsOfFile: path + "/cgroup.procs", encoding: .utf8)
        let process = try #require(pid_t(text.prefix { $0 != "\n" }))
        kill(process, SIGSTOP)
        try launcher.send(PrepareMessage(template: template, cgroup: standby, subprocesses: false))
        let task = try launcher.launch(
            template, .cgroup,
            meanwhile: {
                try launcher.send(RetireMessage(template: template))
                kill(process, SIGCONT)
            })
        try task.waitUntilReady()
        try task.waitForLog()
        try task.send(TaskExpireMessage(reason: "simulated", grace: 5000, deadline: .max))
        #expect(try launcher.exited().waitStatus == 0)
    }

    @Test(.enabled(if: Cgroups.root != nil && geteuid() == 0, "only root can leave a group"))
    func `a child that moved itself to another cgroup dies with its launch, and others live on`() throws {
        let launcher = try TestLauncher()
        let alive = try launcher.makeFIFO("alive")
        defer { close(alive) }
        let (template, _) = try launcher.template("expires", .cgroup)
        let other = try launcher.launch(template, .cgroup, subprocesses: true)
        try other.waitUntilReady()
        let task = try launcher.run("leaves_group", .cgroup, subprocesses: true)
        // A sandbox may refuse the move. Then the child ends with its group.
        _ = try task.all()
        _ = try launcher.exited()
        #expect(try waitUntilReadable(alive), "the child outlives its launch")
        try other.send(TaskExpireMessage(reason: "simulated", grace: 5000, deadline: .max))
        #expect(try launcher.exited().waitStatus == 0)
    }

    /// Without cgroups, nothing could find a process that a constructor left behind.
    @Test(arguments: [GroupKill.noFork, .pidNamespace])
    func `a constructor without a cgroup leaves no process behind`(isolation: GroupKill) throws {
        let launcher = try TestLauncher()
        // The daemon holds a FIFO open for as long as it lives.
        let alive = try launcher.makeFIFO("alive")
        defer { close(alive) }
        let (template, answer) = try launcher.template("constructor_daemonises", isolation)
        guard case .templateReady(let ready) = answer else { throw HarnessError("\(answer)") }
        #expect(!ready.isCloneable)
        #expect(try waitUntilReadable(alive), "the daemon of the template's constructor is alive")
        let task = try launcher.launch(template, isolation)
        #expect(try task.all().last == .done(DoneMessage(success: true, isDeaf: true)))
        _ = try launcher.exited()
        #expect(try waitUntilReadable(alive), "the daemon of the task's constructor is alive")
    }

    @Test(arguments: Mode.all)
    func `when the host goes no process is left, and then the launcher ends`(mode: Mode) throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("stubborn", mode.isolation, fresh: mode.fresh)
        try task.waitUntilReady()
        try task.waitForLog()
        // Only the socket closes. The task's control pipe stays open, so the launcher must kill the task.
        launcher.closeSocket()
        #expect(launcher.waitForEnd() == 0)
        #expect(try task.all() == [])
        #expect(try waitUntilReadable(task.pidfd))
    }

    @Test func `when the launcher is killed its tasks die with it`() throws {
        let launcher = try TestLauncher()
        let task = try launcher.run("stubborn")
        try task.waitUntilReady()
        try task.waitForLog()
        kill(launcher.pid, SIGKILL)
        #expect(launcher.waitForEnd() == SIGKILL)
        #expect(try task.all() == [])
        #expect(try waitUntilReadable(task.pidfd))
    }

    /// A thread that works in the background has a nice value of its own, and what it starts inherits it.
    @Test(.enabled(if: getuid() == 0, "only root may lower a nice value"))
    func `the launcher has the nice value of its host, and not that of the thread that started it`()
        async throws
    {
        let nice = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Int, any Error>) in
            Thread.detachNewThread {
                setpriority(__priority_which_t(0), 0, 19)
                done.resume(
                    with: Result {
                        let launcher = try TestLauncher()
                        let stat = try String(contentsOfFile: "/proc/\(launcher.pid)/stat", encoding: .utf8)
                        let fields = stat.split(separator: " ")
                        return try #require(Int(fields[18]))
                    })
            }
        }
        #expect(nice == Int(getpriority(__priority_which_t(0), id_t(getpid()))))
    }

    @Test func `a second launcher says hello when the first has let go of the lock`() throws {
        let lock = FileManager.default.temporaryDirectory.appending(path: "lock-\(UUID().uuidString)").path
        defer { unlink(lock) }
        let first = try TestLauncher(lock: lock)
        let probe = open(lock, O_RDWR | O_CLOEXEC)
        defer { close(probe) }
        #expect(flock(probe, LOCK_EX | LOCK_NB) == -1)
        first.closeSocket()
        _ = try TestLauncher(lock: lock)
        #expect(first.waitForEnd() == 0)
    }

    @Test func `a host that breaks the protocol is treated as gone`() throws {
        let launcher = try TestLauncher()
        try launcher.sendBytes([0xFF, 0xFF, 0xFF, 0xFF])
        #expect(launcher.waitForEnd() == 0)
    }
}
