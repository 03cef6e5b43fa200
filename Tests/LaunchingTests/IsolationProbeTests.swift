import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// The probe of the machine, where a container's filter refuses what the kernel could do.
@Suite(.system, .serialized) struct IsolationProbeTests {
    @Test func `a PID namespace that a filter refuses is not offered, and launches run without it`()
        async throws
    {
        let runner = try CagedRunner(.container)
        let error = #expect(throws: LauncherError.self) {
            try IsolationProbe(
                stateDirectory: runner.folder.path, runnerPath: runner.path, wanted: .pidNamespace)
        }
        #expect(error?.code == .isolationUnavailable)
        #expect(
            error?.finding == "an attempt failed: Operation not permitted", "\(String(describing: error))")
        let probe = try IsolationProbe(
            stateDirectory: runner.folder.path, runnerPath: runner.path, wanted: .noFork)
        #expect(probe.report.groupKill == .noFork)
        let harness = try await LaunchHarness(groupKill: .noFork, runner: runner.path)
        #expect(try await harness.run(try harness.order("succeeds")).end?.outcome == .succeeded)
        await harness.end()
    }

    @Test func `an isolation that has no effect is not offered, and the report says so`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "probe-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let runner = folder.appending(path: "runner").path
        try Data("#!/bin/sh\nexit 71\n".utf8).write(to: URL(filePath: runner))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: runner)
        let error = #expect(throws: LauncherError.self) {
            try IsolationProbe(stateDirectory: folder.path, runnerPath: runner, wanted: .noFork)
        }
        #expect(error?.finding == "an attempt had no effect, or a signal ended it")
    }

    @Test func `a layer whose probe can't be started is not offered`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "probe-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let runner = folder.appending(path: "runner").path
        let error = #expect(throws: LauncherError.self) {
            try IsolationProbe(stateDirectory: folder.path, runnerPath: runner, wanted: .noFork)
        }
        #expect(
            error?.finding
                == "an attempt could not be started: posix_spawn(\(runner)): No such file or directory (2)")
        // With a cgroup, the host needs no probe to end all processes of a launch, but has no sandbox.
        if case .success = ControlGroup.own() {
            let probe = try IsolationProbe(stateDirectory: folder.path, runnerPath: runner, wanted: nil)
            #expect(probe.report.sandbox.isEmpty && !probe.reportsCalls, "\(probe.report)")
        }
    }

    @Test func `an attempt that lacks a process or memory is made again, and another error is final`() throws
    {
        var attempts = 0, pauses = 0
        func attempt(failures: Int, _ code: CInt) throws(SystemCallError) -> Int {
            try IsolationProbe.retrying(pause: { pauses += 1 }) { () throws(SystemCallError) in
                attempts += 1
                if attempts <= failures {
                    throw SystemCallError(call: "posix_spawn", subject: "a", code: code)
                }
                return attempts
            }
        }
        #expect(try attempt(failures: 9, EAGAIN) == 10 && pauses == 9)
        attempts = 0
        #expect(throws: SystemCallError.self) { try attempt(failures: 10, EAGAIN) }
        #expect(attempts == 10)
        attempts = 0
        #expect(throws: SystemCallError.self) { try attempt(failures: 1, ENOENT) }
        #expect(attempts == 1)
    }

    @Test(arguments: [true, false])
    func `a group with other processes gets no controllers, because nothing could start below it`(
        isAlone: Bool
    ) throws {
        // A directory with the kernel's names: no machine of the tests has these controllers in version 2.
        let folder = FileManager.default.temporaryDirectory.appending(path: "groups-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["", "bgtask-host", "base"] {
            let group = folder.appending(path: name)
            try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
            for (file, text) in [
                ("type", "domain\n"), ("procs", ""), ("controllers", "cpu io memory pids\n"),
                ("subtree_control", ""),
            ] {
                try Data(text.utf8).write(to: group.appending(path: "cgroup.\(file)"))
            }
        }
        if !isAlone {
            try Data("\(getpid())\n1\n".utf8).write(to: folder.appending(path: "cgroup.procs"))
        }
        let layer = try #require(
            IsolationProbe.delegate(to: ControlGroup(path: folder.path + "/base")).first)
        let enabled = try SmallFile.read(folder.path + "/cgroup.subtree_control")
        #expect(enabled.isEmpty != isAlone, "\(enabled)")
        #expect(layer.finding.contains("other processes are in its cgroup: 1. ") != isAlone, "\(layer)")
        guard !isAlone else { return }
        #expect(layer.finding.contains("It limits the processes of a bundle"), "\(layer)")
        let counted = IsolationProbe.delegate(
            to: ControlGroup(path: folder.path + "/base"), countsProcesses: true)
        #expect(counted.first?.finding.contains("It counts the processes of each launch itself. ") == true)
    }

    @Test func `outside such a cage, the attempt succeeds`() throws {
        let probe = try IsolationProbe(
            stateDirectory: FileManager.default.temporaryDirectory.path,
            runnerPath: Products.path("bgtask-runner"), wanted: .noFork)
        let layer = try #require(probe.report.layers.first { $0.name == "pid namespace" })
        let command = Command.run("unshare", "--pid", "--mount", "--fork", "true")
        #expect(layer.isAvailable == (command.status == 0) || geteuid() != 0, "\(layer)")
    }
}
