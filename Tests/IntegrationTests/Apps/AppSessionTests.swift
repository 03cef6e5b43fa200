import Foundation
import TaskHostTestSupport
import Testing

/// Background sessions of `URLSession`, in the corpus app, under a real host and with a real server.
@Suite(.system) struct AppSessionTests {
    private let app: AppHost
    private let server: TransferServer

    init() throws {
        server = try TransferServer()
        app = try AppHost(
            "CorpusApp", modes: "fetch, processing, remote-notification, health-research",
            tasks: [
                "refresh": "appRefresh", "clean": "processing", "study": "processing", "tidy": "activity",
                "export.*": "continuedProcessing", "push": "push", "editions": "transferEvents",
            ])
    }

    /// Sends a push, which makes the app begin a transfer; returns the launch of the push.
    private func push(_ what: String, _ path: String, waits: Bool = false) throws -> String {
        let payload = #"{"\#(what)": "\#(server.address)/\#(path)", "waits": \#(waits)}"#
        let before = try app.host.launches(of: "\(app.bundle).push").count
        // One of priority 5 would wait for 15 min after another one.
        let answer = app.host.run("push", app.bundle, payload, "--priority", "10")
        #expect(answer.status == 0, "\(answer)")
        try app.host.wait("the push is launched") {
            try app.host.launches(of: "\(app.bundle).push").count > before
        }
        return try app.newestLaunch(of: "push")
    }

    /// The only launch for the events of the session, when it has ended.
    private func events() throws -> AppHost.Launch {
        let launch = try app.end(app.newestLaunch(of: "editions"))
        #expect(launch.outcome == "succeeded", "\(launch) \(app.host.logTail(30))")
        #expect(launch.says("events of org.example.corpus.editions"), "\(launch.lines)")
        #expect(launch.says("all events of org.example.corpus.editions"), "\(launch.lines)")
        #expect(try app.host.launches(of: "\(app.bundle).editions").count == 1)
        return launch
    }

    private func saved(_ name: String) throws -> String {
        try app.host.hash("state/data/\(app.bundle)/Documents/\(name)")
    }

    /// Kills all processes of the bundle, as the kernel does when memory runs out.
    private func killTasks() {
        for process in app.host.leftovers() where process.contains("/apps/\(app.bundle)/") {
            if let number = Int32(process.prefix { $0 != " " }) { kill(number, SIGKILL) }
        }
    }

    /// What is left in the directory through which host and app exchange files.
    private var handedOver: [String] {
        let path = app.host.state.path + "/data/\(app.bundle)/.transfers"
        return (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }

    @Test func `a download ends in the process that began it, and its delegate gets the file`() throws {
        let launch = try app.end(push("edition", "file/live?size=700000&tags=x", waits: true))
        #expect(launch.outcome == "succeeded", "\(launch) \(app.host.logTail(30))")
        #expect(launch.says("written 700000 of 700000"), "\(launch.lines)")
        #expect(launch.says("saved live") && launch.says("edition completed, status 200"), "\(launch.lines)")
        #expect(
            launch.says("metrics: http/1.1 from 127.0.0.1, received 700000, redirects 0, in order true"),
            "\(launch.lines)")
        #expect(try saved("live") == server.hash("livex", size: 700_000))
        #expect(handedOver.isEmpty)
        #expect(app.host.stop() == 0)
    }

    @Test func `a download outlives the task that waits for it, and the app is launched once for its end`()
        throws
    {
        let first = try push("edition", "file/outlived?size=900000&tags=x&hold=yes", waits: true)
        try app.host.wait("the server was asked") { try !server.seen("outlived").isEmpty }
        killTasks()
        _ = try app.end(first)
        try server.release("outlived")
        let launch = try events()
        #expect(launch.says("saved outlived") && launch.says("edition completed, status 200"))
        #expect(launch.says("bytes of edition: received 900000 of 900000, sent 0 of 0"), "\(launch.lines)")
        #expect(try saved("outlived") == server.hash("outlivedx", size: 900_000))
        #expect(handedOver.isEmpty)
        #expect(app.host.stop() == 0)
    }

    @Test func `a host that is killed before the launch for the events makes it when it starts again`() throws
    {
        _ = try app.end(push("edition", "file/twice?size=2000000&tags=x&hold=yes"))
        try app.host.wait("the server was asked") { try !server.seen("twice").isEmpty }
        try server.release("twice")
        try app.host.wait("the download has ended") { try app.host.transfer("T1")["outcome"] is String }
        // The launch for that may have begun; then it is lost, and its request is put back.
        app.host.kill()
        try app.host.start()
        func outcomes() throws -> [String] {
            try app.host.launches(of: "\(app.bundle).editions").compactMap { $0["outcome"] as? String }
        }
        try app.host.wait("the app has its events") { try outcomes().contains("succeeded") }
        #expect(try saved("twice") == server.hash("twicex", size: 2_000_000))
        #expect(try outcomes().filter { $0 == "succeeded" }.count == 1)
        app.host.kill()
        try app.host.start()
        #expect(try outcomes().filter { $0 == "succeeded" }.count == 1 && handedOver.isEmpty)
        #expect(app.host.stop() == 0)
    }

    @Test func `a later process finds the tasks of its session again, while they go on`() throws {
        _ = try app.end(push("edition", "file/found?size=3000000&tags=x&gate=1500000"))
        try app.host.wait("the first bytes have come") {
            try app.host.transfer("T1")["completed"] as? Int ?? 0 >= 1_500_000
        }
        let bytes = try #require(app.host.transfer("T1")["completed"] as? Int)
        let id = try app.begin("editions")
        try app.hear(#"tasks: ["edition"]"#, from: id)
        try app.hear("bytes of edition: received \(bytes) of 3000000, sent 0 of 0", from: id)
        try server.release("found")
        let launch = try app.end(id)
        #expect(launch.outcome == "succeeded" && launch.says("saved found"), "\(launch)")
        #expect(launch.says("all events of org.example.corpus.editions"), "\(launch.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `an upload is sent whole and once, though its file is gone with the task`() throws {
        _ = try app.end(push("report", "put/report?hold=yes"))
        try server.release("report")
        let launch = try events()
        #expect(launch.says("report completed, status 201"), "\(launch.lines)")
        #expect(launch.says("answer to report: thanks, 6 of 6"), "\(launch.lines)")
        #expect(launch.says("bytes of report: received 6 of 6, sent 300000 of 300000"), "\(launch.lines)")
        let seen = try server.seen("report")
        let headers = try #require(seen.first?["headers"] as? [String: Any])
        #expect(seen.count == 1 && seen[0]["length"] as? Int == 300_000)
        #expect(seen[0]["method"] as? String == "POST" && headers["X-Kind"] as? String == "report")
        #expect(handedOver.isEmpty)
        #expect(app.host.stop() == 0)
    }

    @Test func `a download that the host has continued has the response of a whole file`() throws {
        let path = "file/broken?size=3000000&tags=x&drop=1500000"
        let launch = try app.end(push("edition", path, waits: true))
        #expect(try server.seen("broken").last?["range"] is String)
        #expect(launch.says("edition completed, status 200"), "\(launch.lines)")
        #expect(launch.says("saved broken, response of 3000000"), "\(launch.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `the reason for which a server refuses an upload reaches the app`() throws {
        _ = try app.end(push("report", "put/refused?status=422&hold=yes"))
        try server.release("refused")
        let events = try events()
        #expect(events.says("report completed, status 422"), "\(events.lines)")
        #expect(events.says("answer to report: thanks, 6 of 6"), "\(events.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test(arguments: [201, 422])
    func `a long answer to an upload reaches the app once`(status: Int) throws {
        _ = try app.end(push("report", "put/long?answer=500000&status=\(status)&hold=yes"))
        try server.release("long")
        let events = try events()
        #expect(events.says("report completed, status \(status)"), "\(events.lines)")
        #expect(events.says("answer to report: thanks, 500000 of 500000"), "\(events.lines)")
        #expect(try server.seen("long").count == 1 && handedOver.isEmpty)
        #expect(app.host.stop() == 0)
    }

    @Test func `an answer to an upload that is too long is not passed on in part`() throws {
        let launch = try app.end(push("report", "put/long?answer=2000000&hold=yes", waits: false))
        try server.release("long")
        #expect(launch.outcome == "succeeded")
        let events = try events()
        #expect(events.says("report completed, status 201"), "\(events.lines)")
        #expect(!events.says("answer to report"), "\(events.lines)")
        let log = app.host.run("logs").output
        #expect(
            log.contains("answer to T1 of org.example.corpus is not kept: it is longer than 1 MiB"), "\(log)")
        #expect(handedOver.isEmpty)
        #expect(app.host.stop() == 0)
    }

    @Test func `what the server refuses is a response`() throws {
        let missing = try app.end(push("edition", "status/gone?code=404", waits: true))
        #expect(missing.says("server error") && missing.says("edition completed, status 404"))
        #expect(app.host.stop() == 0)
    }

    @Test func `a transfer that can't be made ends with an error that says why`() throws {
        let payload = #"{"edition": "ftp://a/b", "waits": true}"#
        #expect(app.host.run("push", app.bundle, payload).status == 0)
        let launch = try app.end(app.newestLaunch(of: "push"))
        #expect(launch.says("the address is not one of http or https"), "\(launch.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `a download that was paused is resumed by a later process with the resume data`() throws {
        // The server keeps the rest back, so the download cannot end before it is paused.
        let path = "file/paused?size=3000000&tags=x&gate=1500000"
        let paused = try app.end(push("pausing", path))
        #expect(paused.says("paused, with resume data"), "\(paused.lines) \(app.host.logTail(30))")
        #expect(paused.says("edition failed, can resume: "), "\(paused.lines)")
        #expect(try app.host.transfer("T1")["outcome"] as? String == "cancelled")
        try server.release("paused")
        let resumed = try app.end(push("resuming", path))
        #expect(resumed.says("resumed edition completed, status 200"), "\(resumed.lines)")
        #expect(resumed.says("saved paused") && !resumed.says("edition failed"), "\(resumed.lines)")
        #expect(try saved("paused") == server.hash("pausedx", size: 3_000_000))
        let seen = try server.seen("paused")
        let range = try #require(seen.last?["range"] as? String)
        let offset = range.drop { !$0.isNumber }.dropLast()
        #expect(resumed.says("resumed at \(offset) of 3000000") && offset.count == 7, "\(resumed.lines)")
        #expect(seen.count == 2 && seen[1]["ifRange"] as? String == "\"x\"")
        #expect(app.host.stop() == 0)
    }

    @Test func `a delegate replaces the request of a task when its earliest begin date has come`() throws {
        let launch = try app.end(push("later", "file/late?size=2000&tags=x"))
        #expect(launch.says("delayed request of later edition"), "\(launch.lines) \(app.host.logTail(30))")
        #expect(launch.says("later edition completed, status 200"), "\(launch.lines)")
        let row = try app.host.transfer("T1")
        let (submitted, ended) = (row["submittedAt"] as? String ?? "", row["endedAt"] as? String ?? "")
        let times = [submitted, ended].compactMap { text in
            try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        }
        #expect(times.count == 2 && times[1].timeIntervalSince(times[0]) > 0.5, "\(row)")
        let headers = try #require(server.seen("late").first?["headers"] as? [String: Any])
        #expect(headers["X-Late"] as? String == "yes")
        #expect(app.host.stop() == 0)
    }

    // If a new Foundation names the members that the SDK finds by reflection differently, this fails.
    @Test func `data tasks and completion handlers are refused with a sentence, and nothing is asked`() throws
    {
        let data = try app.end(push("data", "file/none?size=1000"))
        #expect(
            data.says("data failed, can resume: false: Data tasks are not made in background sessions"),
            "\(data.lines)")
        let handler = try app.end(push("handler", "file/none?size=1000"))
        #expect(
            handler.says("handler: no file, Completion handler blocks are not supported in background"),
            "\(handler.lines)")
        #expect(try server.seen("none").isEmpty)
        #expect((try app.host.json("transfers") as? [Any])?.isEmpty == true)
        #expect(app.host.stop() == 0)
    }

    // A session waits longer after each fault, so both take seven minutes.
    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["BGTASK_KILLS"] == "1", "takes 7 min: BGTASK_KILLS=1"),
        arguments: ["download", "upload"])
    func `kills of the program, the task and the host leave no wrong byte, and one launch`(
        direction: String
    ) throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Transfers/kill-session.py").path
        let app = AppHost.products.appendingPathComponent("libCorpusApp.so").path
        let answer = Command.run(
            "python3", script, Products.directory.path, app, direction, "8000000")
        #expect(answer.status == 0, "\(answer.output)")
    }

    @Test func `a dismissed app is not launched, and its transfers are cancelled`() throws {
        _ = try app.end(push("edition", "file/left?size=1000&tags=x&hold=yes"))
        try app.host.wait("the server was asked") { try !server.seen("left").isEmpty }
        #expect(app.host.run("settings", "dismiss", app.bundle).status == 0)
        try app.host.wait("the download is cancelled") {
            try app.host.transfer("T1")["outcome"] as? String == "cancelled"
        }
        #expect(try app.host.launches(of: "\(app.bundle).editions").isEmpty)
        #expect(app.host.stop() == 0)
    }
}
