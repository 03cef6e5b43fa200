import Foundation
import TaskHostTestSupport
import Testing

/// The layers of the host's configuration, as an administrator sees them.
@Suite(.system) struct ConfigurationTests {
    /// A host with its own directories in place of /usr/share and /etc.
    private struct Machine {
        let folder: URL
        let host: HostProcess

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "configuration-\(UUID().uuidString)")
            host = try HostProcess("--config-root", folder.path)
        }

        func write(_ name: String, _ text: String) throws -> String {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755])
            let new = file.appendingPathExtension("new")
            try Data(text.utf8).write(to: new)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: new.path)
            if rename(new.path, file.path) != 0 { throw HostFailure("rename \(file.path)") }
            return file.path
        }

        /// One row of `config show`.
        func row(_ key: String) throws -> [String: Any] {
            let listing = try #require(host.json("config", "show", key) as? [String: Any])
            let rows = try #require(listing["values"] as? [[String: Any]])
            return try #require(rows.first)
        }

        func origins(_ key: String) throws -> [String] {
            let row = try row(key)
            let lower = try #require(row["overridden"] as? [[String: Any]])
            return ([row] + lower).map { "\($0["value"] ?? "") \($0["source"] ?? "")" }
        }

        func remove() { try? FileManager.default.removeItem(at: folder) }
    }

    private static let vendor = "usr/share/bgtask/bgtaskd.yaml"
    private static let administrator = "etc/bgtask/bgtaskd.yaml"

    @Test func `a manifest can't write a line of its own into the host's log`() throws {
        let host = try HostProcess()
        let manifest = """
            apiVersion: bgtask/v1
            bundle: org.example.forger
            library: "x\\n12:00:00 notice  FORGED\\e[2J"
            modes: [processing]
            tasks: [{identifier: org.example.forger.a, kind: processing}]
            """
        try Data(manifest.utf8).write(to: host.manifests.appendingPathComponent("forger.yaml"))
        try host.start()
        let forged = host.logTail(500).split(separator: "\n").filter { $0.contains("FORGED") }
        #expect(
            forged.count > 0 && forged.allSatisfy { !$0.hasPrefix("12:00:00 notice  FORGED") }, "\(forged)")
        #expect(!host.logTail(500).contains("\u{1B}"))
        #expect(host.stop() == 0)
    }

    @Test func `a directory of plugins that is missing is created, and the log says so`() throws {
        let host = try HostProcess()
        try FileManager.default.removeItem(at: host.plugins)
        try host.start()
        #expect(FileManager.default.fileExists(atPath: host.plugins.path))
        let notices = host.logTail(500).split(separator: "\n").filter {
            $0.contains("did not exist, so the host created it")
        }
        #expect(
            notices.count == 1 && notices.first?.contains(host.plugins.path) == true, "\(host.logTail(500))")
    }

    @Test func `a wrong command line of the host exits 2, as every command does`() {
        let wrong = Command.run([Products.path("bgtaskd"), "--bogus"])
        #expect(wrong.status == 2 && wrong.output.contains("Usage: bgtaskd"), "\(wrong)")
        let value = Command.run([Products.path("bgtaskd"), "--log-level", "loud"])
        #expect(value.status == 2, "\(value)")
        let help = Command.run([Products.path("bgtaskd"), "--help"])
        #expect(help.status == 0 && help.output.contains("Exit codes:"), "\(help)")
        let full = Command.run(["/bin/sh", "-c", "\(Products.path("bgtaskd")) --help >/dev/full"])
        #expect(full.status == 1 && full.output.contains("the output is not complete"), "\(full)")
    }

    @Test func `a runner that is missing is one line, and nothing is created`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "none-\(UUID().uuidString)")
        let answer = Command.run([
            Products.path("bgtaskd"), "--runner", "/nonexistent/runner", "--state", folder.path + "/state",
            "--socket", folder.path + "/c.sock", "--plugins", folder.path + "/p", "--manifests",
            folder.path + "/m",
        ])
        #expect(answer.status == 1, "\(answer)")
        #expect(
            answer.output.hasPrefix("Error: /nonexistent/runner: this program does not exist")
                && answer.output.split(separator: "\n").count == 1, "\(answer)")
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func `two files are layered, a change takes force live, and a bad file loses nothing`() throws {
        let machine = try Machine()
        defer { machine.remove() }
        let host = machine.host
        try host.install(
            ScheduleTests.stubborn, library: "libstubborn.so",
            manifest: """
                apiVersion: bgtask/v1
                bundle: com.example.stubborn
                library: libstubborn.so
                modes: [processing]
                tasks:
                  - {identifier: com.example.stubborn.steady, kind: processing}

                """, named: "stubborn")
        let vendor = try machine.write(
            Self.vendor, "scheduling:\n  urgentSlots: 4\n  continuedSlots: 5\n")
        let administrator = try machine.write(
            Self.administrator,
            "scheduling:\n  urgentSlots: 6\nbundles:\n  com.example.stubborn: {refresh: restricted}\nhistory: {launches: 70}\n"
        )
        try host.start()
        #expect(
            try machine.origins("scheduling.urgentSlots")
                == ["6 \(administrator):2", "4 \(vendor):2", "2 standard"])
        #expect(try machine.origins("scheduling.continuedSlots") == ["5 \(vendor):3", "3 standard"])
        #expect(
            try machine.origins("paths.state").first == "\(host.state.path) option --state")

        // The administrator restricts the bundle, so its user cannot allow it, and the host accepts no
        // request of it.
        let refused = host.run("settings", "refresh", "com.example.stubborn", "allow")
        #expect(refused.status == 4 && refused.errors.contains("administrator"), "\(refused)")
        #expect(host.run("submit", "com.example.stubborn.steady").status == 4)

        // The restriction is lifted while the host runs. Each round writes the file again, because the host
        // may have begun to watch the file only after the previous write.
        try host.wait("the restriction is lifted") {
            _ = try machine.write(
                Self.administrator, "scheduling:\n  urgentSlots: 7\nhistory: {launches: 80}\n")
            for _ in 0..<50 {
                if host.logTail(1000).contains("scheduling.urgentSlots is 7 (\(administrator):2), was 6") {
                    return true
                }
                usleep(100_000)
            }
            return false
        }
        #expect(host.run("submit", "com.example.stubborn.steady", "--wait").status == 0)
        let history = try machine.row("history.launches")
        #expect(history["value"] as? String == "70")
        let next = try #require(history["afterRestart"] as? [String: Any])
        #expect(next["value"] as? String == "80" && next["source"] as? String == "\(administrator):3")

        // The new file has an error: the previous values stay in force, and the host reports the error.
        _ = try machine.write(Self.administrator, "scheduling:\n  urgentSlots: 8\n  continuedSlot: 1\n")
        #expect(try machine.origins("scheduling.urgentSlots").first == "7 \(administrator):2")
        let finding =
            "\(administrator):3:3: error: unknown key 'continuedSlot' in scheduling. Did you mean 'continuedSlots'?"
        #expect(host.run("config", "show").output.contains(finding))
        #expect(host.run("doctor").output.contains(finding))
        #expect(host.logTail(1000).contains(finding))
        #expect(host.run("config", "check", administrator).status == 1)
        #expect(host.stop() == 0)

        // A restarted host ignores the file with the error, and runs.
        try host.start()
        #expect(try machine.origins("scheduling.urgentSlots") == ["4 \(vendor):2", "2 standard"])
        #expect(try machine.row("history.launches")["value"] as? String == "10000")
        #expect(
            host.logTail(1000).contains(
                "\(administrator) has the errors above, so none of its values are used"))
        #expect(host.stop() == 0)
    }

    @Test func `a file of --config that is wrong keeps the host from starting, and says where`() throws {
        let machine = try Machine()
        defer { machine.remove() }
        let file = try machine.write("own.yaml", "logLevel: loud\n")
        let host = try HostProcess("--config-root", machine.folder.path, "--config", file)
        let error = try #require(throws: HostFailure.self) { try host.start() }
        #expect(error.description.contains("\(file):1:11: error: logLevel 'loud' is unknown"), "\(error)")
    }

    @Test func `root's host makes app directories again that others can change`() throws {
        guard geteuid() == 0 else { return print("skipped: an ordinary user's state is that user's own") }
        let host = try HostProcess()
        let app = host.state.appendingPathComponent("apps/org.example/example.app")
        try FileManager.default.createDirectory(
            at: app, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: host.state.path)
        try Data().write(to: app.appendingPathComponent("bgtask-runner"))
        #expect(chown(app.path, 65534, 65534) == 0)
        try host.start()
        #expect(!FileManager.default.fileExists(atPath: app.path))
        #expect(host.stop() == 0)
    }

    @Test(arguments: ["", "/libraries", "/libraries/ab/libx.so"])
    func `root's host does not start on a state that others can change, and says what to do`(_ name: String)
        throws
    {
        guard geteuid() == 0 else { return print("skipped: an ordinary user's state is that user's own") }
        let host = try HostProcess()
        let copy = host.state.appendingPathComponent("libraries/ab")
        try FileManager.default.createDirectory(
            at: copy, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data().write(to: copy.appendingPathComponent("libx.so"))
        let path = host.state.path + name
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
        let error = try #require(throws: HostFailure.self) { try host.start() }
        #expect(error.description.contains("untrusted"), "\(error)")
        #expect(error.description.contains("Run: chmod go-w \(path)"), "\(error)")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        try host.start()
        #expect(host.stop() == 0)
    }
}
