import Foundation
import TaskHostTestSupport
import Testing

/// `bgtask submit --after`, seen with the whole host, `bgtask` and commands.
@Suite(.system) struct PredecessorTests {
    /// A host with a queue of parts and a task that joins them; each writes its payload to one file, and a
    /// negative one fails.
    private func host() throws -> HostProcess {
        let host = try HostProcess()
        host.environment["BGTASK_SCHEDULING_BACK_OFF_BASE"] = "100ms"
        let tasks = ["part", "join"].map { name in
            """
              - identifier: com.example.film.\(name)
                kind: processing
                \(name == "part" ? "queue: {concurrency: 2}" : "")
                payload: {number: integer}
                command:
                  environment: {number: "${payload.number}"}
                  script: |
                    echo "$number" >> "$HOME/numbers"
                    test "$number" -ge 0
            """
        }
        let manifest = """
            apiVersion: bgtask/v1
            bundle: com.example.film
            modes: [processing]
            tasks:
            \(tasks.joined(separator: "\n"))
            """
        try manifest.write(
            to: host.manifests.appending(path: "film.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        return host
    }

    private func submit(
        _ name: String, _ number: Int, to host: HostProcess, after: String...
    ) -> HostProcess.Answer {
        host.run(
            ["submit", "com.example.film.\(name)", "--payload", "{\"number\": \(number)}"]
                + after.flatMap { ["--after", $0] })
    }

    private func numbers(_ host: HostProcess) -> [Int] {
        let file = host.state.appending(path: "data/com.example.film/numbers")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { Int($0) }
    }

    @Test func `a chain and a fan-in keep their order across SIGKILLs of the host`() throws {
        let host = try host()
        host.run("drain")
        #expect(submit("part", 1, to: host).status == 0)
        #expect(submit("part", 2, to: host, after: "R1").output.contains("waits for the success of R1"))
        #expect(submit("part", 3, to: host).status == 0)
        let join = submit("join", 4, to: host, after: "R2", "3")
        #expect(join.output.contains("R4 com.example.film.join waits for the success of R2, R3"), "\(join)")
        let listing = host.run("pending", "--all").output
        #expect(listing.contains("Waits until R2 and R3 have succeeded."), "\(listing)")
        host.kill()
        try host.start()
        let explained = host.run("explain", "com.example.film.join").output
        #expect(explained.contains("R2 and R3 have not succeeded"), "\(explained)")
        #expect(host.run("resume").status == 0)
        try host.wait("a part has run") { !numbers(host).isEmpty }
        host.kill()
        try host.start()
        try host.wait("the join has run") {
            try host.launches(of: "com.example.film.join").first?["outcome"] as? String == "succeeded"
        }
        let order = numbers(host)
        #expect(order.last == 4 && Set(order) == [1, 2, 3, 4], "\(order)")
        let second = try #require(order.firstIndex(of: 2)), first = try #require(order.firstIndex(of: 1))
        #expect(first < second)
        #expect(submit("join", 5, to: host, after: "R1").output.contains("is pending"))
        #expect(host.stop() == 0)
    }

    @Test func `what follows a failed or cancelled request fails, and the command says why`() throws {
        let host = try host()
        host.run("drain")
        #expect(submit("part", -1, to: host).status == 0)
        #expect(submit("part", 2, to: host, after: "R1").status == 0)
        let waiting = try host.spawn(
            "submit", "com.example.film.join", "--payload", "{\"number\": 3}", "--after", "R2", "--wait")
        try host.wait("the join waits") { host.run("pending", "--all").output.contains("R3 ") }
        host.run("resume")
        waiting.waitUntilExit()
        #expect(waiting.terminationStatus == 1)
        #expect(numbers(host) == [-1])
        let shown = host.run("show", "R3").output
        #expect(shown.contains("predecessorFailed") && shown.contains("R2"), "\(shown)")
        let late = submit("join", 3, to: host, after: "R1")
        #expect(late.status == 4 && late.errors.contains("R1, which has ended: failed"), "\(late)")
        #expect(late.errors.contains("bgtask retry R1"), "\(late)")
        #expect(submit("join", 3, to: host, after: "R99").errors.contains("has no such request"))
        #expect(submit("join", 3, to: host, after: "soon").status == 2)
        #expect(host.run("pending").output.contains("Nothing is pending"))
        #expect(host.stop() == 0)
    }
}
