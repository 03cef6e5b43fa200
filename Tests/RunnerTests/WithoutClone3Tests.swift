import Foundation
import Glibc
import RunnerWire
import TaskHostTestSupport
import TaskModel
import Testing

/// Launches where the kernel has no clone3, or where the seccomp filter of a container refuses it.
@Suite(.system, .serialized) struct WithoutClone3Tests {
    /// A program that runs a command under a filter that refuses clone3.
    private final class Wrapper {
        let path: String

        init() throws {
            path =
                FileManager.default.temporaryDirectory.appending(path: "without-clone3-\(UUID().uuidString)")
                .path
            let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "Fixtures/Programs/without_clone3.c")
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [
                "cc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-o", path, source.path,
            ]
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw HarnessError("cc of \(source.path)") }
        }

        deinit { unlink(path) }
    }

    @Test(arguments: Mode.all)
    func `a launch works`(mode: Mode) throws {
        let wrapper = try Wrapper()
        let launcher = try TestLauncher(wrapper: wrapper.path)
        let task = try launcher.run("work", mode.isolation, fresh: mode.fresh)
        guard case .done(let done) = try task.all().last else { throw HarnessError("no done") }
        #expect(done.success)
        #expect(try launcher.exited().waitStatus == 0)
    }

    @Test(arguments: Mode.grouped)
    func `a daemon that a task leaves behind is killed with its group`(mode: Mode) throws {
        let wrapper = try Wrapper()
        let launcher = try TestLauncher(wrapper: wrapper.path)
        let task = try launcher.run("daemonises", mode.isolation, fresh: mode.fresh, subprocesses: true)
        let exited = try launcher.exited()
        #expect(exited.waitStatus == 0 && exited.leftovers == 1)
        // The daemon that the fixture started held these pipes open, so their end proves that the daemon has
        // ended.
        #expect(try task.all().last == .done(DoneMessage(success: true, isDeaf: true)))
        #expect(try task.output() == "")
    }

    @Test(arguments: Mode.all)
    func `a task that ignores everything dies by kill`(mode: Mode) throws {
        let wrapper = try Wrapper()
        let launcher = try TestLauncher(wrapper: wrapper.path)
        let task = try launcher.run("stubborn", mode.isolation, fresh: mode.fresh)
        try task.waitUntilReady()
        try task.waitForLog()
        try launcher.send(KillMessage(launch: task.launch))
        #expect(try launcher.exited().waitStatus == UInt64(SIGKILL))
    }
}
