import ControlClient
import ControlWire
import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

/// Apple's rules of submitting, with a plugin whose handlers submit requests.
@Suite(.system) struct AppSubmissionTests {
    private static let tasks: [String: String] = {
        var tasks: [String: String] = ["laterFeed": "appRefresh", "export.*": "continuedProcessing"]
        for name in ["fill", "feeds", "replace", "plan", "later", "again", "asynchronous"] {
            tasks[name] = "processing"
        }
        for number in 1...11 { tasks["wait\(number)"] = "processing" }
        for number in 1...3 { tasks["feed\(number)"] = "appRefresh" }
        return tasks
    }()

    private func start(extra: String = "", settings: String = "") throws -> AppHost {
        try AppHost("SubmittingApp", tasks: Self.tasks, extra: extra, settings: settings)
    }

    @Test func `ten processing requests and one refresh may be pending, and one more is refused`() throws {
        let app = try start()
        let feeds = try app.launch("feeds")
        #expect(feeds.says("1 of 3 were taken"), "\(feeds.lines)")
        let fill = try app.launch("fill")
        #expect(fill.says("10 of 11 were taken"), "\(fill.lines)")
        #expect(fill.says("org.example.submitting.wait11: tooManyPendingTaskRequests"), "\(fill.lines)")
        #expect(fill.says("10 of 10 pending processing requests of org.example.submitting are taken"))
        #expect(fill.says("a pending one is replaced: true"), "a replacement takes no place: \(fill.lines)")
        #expect(try app.pending().count == 11, "each kind has places of its own")
        #expect(app.host.stop() == 0)
    }

    @Test func `a manifest may permit more pending requests than the host does`() throws {
        let app = try start(extra: "pending: {appRefresh: 3, processing: 11}")
        #expect(try app.launch("feeds").says("3 of 3 were taken"))
        #expect(try app.launch("fill").says("11 of 11 were taken"))
        #expect(app.host.stop() == 0)
    }

    @Test(.timeLimit(.minutes(3)))
    func `a pending request is replaced by a copy of the newer one, and everybody is told`()
        async throws
    {
        let app = try start()
        let client = ControlClient(socketPath: app.host.socket.path)
        var events = try await client.events().makeAsyncIterator()
        _ = try app.launch("replace")
        var story: [String] = []
        let identifier = try TaskIdentifier("org.example.submitting.wait1")
        while story.count < 3, let event = try await events.next() {
            switch event {
            case .requestAccepted(let request) where request.identifier == identifier:
                story.append("accepted \(request.request)")
            case .requestCancelled(let id, identifier, let reason): story.append("\(reason) \(id)")
            default: break
            }
        }
        #expect(story == ["accepted R3", "replaced R3", "accepted R4"])
        let request = try #require(try app.pendingRequests()["wait1"])
        #expect(request["request"] as? String == "R4", "\(request)")
        #expect(
            request["requiresExternalPower"] as? Bool == true && request["earliestBeginDate"] is String,
            "what is changed after it was submitted changes nothing: \(request)")
        app.host.run("conditions", "set", "power=battery:80%")
        #expect(
            app.vetoes(of: "wait1").contains { $0.contains("ExternalPower") },
            "the newer one is what is explained: \(app.vetoes(of: "wait1"))")
        #expect(app.host.stop() == 0)
    }

    @Test func `nothing begins before its earliest begin date, and its launch consumes the request`() throws {
        let app = try start()
        let plan = try app.launch("plan")
        func time(_ lines: [String], _ word: String) -> Double {
            lines.first { $0.contains(word) }?.split(separator: " ").last.flatMap { Double($0) } ?? .nan
        }
        let floor = time(plan.lines, "not before:")
        for name in ["later", "laterFeed"] {
            let launch = try app.end(app.newestLaunch(of: name))
            let begun = time(launch.lines, "begins:")
            #expect(begun >= floor, "\(name): \(begun), not before \(floor)")
            #expect(launch.says("pending while it runs: 0"), "\(launch.lines)")
        }
        #expect(try app.pending() == [])
        #expect(app.host.stop() == 0)
    }

    @Test func `a continued task begins at once, whatever its earliest begin date is`() throws {
        let app = try start()
        app.request("export.album", "--earliest", "1h")
        #expect(try app.end(app.newestLaunch(of: "export.album")).outcome == "succeeded")
        #expect(app.host.stop() == 0)
    }

    @Test func `a deadline is two days away for a bundle that is used, else seven`() throws {
        let app = try start()
        /// The days from the earliest begin date to the deadline.
        func days() throws -> Double {
            _ = try app.launch("replace")
            let request = try #require(try app.pendingRequests()["wait1"])
            let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            let dates = try ["earliestBeginDate", "deadline"].map {
                try format.parse(#require(request[$0] as? String, "\(request)"))
            }
            return dates[1].timeIntervalSince(dates[0]) / 86_400
        }
        #expect(try days() == 7)
        app.host.run("used", "org.example.submitting")
        #expect(try days() == 2)
        #expect(app.host.stop() == 0)
    }

    @Test func `what wants to run again submits before it completes; failing alone brings nothing back`()
        throws
    {
        let app = try start()
        let again = try app.launch("again")
        #expect(again.outcome == "failed", "\(again)")
        #expect(try app.pending() == ["org.example.submitting.again"])
        let asynchronous = try app.launch("asynchronous")
        #expect(asynchronous.says("submitted") && asynchronous.says("and refused"), "\(asynchronous.lines)")
        #expect(app.host.stop() == 0)
    }

    /// Makes a continued task submit one request of each kind.
    private func ask(_ app: AppHost) throws -> AppHost.Launch {
        app.request("export.ask", "--wait")
        return try app.end(app.newestLaunch(of: "export.ask"))
    }

    @Test func `a background handler may not submit a continued task`() throws {
        let app = try start()
        let ask = try ask(app)
        #expect(ask.says("export.album: notPermitted"), "\(ask.lines)")
        #expect(ask.says("a continued task starts when a user asks for it"), "\(ask.lines)")
        #expect(!ask.says("feed1:") && !ask.says("wait1:"), "the others were taken: \(ask.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `where the user switched refresh off, submissions are unavailable and the status says so`()
        throws
    {
        let app = try start()
        #expect(try ask(app).says("status: available"))
        app.host.run("settings", "refresh", "org.example.submitting", "deny")
        let denied = try ask(app)
        #expect(denied.says("status: denied"), "\(denied.lines)")
        #expect(denied.says("feed1: unavailable") && denied.says("wait1: unavailable"), "\(denied.lines)")
        #expect(denied.says("background refresh is denied"), "\(denied.lines)")
        app.host.run("settings", "refresh", "org.example.submitting", "allow")
        try app.configure("bundles: {org.example.submitting: {refresh: restricted}}")
        try app.host.wait("the restriction is in force") {
            app.host.run("settings").output.contains("restricted")
        }
        #expect(try ask(app).says("status: restricted"))
        #expect(app.host.stop() == 0)
    }

    @Test func `a task whose mode is missing is not permitted, and the mode is named`() throws {
        let app = try start()
        let manifest = app.host.manifests.appendingPathComponent("app.yaml")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        #expect(app.host.stop() == 0)
        try text.replacingOccurrences(of: "modes: [fetch, processing]", with: "modes: [fetch]")
            .write(to: manifest, atomically: true, encoding: .utf8)
        try app.host.start()
        let answer = app.host.run("submit", "org.example.submitting.wait1", "--json")
        #expect(answer.status == 4)
        #expect(answer.output.contains(#""code" : "notPermitted""#), "\(answer)")
        #expect(answer.output.contains("needs the mode 'processing'"), "\(answer)")
        #expect(app.host.run("plugins").output.contains("kind processing needs the mode 'processing'"))
        #expect(app.host.stop() == 0)
    }
}
