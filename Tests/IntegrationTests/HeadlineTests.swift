import Foundation
import TaskHostTestSupport
import Testing

extension Tag {
    /// Situations in which a request waits, with the host's explanation acted on.
    @Tag static var situation: Self
}

/// What a person reads and does at a terminal: the headline of a waiting request, and its remedies as they
/// are printed.
@Suite(.system, .tags(.situation)) struct HeadlineTests {
    private static let manifests = ["waiting", "other", "third"].map { name in
        """
        apiVersion: bgtask/v1
        bundle: com.example.\(name)
        library: libcounting.so
        modes: [fetch, processing]
        tasks:
          - {identifier: com.example.\(name).index, kind: processing}
          - {identifier: com.example.\(name).cleanup, kind: processing, requiresExternalPower: true}
          - {identifier: com.example.\(name).sync, kind: appRefresh, network: any}
          - {identifier: com.example.\(name).upload, kind: processing, network: unmetered}
        """
    }

    /// A situation: commands that bring it about, and what the headline says.
    struct Case: Sendable, CustomTestStringConvertible {
        let task: String
        let headline: String
        let before: [[String]]
        var after: [[String]] = []
        var testDescription: String { headline }
    }

    static let cases: [Case] = [
        Case(
            task: "cleanup", headline: "Waits for power: plug in, and it starts at once.",
            before: [["conditions", "set", "power=battery:80%"]]),
        Case(
            task: "sync", headline: "Waits for a charged battery: plug in, and it starts at once.",
            before: [["conditions", "set", "power=battery:12%"]]),
        Case(
            task: "sync", headline: "Waits for a network: connect to one, and it starts at once.",
            before: [["conditions", "set", "network=none"]]),
        Case(
            task: "upload",
            headline: "Waits for an unmetered network: connect to one, and it starts at once.",
            before: [["conditions", "set", "network=metered"]]),
        Case(
            task: "index", headline: "Waits for an idle device: leave it alone for 5 min, and it starts.",
            before: [["conditions", "set", "user=active"]]),
        Case(
            task: "sync",
            headline: "Waits for the end of low-power mode: turn it off, and it starts at once.",
            before: [["conditions", "set", "lowPower=on"]]),
        Case(
            task: "index", headline: "Waits for a cooler machine: let it cool down, and it starts.",
            before: [["conditions", "set", "thermal=serious"]]),
        Case(
            task: "cleanup",
            headline:
                "Waits for power and an idle device: plug in and leave the device alone for 5 min, and it starts.",
            before: [["conditions", "set", "power=battery:80%", "user=active"]]),
        Case(
            task: "sync",
            headline:
                "Waits for its bundle to be used again: use it, and it starts at once: bgtask used com.example.waiting",
            before: [["settings", "dismiss", "com.example.waiting"]]),
        Case(
            task: "sync",
            headline:
                "Waits for background refresh to be allowed: allow it, and it starts at once: bgtask settings refresh com.example.waiting allow",
            before: [["conditions", "set", "network=none"]],
            after: [
                ["settings", "refresh", "com.example.waiting", "deny"],
                ["conditions", "set", "network=unmetered"],
            ]),
        Case(
            task: "sync",
            headline:
                "Waits for more of its daily budget: raise the budget, and it starts at once: bgtask settings budget com.example.waiting --launches 1",
            before: [["settings", "budget", "com.example.waiting", "--launches", "0"]]),
    ]

    /// A host with three bundles; a payload with the word `abort` makes their handler crash.
    private static func host() throws -> HostProcess {
        let host = try HostProcess()
        let source = EndToEndTests.counting.replacingOccurrences(
            of: "long position = 0;",
            with: """
                long position = 0; host->expiration_descriptor(task);
                if (launch->payload && strstr(launch->payload, "abort")) __builtin_trap();
                """)
        try host.install(
            source, library: "libcounting.so", manifest: EndToEndTests.manifest, named: "counting")
        for (number, text) in manifests.enumerated() {
            try text.write(
                to: host.manifests.appendingPathComponent("m\(number).yaml"), atomically: true,
                encoding: .utf8)
        }
        try host.start()
        host.run("conditions", "set", "power=external", "user=idle", "network=unmetered", "thermal=nominal")
        return host
    }

    /// What a person does who has no command for an act.
    private static let deeds = [
        "Plug in": "power=external", "Connect to a network": "network=unmetered",
        "Connect to an unmetered network": "network=unmetered",
        "Leave the device alone for 5 min": "user=idle", "Turn low-power mode off": "lowPower=off",
        "Let the machine cool down": "thermal=nominal",
    ]

    @Test(arguments: cases)
    func `the headline is read, acted on, and the request starts`(situation: Case) throws {
        let host = try Self.host()
        for command in situation.before { #expect(host.run(command).status == 0, "\(command)") }
        let task = "com.example.waiting.\(situation.task)"
        #expect(host.run("submit", task).status == 0)
        for command in situation.after { #expect(host.run(command).status == 0, "\(command)") }

        let answer = try #require(try host.json("explain", task) as? [String: Any])
        #expect(answer["headline"] as? String == situation.headline)
        #expect(host.run("explain", task).output.contains(situation.headline))
        #expect(host.run("pending").output.contains(situation.headline))
        let rows = try #require(try host.json("pending") as? [[String: Any]])
        #expect(rows.first { ($0["headline"] as? String) == situation.headline } != nil)
        #expect(try host.launches(of: task).isEmpty)

        let remedies = try #require(answer["remedies"] as? [[String: Any]])
        let remedy = try #require(remedies.first { $0["effect"] as? String == "starts" })
        for act in try #require(remedy["acts"] as? [[String: Any]]) {
            if let command = act["command"] as? [String] {
                #expect(host.run(Array(command.dropFirst())).status == 0, "\(command)")
            } else {
                let deed = try #require(Self.deeds[act["text"] as? String ?? ""])
                #expect(host.run("conditions", "set", deed).status == 0)
            }
        }
        try host.wait("it starts") { try !host.launches(of: task).isEmpty }
        #expect(host.stop() == 0)
    }

    @Test func `a full lane names its launches, and the printed command frees a slot`() throws {
        let host = try Self.host()
        for bundle in ["other", "third"] {
            host.run("submit", "com.example.\(bundle).index", "--payload", #"{"mode":"wait"}"#)
        }
        try host.wait("both run") {
            try host.launches().count(where: { $0["state"] as? String == "running" }) == 2
        }
        let task = "com.example.waiting.index"
        host.run("submit", task)
        let output = host.run("explain", task, "--socket", host.socket.path).output
        #expect(output.contains("Waits for a free slot: stop L1 (com.example.other.index)"), "\(output)")
        #expect(output.contains("L2 com.example.third.index, which ends in"), "\(output)")
        // The line is pasted into a shell as it is.
        let line = try #require(
            output.split(separator: "\n").first {
                $0.contains("bgtask expire L1 --socket") && $0.hasPrefix("    ")
            })
        let shell = Command.run(
            "/bin/sh", "-c",
            "PATH=\(HostProcess.products.path):$PATH; \(line.trimmingCharacters(in: .whitespaces))")
        #expect(shell.status == 0, "\(shell)")
        try host.wait("it starts") { try !host.launches(of: task).isEmpty }
        #expect(host.stop() == 0)
    }

    @Test func `the past of a request is shown, kept with its launch, and outlives the host`() throws {
        let host = try Self.host()
        let task = "com.example.waiting.cleanup"
        host.run("conditions", "set", "power=battery:80%")
        host.run("submit", task)
        try host.wait("it has waited for a second") {
            let answer = try host.json("explain", task) as? [String: Any]
            return (answer?["waited"] as? [[String: Any]])?.first?["object"] as? String == "power"
        }
        #expect(host.run("explain", task).output.contains(" for power."))
        host.run("conditions", "set", "power=external")
        try host.wait("it starts") { try !host.launches(of: task).isEmpty }
        let launch = try #require(try host.launches(of: task).first)
        #expect((launch["waited"] as? [[String: Any]])?.first?["policy"] as? String == "ExternalPower")
        let name = try #require(launch["launch"] as? String)
        #expect(host.run("show", name).output.contains(" for power"))
        #expect(host.stop() == 0)
        try host.start()
        #expect(host.run("show", name).output.contains(" for power"))
        #expect(host.stop() == 0)
    }

    /// The launcher notes when it lost its host, so the next host knows how long there was none.
    @Test func `after a kill, only the time without a host counts as a wait for the host`() throws {
        let host = try Self.host()
        let task = "com.example.waiting.cleanup"
        func waited() throws -> [String: Double] {
            let answer = try host.json("explain", task) as? [String: Any]
            let spans = answer?["waited"] as? [[String: Any]] ?? []
            return Dictionary(
                uniqueKeysWithValues: spans.map {
                    ($0["policy"] as? String ?? "", $0["seconds"] as? Double ?? 0)
                })
        }
        // A pause lasts longer than the host.
        host.run("pause", "com.example.waiting")
        host.run("submit", task)
        try host.wait("it has waited for 3 s") { try waited()["Paused"] ?? 0 >= 3 }
        let clock = ContinuousClock()
        let kill = clock.now
        host.kill()
        try host.start()
        let spans = try waited()
        let gap = clock.now - kill
        #expect(spans["EarlierHost"] ?? 0 >= 3, "\(spans)")
        #expect(.seconds(spans["Host"] ?? 0) <= gap, "\(spans), \(gap)")
        #expect(host.run("explain", task).output.contains(" for reasons that only the earlier host knew"))
        #expect(host.stop() == 0)
    }

    @Test func `a launch, a request or a task is understood where a person types it`() throws {
        let host = try Self.host()
        let task = "com.example.waiting.index"
        #expect(host.run("submit", task, "--wait").status == 0)
        host.run("conditions", "set", "user=active")
        #expect(host.run("submit", task).status == 0)
        for name in ["L1", "R1"] {
            let answer = host.run("explain", name)
            #expect(answer.status == 0 && answer.output.hasPrefix("L1 \(task) started at"), "\(answer)")
            #expect(host.run("logs", name).status == 0)
            #expect(host.run("report", name).status == 0)
        }
        for name in ["R2", task] {
            #expect(host.run("explain", name).output.contains("Waits for an idle device"))
            #expect(host.run("show", name).output.hasPrefix("request       R2"))
        }
        #expect(host.run("show", "L1").output.hasPrefix("launch        L1"))
        #expect(host.run("cancel", "R2").status == 0)
        #expect(host.run("show", task).output.hasPrefix("launch        L1"))
        let over = host.run("explain", "R2")
        #expect(over.status == 4 && over.errors.contains("bgtask show R2"), "\(over)")
        let unknown = host.run("explain", "L77")
        #expect(unknown.status == 4 && unknown.errors.contains("L77"), "\(unknown)")
        let never = host.run("show", "com.example.waiting.upload")
        #expect(never.status == 4 && never.errors.contains("bgtask explain com.example.waiting.upload"))
        #expect(host.stop() == 0)
    }

    @Test func `after five crashes, the headline names the report, and what tries the task`() throws {
        let host = try Self.host()
        let task = "com.example.waiting.index"
        for number in 1...5 {
            #expect(host.run("submit", task, "--payload", #"{"mode":"abort"}"#, "--wait").status == 1)
            try host.wait("L\(number) has ended") {
                try host.launches(of: task).count(where: { $0["outcome"] as? String == "crashed" }) == number
            }
        }
        #expect(host.run("submit", task).status == 0)
        let headline = try #require(
            (try host.json("explain", task) as? [String: Any])?["headline"] as? String)
        #expect(
            headline.contains("crashed 5 times within 5 min (see bgtask report L5)"), "\(headline)")
        #expect(headline.hasSuffix(": bgtask launch \(task)"), "\(headline)")
        #expect(host.run("report", "L5").output.contains("SIG"))
        #expect(host.run("launch", task).status == 0)
        #expect(host.stop() == 0)
    }
}
