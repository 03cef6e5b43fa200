import Foundation
import TaskHostTestSupport
import Testing

/// What a command says to the host: by the pattern of its manifest, and by `bgtask-task`.
@Suite(.system) struct CommandProgressTests {
    private func start(_ command: String, more: String = "") throws -> HostProcess {
        let host = try HostProcess()
        let indented = { (text: String, spaces: Int) in
            text.split(separator: "\n").map { String(repeating: " ", count: spaces) + $0 + "\n" }.joined()
        }
        try """
        apiVersion: bgtask/v1
        bundle: com.example.job
        modes: [processing]
        tasks:
          - identifier: com.example.job.run
            kind: processing
            deviceActivity: ignore
        \(indented(more, 4))    command:
        \(indented(command, 6))
        """.write(
            to: host.manifests.appendingPathComponent("job.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        return host
    }

    private func progress(_ host: HostProcess) throws -> [String: Any]? {
        try host.launches().first?["progress"] as? [String: Any]
    }

    /// The lines of the launch's log, without their times.
    private func log(_ host: HostProcess) -> String { host.run("logs", "com.example.job.run").output }

    @Test(arguments: [
        // A line that is overwritten, as rsync and curl draw it; the last one has no end.
        (#"printf 'begin\r  7%% of it\r 45.8%% of it'"#, #"([0-9.]+)%"#, 45, 100),
        (#"echo '[3/10] three'; echo "what's 4/10?" >&2"#, #"\[(\d+)/(\d+)\]"#, 3, 10),
        (#"echo 'page 12 of 40, page 13 of 41'"#, #"page ([\d]+) of ([\d]+)"#, 13, 41),
        (#"printf '10%%\b\b\b11%%\b\b\b12%%'"#, #"(\d+)%"#, 12, 100),
    ])
    func `a pattern finds the progress in the output`(
        _ script: String, _ pattern: String, _ completed: Int, _ total: Int
    ) throws {
        let host = try start("progress: {match: '\(pattern)'}\nscript: |\n  \(script)")
        let answer = host.run("launch", "com.example.job.run", "--wait")
        #expect(answer.status == 0, "\(answer)")
        let found = try #require(try progress(host), "\(log(host))")
        #expect(found["completed"] as? Int == completed)
        #expect(found["total"] as? Int == total)
        #expect(host.stop() == 0)
    }

    @Test func `lines that only show progress stay out of the log, and others are kept whole`() throws {
        let long = String(repeating: "x", count: 10_000)
        let host = try start(
            """
            progress: {match: '(\\d+)%'}
            script: |
              printf '1%%\\r2%%\\rdone 3%%\\n'
              printf 'other\\r'
              printf 'windows\\r\\n'
              printf '\(long)end\\n' >&2
              printf 'no end'
            """)
        #expect(host.run("launch", "com.example.job.run", "--wait").status == 0)
        let lines = log(host).split(separator: "\n")
        #expect(!lines.contains { $0.hasSuffix("1%") || $0.hasSuffix(" 2%") }, "\(lines)")
        for text in ["done 3%", "other", "windows", "no end"] {
            #expect(lines.count { $0.hasSuffix(text) } == 1, "\(text): \(lines)")
        }
        #expect(log(host).count { $0 == "x" } >= 10_000)
        #expect(host.stop() == 0)
    }

    @Test func `a program that writes without a pause is heard and stopped all the same`() throws {
        let host = try start(
            """
            progress: {match: '(\\d+)%'}
            script: |
              yes 7% &
              bgtask-task progress 1 2 control
              wait
            """, more: "requiresExternalPower: true\nlimits: {grace: 3s}")
        #expect(host.run("conditions", "set", "power=external").status == 0)
        #expect(host.run("submit", "com.example.job.run").status == 0)
        try host.wait("its progress") { try progress(host)?["completed"] != nil }
        #expect(host.run("conditions", "set", "power=battery:80%").status == 0)
        try host.wait("the launch has ended") { try host.launches().last?["outcome"] as? String != nil }
        #expect(try host.launches().last?["outcome"] as? String == "expired", "\(log(host).suffix(500))")
        #expect(host.stop() == 0)
        #expect(host.leftovers() == [])
    }

    @Test func `progress of a program is seen while it runs`() throws {
        let host = try start(
            "progress: {match: '(\\d+)%'}\nscript: |\n  printf '\\r 30%%'\n  exec sleep 1000")
        #expect(host.run("submit", "com.example.job.run").status == 0)
        try host.wait("its progress") { try progress(host)?["completed"] as? Int == 30 }
        #expect(host.run("cancel", "com.example.job.run").status == 0)
        #expect(host.stop() == 0)
        #expect(host.leftovers() == [])
    }

    @Test(arguments: [
        ("{match: '(\\d+'}", "not a regular expression"), ("{match: 'percent'}", "0 groups"),
        ("{match: '(a)(b)(c)'}", "3 groups"), ("{}", "has no 'match'"),
        // The C library would need gigabytes, or more stack than a thread has.
        ("{match: '(a?){32000}'}", "repetition by number"), ("{match: '(a)\\1'}", "reference to a group"),
        ("{match: '\(String(repeating: "(", count: 300))'}", "limit is 256"), ("{matches: '(a)'}", "matches"),
    ])
    func `a pattern that can't be used is refused by lint`(_ value: String, _ finding: String) throws {
        let host = try HostProcess()
        let file = host.manifests.appendingPathComponent("job.yaml")
        try """
        apiVersion: bgtask/v1
        bundle: com.example.job
        modes: [processing]
        tasks:
          - identifier: com.example.job.run
            kind: processing
            command: {run: [ls], progress: \(value)}
        """.write(to: file, atomically: true, encoding: .utf8)
        let answer = host.run("lint", file.path)
        #expect(answer.status == 1 && answer.output.contains(finding), "\(answer)")
    }

    @Test func `a script talks to the host by bgtask-task`() throws {
        let host = try start(
            """
            script: |
              bgtask-task progress 3 10 "three of ten"
              bgtask-task log warning take care
              bgtask-task restore && exit 9
              bgtask-task expired && exit 8
              bgtask-task progress three && exit 7
              bgtask-task title || true
              head -c 49153 /dev/zero | bgtask-task checkpoint && exit 6
              printf 'a\\0b' | bgtask-task checkpoint
              bgtask-task progress 40%
              trap '' TERM
              until bgtask-task expired; do sleep 0.05; done
              exit 75
            """, more: "requiresExternalPower: true")
        #expect(host.run("conditions", "set", "power=external").status == 0)
        #expect(host.run("submit", "com.example.job.run").status == 0)
        try host.wait("the script reports progress: \(log(host))") {
            try progress(host)?["completed"] as? Int == 40
        }
        #expect(host.run("conditions", "set", "power=battery:80%").status == 0)
        try host.wait("the launch has ended") { try host.launches().last?["outcome"] as? String != nil }
        #expect(try host.launches().last?["outcome"] as? String == "expired", "\(log(host))")
        let lines = log(host)
        #expect(lines.contains("take care"))
        #expect(lines.contains("Write: bgtask-task progress 3 10 [TEXT], or progress 30% [TEXT]"))
        #expect(lines.contains("not a title"))
        #expect(lines.contains("a checkpoint has at most 49152 bytes"))
        #expect(host.stop() == 0)
        #expect(host.leftovers() == [])
    }

    @Test func `the next attempt gets what the script saved`() throws {
        let host = try start(
            """
            script: |
              if [ "$(bgtask-task restore || echo none)" = "page 17" ]; then exit 0; fi
              bgtask-task checkpoint "page 17"
              bgtask-task progress 17 100
              exec sleep 1000
            """, more: "requiresExternalPower: true")
        #expect(host.run("conditions", "set", "power=external").status == 0)
        #expect(host.run("submit", "com.example.job.run").status == 0)
        try host.wait("its progress") { try progress(host)?["completed"] as? Int == 17 }
        #expect(host.run("conditions", "set", "power=battery:80%").status == 0)
        try host.wait("the launch has ended") { try host.launches().last?["outcome"] as? String != nil }
        #expect(host.run("launch", "com.example.job.run", "--wait").status == 0, "\(log(host))")
        #expect(host.stop() == 0)
    }

    @Test func `outside a job, bgtask-task prints what it would say`() {
        let tool = Products.path("bgtask-task")
        let said = Command.run(tool, "progress", "1", "2", "half")
        #expect(said.status == 0 && said.output == "bgtask-task: progress 1 2 half\n", "\(said)")
        #expect(Command.run(tool, "expired").status == 1)
        #expect(Command.run(tool, "restore").status == 1)
        let unknown = Command.run(tool, "nonsense")
        #expect(unknown.status == 2 && unknown.output.contains("not a command: 'nonsense'"), "\(unknown)")
        #expect(Command.run(tool).status == 2)
        let help = Command.run(tool, "--help")
        #expect(help.status == 0 && help.output.contains("bgtask-task checkpoint"))
        let closed = Command.run([tool, "title", "T"], environment: ["BGTASK_CONTROL": "99"])
        #expect(closed.status == 1, "\(closed)")
        #expect(closed.output.contains("by the descriptor in BGTASK_CONTROL: Bad file descriptor"))
    }
}
