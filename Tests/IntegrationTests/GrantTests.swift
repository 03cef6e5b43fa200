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

    /// Installs a task of one bundle, of the same name, that is a script with these grants.
    private static func install(_ bundle: String, sandbox: String, script: String, on host: HostProcess)
        throws
    {
        let manifest = """
            apiVersion: bgtask/v1
            bundle: \(bundle)
            modes: [processing]
            sandbox: {\(sandbox)}
            tasks:
              - identifier: \(bundle)
                kind: processing
                command:
                  script: |
            \(script.split(separator: "\n").map { "        " + $0 }.joined(separator: "\n"))

            """
        try Data(manifest.utf8).write(to: host.manifests.appendingPathComponent("\(bundle).yaml"))
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

    /// A task can put a link into a directory to which it may write, for its next launch.
    @Test(arguments: [
        "read: [\"FOLDER/open/config\"], write: [\"FOLDER/open\"]",
        "write: [\"FOLDER/open\", {path: \"FOLDER/open/config/made\", create: true}]",
    ])
    func `a link in a write grant leads no other grant out of it`(grants: String) throws {
        let host = try HostProcess()
        let folder = host.directory.appendingPathComponent("f")
        for name in ["open", "secret"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
        }
        try Self.install(
            "com.example.nested", sandbox: grants.replacing("FOLDER", with: folder.path),
            script: "true", on: host)
        try host.start()
        #expect(host.run("launch", "com.example.nested", "--wait").status == 0)
        let config = folder.appendingPathComponent("open/config")
        try? FileManager.default.removeItem(at: config)
        try FileManager.default.createSymbolicLink(
            at: config, withDestinationURL: folder.appendingPathComponent("secret"))
        let refused = host.run("launch", "com.example.nested", "--wait")
        #expect(refused.status != 0)
        #expect(
            (refused.output + refused.errors).contains("open/config, which tasks can change"), "\(refused)")
        let made = folder.appendingPathComponent("secret/made").path
        #expect(!FileManager.default.fileExists(atPath: made))
        // A link that stays inside is no way out.
        try FileManager.default.removeItem(at: config)
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("open/real"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: config.path, withDestinationPath: "real")
        let inside = host.run("launch", "com.example.nested", "--wait")
        #expect(inside.status == 0, "\(inside)")
        #expect(host.stop() == 0)
    }

    @Test(.enabled(if: getuid() == 0, "only root can mount"))
    func `what is mounted below a write grant is there, and what is read-only stays so`() throws {
        let host = try HostProcess()
        host.environment["BGTASK_ISOLATION_USERS"] = "none"
        let folder = host.directory.appendingPathComponent("mounts")
        for name in ["memory", "archive"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
        }
        let (memory, archive) = (folder.path + "/memory", folder.path + "/archive")
        defer { for path in [memory, archive] { _ = Command.run(["umount", path]) } }
        #expect(Command.run(["mount", "-t", "tmpfs", "test", memory]).status == 0)
        #expect(Command.run(["mount", "--bind", archive, archive]).status == 0)
        #expect(Command.run(["mount", "-o", "remount,bind,ro", archive]).status == 0)
        try Data("inside".utf8).write(to: folder.appendingPathComponent("memory/file"))
        try Self.install(
            "com.example.mounts", sandbox: "write: [\"\(folder.path)\"]",
            script: """
                grep inside \(memory)/file
                echo new > \(memory)/new
                if echo new > \(archive)/new; then exit 9; fi
                """, on: host)
        try host.start()
        let answer = host.run("launch", "com.example.mounts", "--wait")
        #expect(answer.status == 0, "\(answer)")
        #expect(FileManager.default.fileExists(atPath: memory + "/new"))
        #expect(host.stop() == 0)
    }

    @Test(.enabled(if: getuid() == 0, "only root can mount"))
    func `a disk that is mounted while a template lives gets what the next launch writes`() throws {
        let host = try HostProcess()
        host.environment["BGTASK_ISOLATION_USERS"] = "none"
        let disk = host.directory.appendingPathComponent("disk").path
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        try Self.install(
            "com.example.disk", sandbox: "write: [\"\(disk)\"]",
            script: "date > \(disk)/written", on: host)
        try host.start()
        #expect(host.run("launch", "com.example.disk", "--wait").status == 0)
        try FileManager.default.removeItem(atPath: disk + "/written")
        defer { _ = Command.run(["umount", disk]) }
        #expect(Command.run(["mount", "-t", "tmpfs", "test", disk]).status == 0)
        #expect(host.run("launch", "com.example.disk", "--wait").status == 0)
        #expect(FileManager.default.fileExists(atPath: disk + "/written"))
        #expect(Command.run(["umount", disk]).status == 0)
        #expect(!FileManager.default.fileExists(atPath: disk + "/written"), "below the disk")
        #expect(host.run("launch", "com.example.disk", "--wait").status == 0)
        #expect(FileManager.default.fileExists(atPath: disk + "/written"))
        #expect(host.stop() == 0)
    }

    @Test(.enabled(if: getuid() == 0, "only root makes links of other users"))
    func `root's host makes no directory where another user's link leads`() throws {
        let host = try HostProcess()
        let (link, target) = (host.directory.path + "/link", host.directory.path + "/target")
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        #expect(lchown(link, 65_534, 65_534) == 0)
        try Self.install(
            "com.example.made", sandbox: "write: [{path: \"\(link)/made\", create: true}]", script: "true",
            on: host)
        try host.start()
        let refused = host.run("launch", "com.example.made", "--wait")
        #expect("\(refused)".contains("of user 65534 leads"), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: target + "/made"))
        #expect(host.stop() == 0)
    }

    @Test(.enabled(if: getuid() == 0, "only a host of root gives bundles users"))
    func `a working directory that the job's user can't enter is named`() throws {
        let host = try HostProcess()
        let home = host.directory.path + "/home"
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let manifest = """
            apiVersion: bgtask/v1
            bundle: com.example.homeless
            modes: [processing]
            sandbox: {read: ["\(home)"]}
            tasks:
              - identifier: com.example.homeless
                kind: processing
                command: {script: "true", directory: "\(home)"}

            """
        try Data(manifest.utf8).write(to: host.manifests.appendingPathComponent("homeless.yaml"))
        try host.start()
        let answer = host.run("launch", "com.example.homeless", "--wait")
        #expect(answer.output.contains("can't enter its working directory '\(home)'"), "\(answer)")
        #expect(host.stop() == 0)
    }
}
