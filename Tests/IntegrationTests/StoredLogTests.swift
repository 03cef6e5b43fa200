import Foundation
import TaskHostTestSupport
import Testing

/// The stored log, through real hosts that follow each other.
@Suite(.system) struct StoredLogTests {
    private func started() throws -> HostProcess {
        let host = try HostProcess()
        try """
        apiVersion: bgtask/v1
        bundle: com.example.talk
        modes: [processing]
        tasks:
          - identifier: com.example.talk.run
            kind: processing
            command: {script: "echo said by $BGTASK_LAUNCH; test ! -e fail || exit 3; touch fail"}

        """.write(to: host.manifests.appendingPathComponent("talk.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        return host
    }

    @Test func `what a job printed is there after SIGKILL of the host, and in the next host's log`() throws {
        let host = try started()
        #expect(host.run("launch", "com.example.talk.run", "--wait").status == 0)
        host.kill()
        try host.start()
        #expect(host.run("launch", "com.example.talk.run", "--wait").status == 1)
        #expect(host.run("logs", "L1").output.contains("said by L1"))
        #expect(!host.run("logs", "L1").output.contains("said by L2"))
        #expect(host.run("show", "L1").output.contains("said by L1"))
        let all = host.run("logs", "com.example.talk.run").output
        #expect(all.contains("said by L1") && all.contains("said by L2"))
        let found = host.run("logs", "--grep", "said by", "-n", "1").output.split(separator: "\n")
        #expect(found.count == 1 && found.first?.contains("said by L2") == true, "\(found)")
        #expect(host.run("logs", "--until", "1h").output == "")
        #expect(host.run("logs", "--since", "1h", "--grep", "said by L1").output.contains("L1"))
        #expect(host.stop() == 0)
    }

    @Test func `a host whose log can't be stored says so, and shows what it has in memory`() throws {
        let host = try HostProcess()
        try FileManager.default.createDirectory(
            at: host.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data().write(to: host.state.appendingPathComponent("log"))
        try host.start()
        #expect(host.run("submit", "com.example.none").status != 0)
        #expect(host.run("logs").output.contains("the log is not stored"))
        #expect(host.stop() == 0)
    }
}
