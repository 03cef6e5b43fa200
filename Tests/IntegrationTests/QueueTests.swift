import Foundation
import TaskHostTestSupport
import Testing

/// Queues, seen with the whole host, `bgtask` and a command.
@Suite(.system) struct QueueTests {
    private static let task = "com.example.numbers.add"

    /// A host with a task whose command adds the number of its payload to a file.
    private func host(_ queue: String = "{concurrency: 2, order: priority}") throws -> HostProcess {
        let host = try HostProcess()
        host.environment["BGTASK_SCHEDULING_BACK_OFF_BASE"] = "100ms"
        let manifest = """
            apiVersion: bgtask/v1
            bundle: com.example.numbers
            modes: [processing]
            tasks:
              - identifier: \(Self.task)
                kind: processing
                queue: \(queue)
                payload: {number: integer}
                command:
                  environment: {number: "${payload.number}"}
                  script: |
                    echo "$number" >> "$HOME/numbers"
                    test "$number" -ge 0
            """
        try manifest.write(
            to: host.manifests.appending(path: "numbers.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        return host
    }

    private func submit(_ number: Int, to host: HostProcess, _ options: String...) -> HostProcess.Answer {
        host.run(["submit", Self.task, "--payload", "{\"number\": \(number)}"] + options)
    }

    private func numbers(_ host: HostProcess) -> [Int] {
        let file = host.state.appending(path: "data/com.example.numbers/numbers")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { Int($0) }
    }

    @Test func `requests wait in order of priority, survive a SIGKILL of the host, and none is lost`() throws
    {
        let host = try host()
        host.run("drain")
        for number in 0..<30 {
            let answer = submit(number, to: host, "--priority", "\(number % 10)")
            #expect(answer.output.contains("R\(number + 1) \(Self.task) is pending"), "\(answer)")
        }
        let listing = host.run("pending").output
        #expect(listing.contains("R10 "), "\(listing)")
        #expect(
            listing.contains("30 requests wait in its queue of at most 10000, 0 of at most 2 run"),
            "\(listing)")
        #expect(!listing.contains("R11 "), "\(listing)")
        #expect(host.run("pending", "--all").output.contains("29 requests come before it"))
        let last = host.run("explain", "R1").output
        #expect(last.contains("behind 27 other requests"), "\(last)")
        host.kill()
        try host.start()
        #expect(host.run("resume").status == 0)
        try host.wait("some have run") { numbers(host).count >= 8 }
        host.kill()
        try host.start()
        try host.wait("all have run") { Set(numbers(host)).count == 30 }
        // The launches of one moment can end in any order, and the kill repeats at most those that ran.
        let order = numbers(host).map { $0 % 10 }
        #expect(order.count <= 32)
        #expect(order.prefix(6).allSatisfy { $0 >= 7 }, "\(order)")
        // What the kill stopped runs last, after its back-off.
        #expect(order.dropLast(2).suffix(6).allSatisfy { $0 <= 3 }, "\(order)")
        #expect(host.stop() == 0)
    }

    @Test func `a full queue, a key and a priority out of range say what decided`() throws {
        let host = try host("{limit: 2}")
        host.run("drain")
        #expect(submit(1, to: host, "--key", "a").status == 0)
        #expect(submit(1, to: host, "--key", "a").output.contains("was submitted before with this key"))
        #expect(submit(2, to: host).status == 0)
        let full = submit(3, to: host)
        #expect(full.status == 4 && full.errors.contains("has 2 requests already"), "\(full)")
        #expect(full.errors.contains("queue: {limit: 4}"), "\(full)")
        #expect(submit(3, to: host, "--priority", "10").status == 2)
        #expect(submit(3, to: host, "--priority", "9").errors.contains("order of submission"))
        #expect(host.run("cancel", Self.task).output.contains("R2 is cancelled"))
        #expect(host.run("pending").output.contains("Nothing is pending"))
        #expect(host.stop() == 0)
    }

    @Test func `what failed is submitted again once, with its payload`() throws {
        let host = try host()
        #expect(submit(-7, to: host, "--priority", "3").status == 0)
        try host.wait("it has failed") {
            try host.launches().first?["outcome"] as? String == "failed"
        }
        let answer = host.run("retry", "L1")
        #expect(answer.output.contains("R2 \(Self.task) is pending (processing); it retries R1"), "\(answer)")
        #expect(host.run("retry", "R1").output.contains("was submitted again before, as R2"))
        try host.wait("it has failed again") {
            try host.launches().count { $0["outcome"] as? String == "failed" } == 2
        }
        #expect(numbers(host) == [-7, -7])
        let all = host.run("retry", "--failed", "--since", "1h")
        #expect(all.output.contains("as R2. Nothing was changed"), "\(all)")
        #expect(all.output.contains("R3 \(Self.task) is pending (processing); it retries R2"), "\(all)")
        #expect(host.run("launches", "--outcome", "failed").output.contains("L2"))
        #expect(host.stop() == 0)
    }

    @Test func `a drain waits for the end of what runs`() throws {
        let host = try host()
        let answer = host.run("drain", "--wait")
        #expect(answer.status == 0 && answer.output.contains("Nothing runs any more"), "\(answer)")
        #expect(submit(1, to: host).status == 0)
        #expect(host.run("explain", "R1").output.contains("drained"))
        host.run("resume")
        try host.wait("it has run") { numbers(host) == [1] }
        #expect(host.stop() == 0)
    }

    @Test func `a drain of a bundle lets its launch end, waits for that, and ends by itself`() throws {
        let host = try host()
        let gate = host.state.appending(path: "data/com.example.slow/gate")
        let manifest = """
            apiVersion: bgtask/v1
            bundle: com.example.slow
            modes: [processing]
            tasks:
              - identifier: com.example.slow.copy
                kind: processing
                command: {script: "while ! test -e $HOME/gate; do sleep 0.05; done"}
            """
        try manifest.write(
            to: host.manifests.appending(path: "slow.yaml"), atomically: true, encoding: .utf8)
        #expect(host.run("submit", "com.example.slow.copy").status == 0)
        try host.wait("it runs") { try host.launches().first?["state"] as? String == "running" }
        let drain = try host.spawn("drain", "com.example.slow", "--wait")
        try host.wait("the bundle is drained") {
            host.run("submit", "com.example.slow.copy")
            return host.run("explain", "com.example.slow.copy").output.contains("drained")
        }
        // Another bundle is not drained.
        #expect(submit(1, to: host).status == 0)
        try host.wait("the other bundle runs") { numbers(host) == [1] }
        #expect(drain.isRunning)
        try Data().write(to: gate)
        drain.waitUntilExit()
        #expect(drain.terminationStatus == 0)
        #expect(
            try host.launches(of: "com.example.slow.copy").compactMap { $0["outcome"] as? String } == [
                "succeeded"
            ])
        // The end of a drain can be given.
        let answer = host.run("drain", "com.example.slow", "--for", "1s")
        #expect(answer.status == 0 && answer.output.contains("com.example.slow: nothing starts until"))
        try host.wait("the drain has ended") {
            try host.launches(of: "com.example.slow.copy").count { $0["outcome"] as? String == "succeeded" }
                == 2
        }
        #expect(
            host.run("drain", "com.example.slow", "--for", "2020-01-01T00:00Z").errors.contains("has passed"))
        #expect(host.stop() == 0)
    }
}
