import ControlClient
import ControlWire
import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

/// Apple's rules of continued tasks, with a plugin whose identifiers decide how each task continues.
@Suite(.system) struct AppContinuedTests {
    private func start(_ settings: String = "") throws -> AppHost {
        try AppHost(
            "ExportApp", modes: "", tasks: ["jobs.*": "continuedProcessing"],
            settings: settings.isEmpty ? "" : "scheduling: {\(settings)}")
    }

    /// Submits a continued task, and waits until its handler is running.
    private func begin(_ name: String, in app: AppHost) throws -> String {
        app.request("jobs.\(name)")
        let id = try app.newestLaunch(of: "jobs.\(name)")
        try app.hear("handler has", from: id)
        return id
    }

    /// The last labels of the running tasks.
    private func running(in app: AppHost) throws -> [String] {
        try app.host.launches().filter { $0["state"] as? String == "running" }
            .compactMap { ($0["identifier"] as? String)?.split(separator: ".").last.map(String.init) }
            .sorted()
    }

    @Test func `three run at once, and the fourth waits for a slot`() throws {
        let app = try start()
        for name in ["a", "b", "c"] { _ = try begin(name, in: app) }
        app.request("jobs.d")
        #expect(try app.pending() == ["org.example.export.jobs.d"])
        #expect(app.vetoes(of: "jobs.d").contains { $0.contains("Concurrency") })
        #expect(try running(in: app) == ["a", "b", "c"])
        #expect(app.host.stop() == 0)
    }

    @Test func `those that wait begin in the order of their submission, and one that can't wait is refused`()
        throws
    {
        let app = try start("continuedSlots: 1")
        var current = try begin("first", in: app)
        let waiting = ["z", "a", "m"]
        for name in waiting { #expect(app.request("jobs.\(name)").status == 0) }
        let refused = app.request("jobs.hurry", "--strategy", "fail", "--json")
        #expect(refused.status == 4 && refused.output.contains("immediateRunIneligible"), "\(refused)")
        #expect(refused.output.contains("the policy Concurrency"), "what decided is named: \(refused)")
        for name in waiting {
            app.host.run("cancel", current)
            _ = try app.end(current)
            current = try app.newestLaunch(of: "jobs.\(name)")
            try app.hear("handler has", from: current)
            #expect(try running(in: app) == [name])
        }
        app.host.run("cancel", current)
        _ = try app.end(current)
        #expect(
            app.request("jobs.special", "--strategy", "fail", "--wait").status == 0, "now there is a slot")
        #expect(app.host.stop() == 0)
    }

    @Test func `what waits is cancelled when the user dismisses the app, and what runs goes on`() throws {
        let app = try start("continuedSlots: 1")
        let id = try begin("runs", in: app)
        app.request("jobs.waits")
        app.host.run("settings", "dismiss", "org.example.export")
        try app.host.wait("it is cancelled") { try app.pending().isEmpty }
        #expect(try running(in: app) == ["runs"])
        app.host.run("cancel", id)
        _ = try app.end(id)
        #expect(try app.host.launches(of: "org.example.export.jobs.waits").isEmpty)
        #expect(app.host.stop() == 0)
    }

    @Test func `the handler of the exact identifier wins over the wildcard's`() throws {
        let app = try start()
        #expect(app.request("jobs.special", "--wait").status == 0)
        let special = try app.end(app.newestLaunch(of: "jobs.special"))
        #expect(special.says("the exact handler has org.example.export.jobs.special"), "\(special.lines)")
        let other = try begin("special.edition", in: app)
        try app.hear("the wildcard's handler has org.example.export.jobs.special.edition", from: other)
        #expect(app.host.stop() == 0)
    }

    @Test(.timeLimit(.minutes(3)))
    func `one that makes no progress is asked about and ends, one that does goes on`() async throws {
        let app = try start("stallLimit: 3s, stallQuestion: 1s")
        var events = try await ControlClient(socketPath: app.host.socket.path).events().makeAsyncIterator()
        let steady = try begin("steady", in: app)
        let still = try begin("still-40", in: app)
        var story: [String] = []
        while let event = try await events.next() {
            switch event {
            case .launchAsked(let id, _, let why): story.append("asked about \(id): \(why.quantity)")
            case .launchExpiring(let id, _, let reason): story.append("\(id) expires: \(reason)")
            default: continue
            }
            if story.count == 2 { break }
        }
        #expect(story == ["asked about \(still): timeSinceProgress", "\(still) expires: noProgress"])
        let ended = try app.end(still)
        #expect(ended.outcome == "expired" && ended.reason == "noProgress", "\(ended)")
        #expect(ended.says("expires: noProgress"), "\(ended.lines)")
        #expect(try running(in: app) == ["steady"], "\(steady) reports progress")
        #expect(app.host.stop() == 0)
    }

    @Test(.timeLimit(.minutes(3)))
    func `one that becomes slow is asked about, and ends where the user does not want it to go on`()
        async throws
    {
        let app = try start("ratePeriod: 200ms")
        var events = try await ControlClient(socketPath: app.host.socket.path).events().makeAsyncIterator()
        let slow = try begin("slowing", in: app)
        while let event = try await events.next() {
            guard case .launchAsked(let id, _, let why) = event else { continue }
            #expect(id.description == slow && why.quantity == "progressRate", "\(why)")
            break
        }
        #expect(try running(in: app) == ["slowing"], "no answer means yes")
        app.host.run("answer", slow, "no")
        let ended = try app.end(slow)
        #expect(ended.says("expires: cancelledByUser"), "\(ended.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `under memory pressure the one with the least progress ends first`() throws {
        let app = try start("pressurePeriod: 2s")
        let far = try begin("still-80", in: app)
        let near = try begin("still-20", in: app)
        let middle = try begin("still-50", in: app)
        for id in [far, near, middle] {
            try app.host.wait("\(id) has told its progress") {
                try app.host.launches().contains {
                    $0["launch"] as? String == id
                        && ($0["progress"] as? [String: Any])?["completed"] as? Int ?? 0 > 0
                }
            }
        }
        app.host.run("conditions", "set", "pressure=memory")
        let first = try app.end(near)
        #expect(first.outcome == "expired" && first.says("expires: pressure"), "\(first)")
        let left = try running(in: app)
        #expect(left == ["still-50", "still-80"], "\(app.host.logTail(30))")
        let second = try app.end(middle)
        #expect(second.reason == "pressure", "\(second)")
        app.host.run("conditions", "set", "pressure=none")
        #expect(try running(in: app) == ["still-80"])
        #expect(app.host.stop() == 0)
    }

    @Test func `serious heat leaves continued tasks alone, and critical heat ends them`() throws {
        let app = try start()
        let id = try begin("steady", in: app)
        app.host.run("conditions", "set", "thermal=serious", "lowPower=on", "power=battery:5%", "user=active")
        // A task that begins now shows that the host has applied these conditions, and that none of them
        // makes a user wait.
        _ = try begin("other", in: app)
        #expect(try running(in: app) == ["other", "steady"])
        app.host.run("conditions", "set", "thermal=critical")
        let ended = try app.end(id)
        #expect(ended.reason == "thermal" && ended.says("expires: thermal"), "\(ended)")
        #expect(app.host.stop() == 0)
    }
}
