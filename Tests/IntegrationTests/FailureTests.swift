import Foundation
import TaskHostTestSupport
import Testing

/// `onFailure:`, seen with the whole host, `bgtask` and commands.
@Suite(.system) struct FailureTests {
    private static func manifest(onFailure: String = "com.example.film.tell") -> String {
        """
        apiVersion: bgtask/v1
        bundle: com.example.film
        modes: [processing]
        tasks:
          - identifier: com.example.film.cut
            kind: processing
            onFailure: \(onFailure)
            command:
              script: "exit 3"
          - identifier: com.example.film.tell
            kind: processing
            queue: {}
            payload: {identifier: string, reason: string, launch: string}
            command:
              environment: {launch: "${payload.launch}", identifier: "${payload.identifier}"}
              script: echo "$launch $identifier" >> "$HOME/told"
        """
    }

    private func told(_ host: HostProcess) -> String {
        let file = host.state.appending(path: "data/com.example.film/told")
        return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    }

    @Test func `each failure is told once, also when the host is killed`() throws {
        let host = try HostProcess()
        host.environment["BGTASK_SCHEDULING_BACK_OFF_BASE"] = "100ms"
        try Self.manifest().write(
            to: host.manifests.appending(path: "film.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        #expect(host.run("submit", "com.example.film.cut", "--wait").status == 1)
        try waitUntil("the failure is told") { told(host) == "L1 com.example.film.cut\n" }
        let shown = host.run("show", "R2")
        #expect(shown.output.contains("because L1 of com.example.film.cut failed (onFailure)"), "\(shown)")
        #expect(host.run("drain").status == 0)
        #expect(host.run("launch", "com.example.film.cut", "--wait").status == 1)
        try waitUntil("the second request is stored") { host.run("pending").output.contains("film.tell") }
        host.kill()
        try host.start()
        #expect(host.run("resume").status == 0)
        try waitUntil("the second failure is told") { told(host).split(separator: "\n").count == 2 }
        #expect(host.run("pending", "--json").output.contains("film.tell") == false)
        #expect(told(host).hasSuffix("L3 com.example.film.cut\n"), "\(told(host))")
    }

    @Test(arguments: [
        ("com.example.film.cut", "is the task itself"),
        ("com.example.film.none", "this manifest has no task"),
    ])
    func `lint says which task can not be named`(target: String, finding: String) throws {
        let host = try HostProcess()
        let file = host.manifests.appending(path: "film.yaml")
        try Self.manifest(onFailure: target).write(to: file, atomically: true, encoding: .utf8)
        let answer = host.run("lint", file.path)
        #expect(answer.status == 1 && answer.output.contains(finding), "\(answer)")
    }
}
