import Foundation
import TaskHostTestSupport
import Testing

/// Programs and scripts as jobs, through a real host.
@Suite(.system) struct CommandTests {
    private static func manifest(_ command: String, more: String = "") -> String {
        """
        apiVersion: bgtask/v1
        bundle: com.example.job
        modes: [processing]
        tasks:
          - identifier: com.example.job.run
            kind: processing
            deviceActivity: ignore
        \(more.isEmpty ? "" : more.split(separator: "\n").map { "    " + $0 + "\n" }.joined())    command:
        \(command.split(separator: "\n").map { "      " + $0 }.joined(separator: "\n"))

        """
    }

    private func start(_ command: String, more: String = "", grants: String = "") throws -> HostProcess {
        let host = try HostProcess()
        try (Self.manifest(command, more: more) + grants).write(
            to: host.manifests.appendingPathComponent("job.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        return host
    }

    private func log(_ host: HostProcess) -> String { host.run("logs", "com.example.job.run").output }

    @Test func `a script runs with its variables, reports progress and succeeds`() throws {
        let host = try start(
            """
            environment: {GREETING: "good ${payload.time}"}
            script: |
              echo "$GREETING from $PWD, attempt $BGTASK_ATTEMPT of $BGTASK_REQUEST"
              echo "progress 1 4 first" >&$BGTASK_CONTROL
              echo "progress 75% third" >&3
              echo "log warning take care" >&3
              echo "nonsense" >&3
              test "$HOME" = "$PWD" && test -d "$TMPDIR" && test -z "$SECRET"
            """, more: "payload: {time: string}")
        // A shell would end the line at the semicolon, and run the rest.
        let answer = host.run(
            "submit", "com.example.job.run", "--wait", "--payload", #"{"time": "$(id); exit 9 '"}"#)
        #expect(answer.status == 0, "\(answer) \(log(host))")
        #expect(answer.output.contains("\n  good $(id); exit 9 ' from"), "\(answer)")
        #expect(answer.output.contains("\n  warning: take care\n"), "\(answer)")
        let row = try #require(try host.launches().first)
        #expect(row["outcome"] as? String == "succeeded")
        #expect((row["progress"] as? [String: Any])?["completed"] as? Int == 75)
        let lines = log(host)
        #expect(lines.contains("good $(id); exit 9 ' from"))
        #expect(lines.contains("attempt 1 of R1"))
        #expect(lines.contains("take care"))
        #expect(lines.contains("ignored a line that the command wrote to descriptor 3"))
        #expect(host.stop() == 0)
        #expect(host.leftovers() == [])
    }

    @Test(
        arguments: [
            (#"run: [sh, -c, "exit 3"]"#, "failed", "the program ended with exit status 3"),
            ("run: [sh, -c, \"exit 3\"]\nsuccess: [0, 3]", "succeeded", ""),
            (#"run: [sh, -c, "kill -SEGV $$"]"#, "failed", "ended by signal 11"),
            ("run: [no-such-program]", "failed", "there is no program 'no-such-program' in"),
            ("run: [/usr/share/doc]", "failed", "the program '/usr/share/doc' is not a file"),
            ("run: [/etc/hostname]", "failed", "'/etc/hostname'"),
            ("script: cat /etc/shadow", "failed", "exit status 1"),
            // Programs such as rsync talk to their processes by pairs of sockets.
            ("script: perl -MSocket -e 'exit !socketpair(A, B, AF_UNIX, SOCK_STREAM, 0)'", "succeeded", ""),
            (
                "script: perl -MSocket -e 'exit !socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0)'", "failed",
                "status 1"
            ),
        ])
    func `the exit of a program decides the outcome`(_ command: String, _ outcome: String, _ message: String)
        throws
    {
        let host = try start(command)
        let answer = host.run("launch", "com.example.job.run", "--wait")
        #expect((answer.status == 0) == (outcome == "succeeded"), "\(answer)")
        let row = try #require(try host.launches().first)
        #expect(row["outcome"] as? String == outcome)
        #expect(message.isEmpty || (row["message"] as? String ?? "").contains(message), "\(row)")
        let status = command.contains("exit 3") ? 3 : outcome == "succeeded" ? 0 : nil
        #expect(status == nil || row["exitStatus"] as? Int == status, "\(row)")
        #expect(host.stop() == 0)
    }

    /// Only a host of root with cgroups counts bytes.
    @Test func `where nothing counts the bytes of a job with the network, show says why`() throws {
        for (grants, row) in [
            ("sandbox: {network: true}\n", "network       not counted: launches have no cgroups"), ("", nil),
        ] {
            let host = try HostProcess("--isolation", "pidNamespace")
            let manifest = Self.manifest("script: echo done") + grants
            try manifest.write(
                to: host.manifests.appendingPathComponent("job.yaml"), atomically: true, encoding: .utf8)
            try host.start()
            host.run("launch", "com.example.job.run", "--wait")
            let shown = host.run("show", "com.example.job.run").output
            #expect(shown.contains("peak memory"), "\(shown)")
            #expect(shown.contains("\nnetwork") == (row != nil), "\(shown)")
            if let row { #expect(shown.contains(row), "\(shown)") }
        }
    }

    @Test func `the payload is standard input, and each word stays one word`() throws {
        let host = try start(
            """
            run: [sh, -c, 'cat; echo "$# words, second is $2"', sh, one, "${payload.text}", three]
            input: payload
            """, more: "payload: {text: string}")
        let answer = host.run(
            "submit", "com.example.job.run", "--wait", "--payload", #"{"text": "a b  * c", "extra": 1}"#)
        #expect(answer.status == 0, "\(answer) \(log(host))")
        #expect(log(host).contains(#"{"text": "a b  * c", "extra": 1}"#))
        #expect(log(host).contains("3 words, second is a b  * c"))
        #expect(host.stop() == 0)
    }

    @Test func `an expiring script stops, and the next attempt continues from its checkpoint`() throws {
        let host = try start(
            """
            script: |
              if [ -n "$BGTASK_CHECKPOINT" ]; then
                  echo "continued from $(cat "$BGTASK_CHECKPOINT")"
                  exit 0
              fi
              stop() { echo "stopped: $(cat "$BGTASK_EXPIRED")"; exit 75; }
              trap stop TERM
              echo "checkpoint $(echo 17 | base64 -w 0)" >&3
              echo "progress 17 100" >&3
              sleep 1000 &
              wait
            """, more: "requiresExternalPower: true")
        #expect(host.run("conditions", "set", "power=external").status == 0)
        #expect(host.run("submit", "com.example.job.run").status == 0)
        try host.wait("the script reports progress") {
            let row = try? host.launches().first
            return (row?["progress"] as? [String: Any])?["completed"] as? Int == 17
        }
        #expect(host.run("conditions", "set", "power=battery:80%").status == 0)
        try host.wait("the first launch has ended") {
            (try? host.launches().last?["outcome"] as? String) == "expired"
        }
        #expect(log(host).contains("stopped: externalPowerLost"), "\(log(host))")
        #expect(log(host).contains("the program ended with exit status 75"))
        // The request was put back. Conditions do not hold a launch that a user starts.
        #expect(host.run("launch", "com.example.job.run", "--wait").status == 0, "\(log(host))")
        let last = try #require(try host.launches().first)
        #expect(last["request"] as? String == "R1")
        #expect(last["attempt"] as? Int == 2)
        #expect(log(host).contains("continued from 17"))
        #expect(host.stop() == 0)
        #expect(host.leftovers() == [])
    }

    @Test(arguments: [
        // A program with a child, a shell that ends before its worker, and a daemon that heeds no signal.
        "run: [sh, -c, echo progress 17 100 >&3; sleep 1000; true]",
        """
        script: |
          sh -c 'trap "sleep 0.3; exit" TERM; echo progress 17 100 >&3; sleep 1000 & wait'
          true
        """,
        """
        script: |
          setsid sh -c 'trap "" TERM; sleep 1000' &
          trap 'exit 9' TERM
          echo progress 17 100 >&3
          wait
        """,
    ])
    func `an expiring command ends in time, whatever it started, and its request is put back`(command: String)
        throws
    {
        let host = try start(
            command,
            more: "requiresExternalPower: true\nlimits: {grace: 3s}")
        #expect(host.run("conditions", "set", "power=external").status == 0)
        #expect(host.run("submit", "com.example.job.run").status == 0)
        try host.wait("it reports progress") {
            (try? host.launches().first?["progress"] as? [String: Any])??["completed"] as? Int == 17
        }
        #expect(host.run("conditions", "set", "power=battery:80%").status == 0)
        try host.wait("the launch has ended") {
            (try? host.launches().last?["outcome"] as? String) != nil
        }
        #expect(try host.launches().last?["outcome"] as? String == "expired", "\(log(host))")
        #expect(host.run("pending").output.contains("R1"), "\(host.run("pending"))")
        #expect(host.stop() == 0)
        #expect(host.leftovers() == [])
    }

    @Test(.enabled(if: getuid() == 0, "only a root host can set its IPC namespaces"))
    func `shared memory does not outlive the launch that made it`() throws {
        let host = try start(
            """
            script: |
              test "$(wc -l < /proc/sysvipc/shm)" = 1 || exit 7
              perl -e '$id = shmget(42, 1048576, 01600); defined $id or exit 8; shmwrite($id, "x", 0, 1) or exit 9'
            """)
        for _ in 1...2 {
            let answer = host.run("launch", "com.example.job.run", "--wait")
            #expect(answer.status == 0, "\(answer)")
        }
        #expect(host.stop() == 0)
    }

    @Test func `run makes a job of a command line, and refuses one that the host would refuse`() throws {
        let host = try HostProcess()
        try host.start()
        let answer = host.run(
            "run", "--name", "hello", "--", "/bin/sh", "-c", "echo \"it's $1\"", "sh", "a  b")
        #expect(answer.status == 0, "\(answer)")
        #expect(answer.output.contains("it's a  b"))
        let failed = host.run("run", "--", "/bin/false")
        #expect(failed.status == 1, "\(failed)")
        let warnings = host.run("logs", "--level", "warning", "--json").output
        #expect(warnings.contains("local.false.run") && warnings.contains("failed"), "\(warnings)")
        #expect(!warnings.contains("local.hello.run"), "\(warnings)")
        let missing = host.run("run", "--name", "lost", "--write", "/nonexistent/backup", "--", "/bin/true")
        #expect(missing.errors.contains("/nonexistent/backup"), "\(missing)")
        #expect(failed.output.hasSuffix("To see its log: bgtask show L2\n"), "\(failed)")
        for (option, value) in [("--at", "nonsense"), ("--every", "5")] {
            let refused = host.run("run", option, value, "--name", "clock", "--", "/bin/date")
            #expect(refused.status == 2 && refused.errors.contains("for \(option): '\(value)'"), "\(refused)")
        }
        let clock = host.run("run", "--every", "1d", "--name", "clock", "--", "/bin/date")
        #expect(clock.status == 0 && clock.output.contains("local.clock.run"), "\(clock)")
        try host.wait("the schedule is known") { host.run("plugins").output.contains("local.clock.run") }
        #expect(host.stop() == 0)
    }

    @Test func `processes that a program leaves behind end with its launch`() throws {
        let host = try start("script: sleep 1234567 & echo started $!")
        #expect(host.run("launch", "com.example.job.run", "--wait").status == 0, "\(log(host))")
        #expect(host.stop() == 0)
        #expect(host.leftovers() == [])
    }
}
