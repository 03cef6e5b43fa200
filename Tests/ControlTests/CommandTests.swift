import ControlClient
import ControlWire
import Foundation
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing

@testable import BgtaskCommands

/// Every command of `bgtask`, called as a function of its arguments, with a scripted host on a real socket.
@Suite(.system, .timeLimit(.minutes(3))) struct CommandTests {
    private func task(_ text: String = "org.example.a") throws -> TaskIdentifier { try TaskIdentifier(text) }

    @Test func `submit hands every option over`() async throws {
        try await serving { host, socket in
            let folder = try TemporaryFolder()
            let file = folder.path + "/p.json"
            try Data(#"{"root": "/usr"}"#.utf8).write(to: URL(fileURLWithPath: file))
            let result = await bgtask(
                "submit", "org.example.a", "--earliest", "2027-01-15T08:00Z", "--external-power", "--network",
                "--payload", "@" + file, "--title", "T", "--subtitle", "S", "--strategy", "fail", "--gpu",
                "--key",
                "K", "--json", socket: socket)
            #expect(result.status == 0, "\(result)")
            #expect(result.object["request"] as? String == "R17")
            #expect(result.object["earliestBeginDate"] as? String == "2027-01-15T08:00:00.000Z")
            let submission = try #require(host.script.withLock { $0.submissions.first })
            #expect(submission.requiresExternalPower && submission.requiresNetworkConnectivity)
            #expect(
                submission.requiresGPU && submission.strategy == .fail && submission.idempotencyKey == "K")
            #expect(
                submission.payload == #"{"root": "/usr"}"# && submission.title == "T"
                    && submission.subtitle == "S")
        }
    }

    @Test(
        arguments: [
            (["--network"], nil), (["--network", "any"], .any), (["--network=unmetered"], .unmetered),
        ] as [([String], NetworkRequirement?)])
    func `submit hands over which network is required`(options: [String], expected: NetworkRequirement?)
        async throws
    {
        try await serving { host, socket in
            let result = await bgtask(
                ["submit", "org.example.a"] + options + ["--json", "--socket", socket])
            #expect(result.status == 0, "\(result)")
            #expect(result.object["network"] as? String == expected?.rawValue)
            let submission = try #require(host.script.withLock { $0.submissions.first })
            #expect(submission.requiresNetworkConnectivity && submission.network == expected)
        }
    }

    @Test func `submit takes an identifier after --network, and refuses another word`() async throws {
        try await serving { host, socket in
            let result = await bgtask("submit", "--network", "org.example.a", socket: socket)
            #expect(result.status == 0, "\(result)")
            #expect(host.script.withLock { $0.submissions.first?.requiresNetworkConnectivity } == true)
            for typo in [["--network", "unmetred"], ["--network=unmetred"]] {
                let result = await bgtask(["submit", "org.example.a"] + typo + ["--socket", socket])
                #expect(result.status == 2, "\(result)")
                #expect(result.errors.contains("unmetred"), "\(result)")
            }
        }
    }

    @Test func `an empty title is a mistake of the command line`() async throws {
        try await serving { host, socket in
            for title in ["", " "] {
                let result = await bgtask("submit", "org.example.a", "--title", title, socket: socket)
                #expect(result.status == 2 && result.errors.contains("The title is empty."), "\(result)")
            }
            #expect(host.script.withLock { $0.submissions.isEmpty })
        }
    }

    @Test func `a date further ahead than seven days is kept, with a warning`() async throws {
        try await serving { _, socket in
            for (date, warns) in [("6d", false), ("9d", true)] {
                let result = await bgtask("submit", "org.example.a", "--earliest", date, socket: socket)
                #expect(result.status == 0, "\(result)")
                let warning = "Warning: The earliest begin date is more than 7 days"
                #expect(result.output.contains(warning) == warns, "\(result)")
                let json = await bgtask(
                    "submit", "org.example.a", "--earliest", date, "--json", socket: socket)
                #expect((json.object["warnings"] as? [String])?.isEmpty == !warns, "\(json)")
            }
        }
    }

    @Test func `launches as JSON has every promised key, with null where there is nothing`() async throws {
        try await serving { host, socket in
            let request = ScriptedHost.request(TaskSubmission(identifier: try task(), origin: .client))
            host.edit {
                $0.launches = [
                    ScriptedHost.record(request, id: 43), ScriptedHost.ended(request, .expired, .leaseEnded),
                ]
            }
            let result = await bgtask(
                "launches", "--identifier", "org.example.a", "--json", socket: socket)
            #expect(result.status == 0, "\(result)")
            #expect(host.asked.last == "launches org.example.a 50")
            #expect(result.rows.count == 2)
            for row in result.rows {
                let promised: Set = [
                    "launch", "identifier", "kind", "state", "outcome", "reason", "attempt", "startedAt",
                    "endedAt",
                    "progress", "cpuSeconds", "isolation",
                ]
                #expect(promised.isSubset(of: row.keys))
            }
            #expect(result.rows[0]["outcome"] is NSNull && result.rows[0]["progress"] is NSNull)
            #expect(result.rows[1]["outcome"] as? String == "expired")
            #expect(result.rows[1]["reason"] as? String == "leaseEnded")
            #expect(result.rows[1]["cpuSeconds"] as? Double == 0.812)
            let progress = try #require(result.rows[1]["progress"] as? [String: Any])
            #expect(progress["completed"] as? Int == 9 && progress["total"] as? Int == 20)
            #expect(progress["message"] as? String == "nine")
            let text = await bgtask("launches", socket: socket)
            #expect(
                text.output.contains("L42") && text.output.contains("1.2 s")
                    && text.output.contains("45 % 9/20 nine"))
            #expect(!text.output.contains("\u{1B}"))
        }
    }

    @Test func `every other command answers in text and in JSON`() async throws {
        try await serving { host, socket in
            let request = ScriptedHost.request(TaskSubmission(identifier: try task(), origin: .client))
            let line = LogLine(
                at: ScriptedHost.start, level: .info, source: .standardOutput, launch: LaunchID(rawValue: 42),
                identifier: try task(), message: "evil \u{1B}[2J text")
            host.edit {
                $0.launches = [ScriptedHost.ended(request, .succeeded, nil)]
                $0.log = [line]
                $0.pending = [PendingRequest(request: request, verdicts: [ScriptedHost.veto])]
            }
            let commands: [([String], String, String)] = [
                (["pending"], "External power is not connected (battery at 15 %)", "\"verdicts\""),
                (["show", "L42"], "succeeded", "\"log\""),
                (["report", "L42"], "There is no report", "\"termination\" : null"),
                (["report"], "None of the newest 1000 launches crashed", "null"),
                (["cancel", "R17"], "R17 is cancelled", "\"requests\""),
                (["launch", "org.example.a", "--debug"], "gdb -p 4711", "\"processIdentifier\" : 4711"),
                (
                    ["expire", "L42", "--reason", "thermal"], "The host asked L42 to stop: thermal",
                    "\"reason\" : \"thermal\""
                ),
                (["plugins"], "bad.yaml:4:7: error: unknown key 'kindd'", "\"libraryHash\" : \"abc\""),
                (["logs"], "evil \\u{1b}[2J text", "\"standardOutput\""),
                (["conditions"], "battery:15%", "\"source\" : \"simulated\""),
                (["conditions", "set", "power=battery:15%", "gpu=on"], "battery:15%", "\"key\" : \"power\""),
                (["conditions", "clear"], "simulated", "\"since\""),
                (["explain", "org.example.a"], "org.example.a (processing): R17 waits", "\"scoreSuffices\""),
                (["explain", "--launch", "L42"], "It ended: succeeded", "\"stop\" : null"),
                (["settings"], "3 of 48", "\"cpuSecondsLimit\" : 1800"),
                (["settings", "refresh", "org.example", "deny"], "denied", "\"refresh\" : \"denied\""),
                (["settings", "dismiss", "org.example"], "org.example", "\"dismissedAt\""),
                (
                    ["settings", "budget", "org.example", "--launches", "5", "--cpu", "10m"], "3 of 48",
                    "\"launchLimit\""
                ),
                (["used", "org.example", "--foreground"], "org.example", "\"lastUsed\""),
                (["open", "org.example"], "R17 launches the app of org.example", "\"identifier\""),
                (
                    ["push", "org.example", "{}", "--priority", "10"], "R17 org.example.push is pending",
                    "\"kind\""
                ),
                (["answer", "L42", "no"], "The host asked L42 to stop", "\"keepGoing\" : false"),
                (
                    ["config", "show", "scheduling"],
                    "scheduling.refreshSpacing  5m     /etc/bgtask/bgtaskd.yaml:3  15m (standard)",
                    "\"overridden\" : ["
                ),
                (
                    ["doctor"], "the host kills a launch with all its processes by: pidNamespace",
                    "\"groupKill\""
                ),
                (["security"], "BUNDLE       EXPOSURE  GRADE", "\"exposure\""),
                (["security", "org.example"], "org.example: exposure ", "\"remedy\""),
                (["version"], "host 9.8.7", "\"api\" : 1"),
            ]
            for (arguments, text, key) in commands {
                let plain = await bgtask(arguments + ["--socket", socket])
                #expect(plain.status == 0 && plain.output.contains(text), "\(arguments): \(plain)")
                #expect(!plain.output.contains("\u{1B}"))
                let json = await bgtask(arguments + ["--socket", socket, "--json"])
                #expect(json.status == 0 && json.output.contains(key), "\(arguments): \(json)")
                #expect(json.json != nil, "\(arguments): \(json)")
            }
            #expect(host.asked.contains("set power=battery:15% gpu=on"))
            #expect(host.asked.contains("simulate org.example.a true"))
            #expect(host.asked.contains("push org.example {} 10"))
            #expect(host.asked.contains("answer L42 false"))
            #expect(host.asked.contains("open org.example"))
            #expect(host.asked.contains("change org.example foreground(true)"))
        }
    }

    @Test func `without a host the exit code is 3, with the socket and the line that starts one`()
        async throws
    {
        let folder = try TemporaryFolder()
        let socket = folder.path + "/none.sock"
        let plain = await bgtask("pending", socket: socket)
        #expect(plain.status == 3 && plain.output.isEmpty)
        #expect(plain.errors.contains(socket) && plain.errors.contains("bgtaskd --plugins"))
        let json = await bgtask(
            "submit", "org.example.a", "--json", socket: nil, environment: ["BGTASK_SOCKET": socket])
        #expect(json.status == 3 && json.object["code"] as? String == "unavailable")
        #expect(json.object["subject"] as? String == socket)
        for command in ["doctor", "version"] {
            #expect(await bgtask(command, socket: socket).status == 0)
        }
    }

    @Test(arguments: [["cancel", "L42"], ["expire", "L42"], ["answer", "L42", "no"]])
    func `what can't be done to an ended launch says how and when it ended`(arguments: [String]) async throws
    {
        try await serving { host, socket in
            let request = ScriptedHost.request(TaskSubmission(identifier: try task(), origin: .client))
            let refusal = SubmissionError(
                code: .notFound, subject: "L42", finding: "no running launch has this name",
                remedy: "List them")
            host.edit {
                $0.launches = [ScriptedHost.ended(request, .expired, .leaseEnded)]
                $0.refusal = refusal
                $0.showsLaunchesAnyway = true
            }
            let result = await bgtask(arguments + ["--socket", socket])
            #expect(result.status == 4, "\(result)")
            #expect(
                result.errors.contains("L42: it ended at 20")
                    && result.errors.contains(": expired, leaseEnded. To see how: bgtask show L42"),
                "\(result)")
        }
    }

    @Test func `a mistyped key of the configuration gets the nearest key or section`() async throws {
        try await serving { _, socket in
            for (key, meant) in [
                ("shceduling", "scheduling"), ("scheduling.urgentSlot", "scheduling.urgentSlots"),
            ] {
                let plain = await bgtask("config", "show", key, socket: socket)
                #expect(
                    plain.status == 2 && plain.errors.contains("Did you mean '\(meant)'?"), "\(plain)")
                let json = await bgtask("config", "show", key, "--json", socket: socket)
                #expect(json.status == 2 && json.object["code"] as? String == "usage", "\(json)")
            }
        }
    }

    @Test func `a refusal exits 4 with its code in the JSON`() async throws {
        try await serving { host, socket in
            let refusal = SubmissionError(
                code: .notPermitted, subject: "org.example.a", finding: "no manifest permits it",
                remedy: "Add one")
            host.edit { $0.refusal = refusal }
            let json = await bgtask("submit", "org.example.a", "--json", socket: socket)
            #expect(json.status == 4 && json.object["code"] as? String == "notPermitted", "\(json)")
            let plain = await bgtask("submit", "org.example.a", socket: socket)
            #expect(
                plain.status == 4 && plain.output.isEmpty && plain.errors.contains("[notPermitted]"),
                "\(plain)")
        }
    }

    @Test(arguments: [
        ["submit"], ["submit", "a b"], ["frobnicate"], ["show", "4/2"],
        ["submit", "a.b", "--earliest", "soon"],
        ["submit", "a.b", "--payload", "@/nonexistent"], ["expire", "L1", "--reason", "handlerFailed"],
        ["launches", "--limit", "0"], ["conditions", "set"], ["explain"],
        ["explain", "a.b", "--launch", "L1"],
        ["push", "a.b", "{}", "--priority", "7"], ["used", "a.b", "--foreground", "--background"],
        ["settings", "budget", "a.b", "--cpu", "soon"],
    ])
    func `a wrong command line exits 2 and explains itself`(arguments: [String]) async throws {
        let result = await bgtask(arguments)
        #expect(result.status == 2 && result.output.isEmpty && result.errors.contains("Error:"), "\(result)")
    }

    @Test(arguments: [
        (["lanch", "a.b"], "Unknown command 'lanch'. Did you mean 'launch'?"),
        (["help", "explian"], "Unknown command 'explian'. Did you mean 'explain'?"),
        (["conditions", "sett", "gpu=on"], "Unknown command 'conditions sett'. Did you mean 'set'?"),
        (["frobnicate"], "Unknown command 'frobnicate'. List the commands: bgtask --help"),
        (["submit", "a.b", "--earliest", "5 minutes"], "such as 30s, 5m, 2h or 1h30m"),
    ])
    func `a mistake on the command line gets the nearest valid form`(arguments: [String], text: String)
        async throws
    {
        let result = await bgtask(arguments)
        #expect(result.status == 2 && result.errors.contains(text), "\(result)")
        let json = await bgtask(arguments + ["--json"])
        #expect(json.status == 2 && json.errors.isEmpty, "\(json)")
        #expect(json.object["code"] as? String == "usage", "\(json)")
        #expect((json.object["finding"] as? String)?.contains(text) == true, "\(json)")
        #expect((json.object["remedy"] as? String)?.hasPrefix("See 'bgtask ") == true, "\(json)")
    }

    @Test(arguments: [
        (["settings", "bogus"], "Usage: bgtask settings <subcommand>", "bgtask settings --help"),
        (
            ["conditions", "sett", "gpu=on"], "Usage: bgtask conditions <subcommand>",
            "bgtask conditions --help"
        ),
        (["frobnicate"], "Usage: bgtask <subcommand>", "bgtask --help"),
        (["submit", "a.b", "--payload", "@/nonexistent"], "Usage: bgtask submit ", "bgtask submit --help"),
        (["lint"], "Usage: bgtask lint ", "bgtask lint --help"),
        (["config", "show", "shceduling"], "Usage: bgtask config show ", "bgtask config show --help"),
    ])
    func `a mistake shows the usage of the command at hand`(
        arguments: [String], usage: String, help: String
    ) async throws {
        try await serving { _, socket in
            let result = await bgtask(arguments, environment: ["BGTASK_SOCKET": socket])
            #expect(result.status == 2, "\(result)")
            #expect(result.errors.contains("\n\(usage)"), "\(result)")
            #expect(result.errors.hasSuffix("See '\(help)' for more information.\n"), "\(result)")
        }
    }

    @Test func `an input of addresses that is not UTF-8 is refused whole`() async throws {
        let folder = try TemporaryFolder()
        let input = folder.path + "/addresses"
        try Data("http://localhost/a ".utf8 + [0x6C, 0xE9] + "\n".utf8).write(to: URL(fileURLWithPath: input))
        let result = await bgtask("transfer", "--input", input, socket: "/nonexistent")
        #expect(result.status == 2 && result.errors.contains("\(input) is not UTF-8"), "\(result)")
    }

    @Test func `the log of a launch that the host does not know is refused by its name`() async throws {
        try await serving { host, socket in
            let request = ScriptedHost.request(TaskSubmission(identifier: try task(), origin: .client))
            host.edit { $0.launches = [ScriptedHost.ended(request, .succeeded, nil)] }
            let known = await bgtask("logs", "--launch", "L42", socket: socket)
            #expect(known.status == 0 && known.errors.contains("no line of the log matches"), "\(known)")
            let unknown = await bgtask("logs", "--launch", "L999", socket: socket)
            #expect(unknown.status == 4 && unknown.output.isEmpty, "\(unknown)")
            #expect(unknown.errors.contains("L999"), "\(unknown)")
            let json = await bgtask("logs", "--launch", "L999", "--json", socket: socket)
            #expect(json.status == 4 && json.object["code"] as? String == "notFound", "\(json)")
        }
    }

    @Test func `a picture that can't be written is a sentence`() async throws {
        let result = await bgtask(["simulate", "--seed", "1", "--svg", "/nonexistent/x.svg"])
        #expect(result.status == 1, "\(result)")
        #expect(
            result.errors
                == "bgtask: /nonexistent/x.svg: the picture was not written: No such file or directory. Give --svg a file in a directory that exists and that you may write to\n",
            "\(result)")
    }

    @Test func `each problem of a policy file has a line of its own`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/policy.yaml"
        try Data("scheduling:\n  scores: {userActive: 2, userActiv: 1}\n".utf8).write(
            to: URL(fileURLWithPath: file))
        let result = await bgtask(["simulate", "--policy", file])
        let lines = result.errors.split(separator: "\n")
        #expect(result.status == 1 && lines.count == 2, "\(result)")
        #expect(lines.allSatisfy { $0.hasPrefix("bgtask: \(file):2:") }, "\(result)")
    }

    @Test(arguments: [["lint"], ["simulate", "--manifests"]])
    func `a call's library is looked for where the host looks, and a refusal says where`(
        command: [String]
    ) async throws {
        let folder = try TemporaryFolder()
        let (manifests, plugins) = (folder.path + "/manifests", folder.path + "/plugins")
        try FileManager.default.createDirectory(atPath: manifests, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: plugins, withIntermediateDirectories: true)
        let file = manifests + "/a.yaml"
        try Data(
            """
            apiVersion: bgtask/v1
            bundle: org.example
            modes: [processing]
            tasks:
              - identifier: org.example.call
                kind: processing
                call:
                  library: libmine.so
                  steps: [{function: puts, returns: int, arguments: [{string: hello}]}]

            """.utf8
        ).write(to: URL(fileURLWithPath: file))
        let arguments = command + [command == ["lint"] ? file : manifests]
        let environment = ["BGTASK_PATHS_PLUGINS": plugins]
        let missing = await bgtask(arguments, environment: environment)
        #expect(missing.status == 1, "\(missing)")
        #expect(
            (missing.output + missing.errors).contains(
                "a.yaml:8:16: error: library 'libmine.so' is not in \(plugins), nor where 'ldconfig -p' finds libraries"
            ), "\(missing)")
        // Any library with the function will do: the program's own C library, under another name.
        let libraries = [
            "/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6",
        ]
        let library = try #require(libraries.first { FileManager.default.fileExists(atPath: $0) })
        try FileManager.default.createSymbolicLink(
            atPath: plugins + "/libmine.so", withDestinationPath: library)
        let found = await bgtask(arguments, environment: environment)
        #expect(found.status == 0, "\(found)")
        // With --plugins, the command searches that directory instead of the host's.
        let named = await bgtask(arguments + ["--plugins", manifests], environment: environment)
        #expect(
            named.status == 1 && (named.output + named.errors).contains("is not in \(manifests), nor"),
            "\(named)")
    }

    @Test func `launch passes a payload to the request that it makes`() async throws {
        try await serving { host, socket in
            let payload = #"{"size": 3}"#
            let result = await bgtask("launch", "org.example.a", "--payload", payload, socket: socket)
            #expect(result.status == 0, "\(result)")
            #expect(host.asked.last == "simulate org.example.a false payload \(payload)", "\(host.asked)")
            let read = await bgtask(
                "launch", "org.example.a", "--payload", "@-", "--learn", socket: socket, input: payload)
            #expect(read.status == 0, "\(read)")
            #expect(
                host.asked.last == "simulate org.example.a false learn payload \(payload)", "\(host.asked)")
        }
    }

    @Test(arguments: [
        (["submit", "org.example.a", "--earliest", "-5m"], "--earliest", "-5m"),
        (["logs", "-n", "-1"], "-n", "-1"), (["launches", "-n", "-1"], "-n", "-1"),
        (["logs", "--since", "-2h"], "--since", "-2h"),
    ])
    func `a negative value is named`(arguments: [String], option: String, value: String) async {
        let result = await bgtask(arguments)
        #expect(result.status == 2, "\(result)")
        #expect(result.errors.contains("\(option) takes no negative value: '\(value)'"), "\(result)")
        let json = await bgtask(arguments + ["--json"])
        #expect((json.object["finding"] as? String)?.contains("'\(value)'") == true, "\(json)")
    }

    @Test(arguments: [["launches", "--since", "yesterdy"], ["logs", "--until", "yesterdy"]])
    func `a wrong time in the past is answered with times in the past`(arguments: [String]) async {
        let result = await bgtask(arguments)
        #expect(result.status == 2, "\(result)")
        #expect(
            result.errors.contains("'yesterday 18:00'") && !result.errors.contains("tomorrow"), "\(result)")
    }

    @Test(arguments: [("--at", "tomorow"), ("--every", "1 dya")])
    func `run names a wrong time before it asks the host`(option: String, text: String) async {
        let result = await bgtask(["run", option, text, "--", "echo"])
        #expect(result.status == 2, "\(result)")
        #expect(result.errors.contains("'\(text)'") && result.errors.contains(option), "\(result)")
    }

    @Test func `launches have -n, as logs`() async throws {
        try await serving { host, socket in
            let result = await bgtask("launches", "-n", "3", socket: socket)
            #expect(result.status == 0, "\(result)")
            #expect(host.asked.last?.contains(" 3") == true, "\(host.asked)")
        }
    }

    @Test func `help is for every command and has examples`() async throws {
        for command in [
            "submit", "pending", "launches", "show", "report", "cancel", "launch", "expire", "plugins",
            "logs",
            "conditions",
            "lint", "doctor", "version", "explain", "settings", "used", "push", "answer",
            "config", "manifest", "new", "dev", "security",
        ] {
            let result = await bgtask([command, "--help"])
            #expect(
                result.status == 0 && result.output.contains("Examples:\n  bgtask \(command)"), "\(result)")
        }
    }

    @Test func `lint points at the line of a mistake and exits 1`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/bad.yaml"
        try Data("apiVersion: bgtask/v1\nbundle: org.example\nlibary: libx.so\n".utf8).write(
            to: URL(fileURLWithPath: file))
        let result = await bgtask(["lint", file])
        #expect(result.status == 1 && result.output.contains("\(file):3:1: error:"), "\(result)")
        let json = await bgtask(["lint", "--json", file])
        #expect(json.status == 1 && json.rows.contains { $0["line"] as? Int == 3 }, "\(json)")
    }

    @Test func `lint reads the manifests of a directory`() async throws {
        let folder = try TemporaryFolder()
        let empty = await bgtask(["lint", folder.path])
        #expect(
            empty.status == 1
                && empty.output.contains("the directory has no file whose name ends in .yaml or .yml"),
            "\(empty)")
        let file = folder.path + "/bad.yaml"
        try Data("apiVersion: bgtask/v1\nbundle: org.example\nlibary: libx.so\n".utf8).write(
            to: URL(fileURLWithPath: file))
        let result = await bgtask(["lint", folder.path])
        #expect(result.status == 1 && result.output.contains("\(file):3:1: error:"), "\(result)")
    }

    @Test func `show says why the host stopped a launch`() async throws {
        try await serving { host, socket in
            let request = ScriptedHost.request(TaskSubmission(identifier: try task(), origin: .client))
            host.edit {
                $0.launches = [ScriptedHost.ended(request, .expired, .leaseEnded)]
                $0.stop = Explanation(
                    question: .stop, at: ScriptedHost.start,
                    verdicts: [
                        Verdict(
                            policy: "Turn", decision: .absolutelyMustNotProceed, score: 0, weight: 0,
                            rationale: [
                                Rationale(
                                    quantity: "runTime",
                                    required: "at most 10 min, because org.example.b waits for the slot",
                                    observed: "12 min")
                            ])
                    ])
            }
            let result = await bgtask("show", "L42", socket: socket)
            #expect(
                result.output.contains(
                    "because       The run time is 12 min; it must be at most 10 min, because org.example.b waits"
                ),
                "\(result)")
        }
    }

    @Test func `the program prints what the library does and ends with its exit status`() async throws {
        let folder = try TemporaryFolder()
        let socket = folder.path + "/none.sock"
        for arguments in [
            ["version"], ["pending"], ["pending", "--json"], ["frobnicate"], ["show", "--help"],
        ] {
            let given = arguments.contains("--help") ? arguments : arguments + ["--socket", socket]
            let program = try await run(builtPrograms + "/bgtask", given)
            let library = await bgtask(given)
            #expect(program.status == library.status, "\(program)")
            #expect(program.output == library.output && program.errors == library.errors, "\(program)")
        }
    }

    @Test(arguments: [
        ["--socket", "SOCKET", "pending"], ["--socket=SOCKET", "--json", "pending"],
        ["--json", "--socket", "SOCKET", "config", "show"],
        ["--timeout", "5s", "--socket=SOCKET", "pending"],
    ])
    func `options of all commands can stand before the command`(words: [String]) async throws {
        try await serving { _, socket in
            let given = words.map { $0.replacing("SOCKET", with: socket) }
            let last = given.filter { !$0.hasPrefix("-") && $0 != socket && $0 != "5s" }
            var usual = last + ["--socket", socket]
            if words.contains("--json") { usual.append("--json") }
            let (first, second) = (await bgtask(given), await bgtask(usual))
            #expect(first.status == 0 && first.output == second.output, "\(first) \(second)")
        }
    }

    @Test func `a host of another user is there, and may not be used`() throws {
        let message = Console.message(
            for: .unreachable(socket: "/run/a.sock", cause: "Permission denied"), tried: ["/run/a.sock"])
        #expect(message.finding.contains("may not use the host"), "\(message)")
        #expect(!message.remedy.contains("Start a host"), "\(message)")
    }

    @Test func `the payload of a dash is what stands on standard input`() async throws {
        try await serving { host, socket in
            let result = await bgtask(
                "submit", "org.example.a", "--payload", "@-", socket: socket, input: #"{"a": 1}"#)
            #expect(result.status == 0, "\(result)")
            #expect(host.script.withLock { $0.submissions.first?.payload } == #"{"a": 1}"#)
        }
    }
}
