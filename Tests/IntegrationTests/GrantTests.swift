import Foundation
import TaskHostTestSupport
import Testing

/// The answers to a user who submits a path that the manifest does not grant.
@Suite(.system) struct GrantTests {
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
}
