import Foundation
import TaskHostTestSupport
import Testing

/// The answers to a user who submits a path that the manifest does not grant, or that no manifest may grant.
@Suite(.system) struct GrantTests {
    /// A manifest whose task writes a file, and the grant for it.
    private static func writer(_ file: String, _ grant: String) -> String {
        """
        apiVersion: bgtask/v1
        bundle: com.example.writer
        modes: [processing]
        sandbox: {write: [{path: "\(grant)", create: true}], subprocesses: true}
        tasks:
          - identifier: com.example.writer
            kind: processing
            command: {run: [/bin/sh, -c, "echo x > \(file)"]}

        """
    }

    /// With a grant of its configuration, a task could name another runner for the next host.
    @Test(arguments: ["etc/bgtask/conf.d", "etc", "manifests", "run"])
    func `a task can't write the host's configuration, manifests or the directory of its socket`(
        directory: String
    ) throws {
        let machine = FileManager.default.temporaryDirectory.appendingPathComponent(
            "machine-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: machine) }
        let host = try HostProcess("--config-root", machine.path)
        let base = directory.hasPrefix("etc") ? machine : host.directory
        let folder = base.appendingPathComponent(directory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let configuration = machine.appendingPathComponent("etc/bgtask/conf.d")
        try FileManager.default.createDirectory(at: configuration, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("10-evil.yaml")
        try Data(Self.writer(file.path, folder.path).utf8)
            .write(to: host.manifests.appendingPathComponent("writer.yaml"))
        try host.start()
        let answer = host.run("launch", "com.example.writer", "--wait")
        #expect(answer.status != 0)
        #expect("\(answer)".contains("and so control the host"), "\(answer)")
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect("\(host.run("plugins"))".contains("with the write grant"))
        #expect(host.stop() == 0)
    }

    @Test func `a path outside every grant is refused at submit, one inside runs`() throws {
        let host = try HostProcess()
        let manifest = """
            apiVersion: bgtask/v1
            bundle: com.example.probe
            modes: [processing]
            sandbox:
              read: ["${payload.directory}"]
            tasks:
              - identifier: com.example.probe.look
                kind: processing
                payload: {directory: string, path: string}
                call:
                  library: libc.so.6
                  steps:
                    - {function: access, returns: int, expect: 0, errno: true, arguments: [{string: "${payload.path}"}, {int: 0}]}

            """
        try manifest.write(
            to: host.manifests.appendingPathComponent("probe.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        let folder = host.directory.appendingPathComponent("input")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data("x".utf8).write(to: folder.appendingPathComponent("file"))
        func submit(_ path: String) -> HostProcess.Answer {
            host.run(
                "submit", "com.example.probe.look", "--wait", "--payload",
                "{\"directory\": \"\(folder.path)\", \"path\": \"\(path)\"}")
        }
        #expect(submit(folder.path + "/file").status == 0)
        for path in ["/etc/passwd", folder.path + "/../host.log", "../host.log"] {
            let refused = submit(path)
            #expect(refused.status != 0)
            #expect(refused.errors.contains("com.example.probe.look: with this payload, '${payload.path}'"))
            #expect(refused.errors.contains("[invalidRequest]"), "\(refused)")
        }
        #expect(try host.launches().count == 1, "what is refused never becomes a launch")
        #expect(host.stop() == 0)
    }

    /// A task with a grant of the directory can replace a part of the path while the host looks at it.
    @Test func `a link that comes after the check of a grant makes no directory elsewhere`() throws {
        let host = try HostProcess()
        host.environment["BGTASK_ISOLATION_USERS"] = "none"
        let folder = host.directory.appendingPathComponent("shared")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("in"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent("link"), withDestinationURL: host.manifests)
        let manifest = """
            apiVersion: bgtask/v1
            bundle: com.example.maker
            modes: [processing]
            sandbox: {write: [{path: "\(folder.path)/in/a/${payload.name}", create: true}]}
            tasks:
              - identifier: com.example.maker
                kind: processing
                payload: {name: string}
                call: {library: libc.so.6, steps: [{function: getpid, returns: int}]}

            """
        try Data(manifest.utf8).write(to: host.manifests.appendingPathComponent("maker.yaml"))
        try host.start()
        let exchange = """
            import ctypes
            libc = ctypes.CDLL(None)
            while True:
                libc.renameat2(-100, b"\(folder.path)/in", -100, b"\(folder.path)/link", 2)
            """
        let swapper = try CompanionProcess(
            ["python3", "-c", exchange], output: host.directory.appendingPathComponent("swapper.log"))
        defer { swapper.end() }
        for number in 0..<30 {
            _ = host.run(
                "launch", "com.example.maker", "--wait", "--payload", "{\"name\": \"new\(number)\"}")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: host.manifests.path)
        #expect(names == ["maker.yaml"])
        #expect(host.stop() == 0)
    }
}
