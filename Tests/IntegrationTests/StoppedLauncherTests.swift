import Foundation
import TaskHostTestSupport
import Testing

/// Row 5 of the faults of isolation: somebody stops the process that starts tasks, with a real host.
@Suite(.system) struct StoppedLauncherTests {
    /// A host with a launch that never ends by itself, and whose launcher is stopped.
    private struct Stopped {
        let host = try? HostProcess()
        let launcher: Int32
        let task: Int32

        init() throws {
            let host = try #require(host)
            try host.start()
            try EndToEndTests.install(in: host)
            try host.wait("the manifest is read") {
                host.run("plugins").output.contains("com.example.counting")
            }
            host.run("submit", "com.example.counting.count", "--payload", #"{"mode":"wait"}"#)
            try host.wait("it runs") { try host.launches().first?["state"] as? String == "running" }
            launcher = try ProcessTree.launcher(of: host)
            task = try #require(
                ProcessTree.children(of: launcher).first { ProcessTree.name(of: $0) != "bgtask-guardian" })
            kill(launcher, SIGSTOP)
        }
    }

    @Test func `a stopped launcher is replaced, and its launch runs again, without any order`() throws {
        let stopped = try Stopped()
        let host = try #require(stopped.host)
        try host.wait("the next attempt") { try host.launches().count > 1 }
        #expect(try host.launches().last?["outcome"] as? String == "lost")
        #expect(!ProcessTree.isAlive(stopped.task))
        #expect(!ProcessTree.isAlive(stopped.launcher))
        #expect(host.stop() == 0)
        #expect(host.leftovers().isEmpty)
    }

    @Test func `two SIGTERMs end a host whose launcher is stopped, with all processes`() throws {
        let stopped = try Stopped()
        let host = try #require(stopped.host)
        kill(host.processIdentifier, SIGTERM)
        try host.wait("the first one is handled") { host.logTail(9).contains("stopping") }
        #expect(host.stop() == 0)
        try host.wait("all processes end") { host.leftovers().isEmpty }
    }

    @Test func `the next host does not wait for the stopped launcher of a host that was killed`() throws {
        let stopped = try Stopped()
        let host = try #require(stopped.host)
        host.kill()
        try host.start()
        #expect(host.logTail(20).contains("process \(stopped.launcher), was stopped"))
        #expect(!ProcessTree.isAlive(stopped.task))
        #expect(try host.launches().first?["outcome"] as? String == "lost")
        #expect(host.stop() == 0)
    }

    @Test func `a guardian that is stopped does not keep the host from its next launcher`() throws {
        let stopped = try Stopped()
        let host = try #require(stopped.host)
        let guardian = try #require(
            ProcessTree.children(of: stopped.launcher).first { ProcessTree.name(of: $0) == "bgtask-guardian" }
        )
        kill(guardian, SIGSTOP)
        kill(stopped.launcher, SIGKILL)
        try host.wait("the next attempt") { try host.launches().count > 1 }
        #expect(
            host.logTail(40).contains("the guardian of an earlier launcher, process \(guardian), was stopped")
        )
        #expect(host.stop() == 0)
        #expect(host.leftovers().isEmpty)
    }

    /// Neither the host nor the launcher is there to kill its group.
    @Test(arguments: ["wait", "exit 0"])
    func `what a command has started ends with the host, though the launcher is stopped`(end: String) throws {
        let host = try HostProcess()
        let file = host.directory.appendingPathComponent("shared/pid")
        let manifest = """
            apiVersion: bgtask/v1
            bundle: com.example.leaver
            modes: [processing]
            sandbox: {write: [{path: "\(file.deletingLastPathComponent().path)", create: true}]}
            tasks:
              - identifier: com.example.leaver
                kind: processing
                deviceActivity: ignore
                command:
                  run:
                    - /bin/sh
                    - -c
                    - |
                      trap '\(end)' TERM
                      setsid sh -c 'trap "" TERM; echo $$ > "\(file.path)"; sleep 1000; sleep 1000' &
                      sleep 1000 & wait; wait

            """
        try Data(manifest.utf8).write(to: host.manifests.appendingPathComponent("leaver.yaml"))
        try host.start()
        host.run("launch", "com.example.leaver")
        var child: Int32 = 0
        try host.wait("the program's child is there") {
            child =
                (try? String(contentsOf: file, encoding: .utf8))
                .flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 0
            return child > 0
        }
        let launcher = try ProcessTree.launcher(of: host)
        kill(launcher, SIGSTOP)
        defer { kill(launcher, SIGKILL) }
        host.kill()
        try host.wait("the child ends") { !ProcessTree.isAlive(child) }
        #expect(ProcessTree.isAlive(launcher), "it was not the launcher that killed the child")
    }
}
