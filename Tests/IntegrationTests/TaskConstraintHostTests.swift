import Foundation
import TaskHostTestSupport
import Testing

/// The constraints `storage`, `battery`, `between`, `conflicts` and `when`, as a user of a real host sees
/// them.
@Suite(.system) struct TaskConstraintHostTests {
    /// A manifest whose window opens two hours from now and lasts an hour.
    static func manifest(openingFrom now: Date = Date()) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = "HH:mm"
        let (start, end) = (format.string(from: now + 7200), format.string(from: now + 10_800))
        return """
            apiVersion: bgtask/v1
            bundle: com.example.counting
            library: libcounting.so
            modes: [processing]
            tasks:
              - {identifier: com.example.counting.space, kind: processing, storage: 2GiB}
              - {identifier: com.example.counting.charged, kind: processing, battery: 40%}
              - {identifier: com.example.counting.later, kind: processing, between: [\(start), \(end)]}
              - {identifier: com.example.counting.count, kind: processing}
              - identifier: com.example.counting.rival
                kind: processing
                conflicts: [com.example.counting.count]
              - identifier: com.example.counting.picky
                kind: processing
                payload: {urgent: boolean}
                when: battery >= 40 and (network == unmetered or payload.urgent)
            """
    }

    @Test func `each constraint holds its task, explain says so, and its remedy starts it`() throws {
        let host = try HostProcess()
        let source = EndToEndTests.counting.replacingOccurrences(
            of: "long position = 0;", with: "long position = 0; host->expiration_descriptor(task);")
        try host.install(source, library: "libcounting.so", manifest: Self.manifest(), named: "counting")
        try host.start()
        func explain(_ name: String) -> String { host.run("explain", "com.example.counting.\(name)").output }
        func submit(_ name: String, _ payload: String = "{}") {
            #expect(host.run("submit", "com.example.counting.\(name)", "--payload", payload).status == 0)
        }
        func set(_ values: String...) { #expect(host.run(["conditions", "set"] + values).status == 0) }
        func waitForSuccess(_ name: String) throws {
            try host.wait("\(name) has run; \(explain(name))") {
                try host.launches(of: "com.example.counting.\(name)").first?["outcome"] as? String
                    == "succeeded"
            }
        }

        set("storage=1GiB")
        #expect(host.run("conditions").output.contains("storage"))
        submit("space")
        #expect(explain("space").contains("Storage: The free space is 1 GiB; it must be 2 GiB or more"))
        set("storage=3GiB")
        try waitForSuccess("space")

        set("power=battery:30%")
        submit("charged")
        #expect(
            explain("charged").contains(
                "The battery charge is 30 %; it must be 40 % or more without external power, as its manifest requires"
            ), "\(explain("charged"))")
        set("power=external")
        try waitForSuccess("charged")

        submit("later")
        #expect(explain("later").contains("Between: The local time is "), "\(explain("later"))")
        #expect(host.run("launch", "com.example.counting.later").status == 0)
        try waitForSuccess("later")

        submit("count", #"{"mode":"wait"}"#)
        try host.wait("it runs") {
            try host.launches(of: "com.example.counting.count").first?["state"] as? String == "running"
        }
        submit("rival")
        #expect(
            explain("rival").contains(
                "The conflicting task com.example.counting.count is running"),
            "\(explain("rival"))")
        #expect(explain("rival").contains("bgtask expire com.example.counting.count"))
        host.run("cancel", "com.example.counting.count")
        try waitForSuccess("rival")

        set("power=battery:30%", "network=metered")
        submit("picky", #"{"urgent":false}"#)
        let text = explain("picky")
        #expect(
            text.contains("it must be true: battery >= 40 and (network == unmetered or payload.urgent)"),
            "\(text)")
        #expect(text.contains("The fact battery is 30 %; the clause needs battery >= 40"), "\(text)")
        #expect(text.contains("The fact payload.urgent is false; the clause needs payload.urgent"), "\(text)")
        set("power=external")
        #expect(
            explain("picky").contains(
                "This is enough: network == unmetered. Or submit the request again with payload.urgent"),
            "\(explain("picky"))")
        set("network=unmetered")
        try waitForSuccess("picky")

        // With the recorded values of the payload, a replay makes the same decisions.
        #expect(host.stop() == 0)
        let replay = host.run("replay", host.state.appending(path: "recording").path, "--launches", "--json")
        let answer = try #require(
            try JSONSerialization.jsonObject(with: Data(replay.output.utf8)) as? [String: Any])
        #expect((answer["differences"] as? [Any])?.isEmpty == true, "\(replay.output)")
        #expect(host.leftovers() == [])
    }

    @Test func `lint and plugins show the place of a mistake in an expression`() throws {
        let host = try HostProcess()
        let text = Self.manifest().replacingOccurrences(of: "when: battery", with: "when: batteries")
        try host.install(
            EndToEndTests.counting, library: "libcounting.so", manifest: text, named: "counting")
        try host.start()
        let finding = "16:11: error: when: there is no fact 'batteries'. Did you mean 'battery'?"
        try host.wait("the host has read it") { host.run("plugins").output.contains(finding) }
        #expect(host.run("logs").output.contains(finding))
        let lint = host.run("lint", host.directory.appendingPathComponent("manifests/counting.yaml").path)
        #expect(lint.status == 1)
        let lines = lint.output.split(separator: "\n").map(String.init)
        let index = try #require(lines.firstIndex { $0.contains(finding) }, "\(lint.output)")
        let caret = try #require(lines.dropFirst(index + 2).first)
        #expect(caret.hasSuffix("^") && caret.count == 4 + 11)
        #expect(host.stop() == 0)
    }
}
