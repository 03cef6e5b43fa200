import Foundation
import TaskHostTestSupport
import Testing

/// Apple's rules of registering, completing and expiring, with a plugin that obeys or breaks each rule.
@Suite(.system) struct AppRuleTests {
    static let kinds: [String: String] = {
        let names = [
            "busy", "checkpoint", "deaf", "fail", "finish", "hold", "late", "leak", "limits", "obey",
            "succeed",
            "submitUnregistered",
        ]
        var kinds = Dictionary(uniqueKeysWithValues: names.map { ($0, "processing") })
        kinds["stubborn"] = "processing, limits: {grace: 1s}"
        kinds["first"] = "appRefresh"
        kinds["second"] = "appRefresh"
        kinds["lease"] = "appRefresh, limits: {runtime: 1s}"
        kinds["unregistered"] = "processing"
        kinds["export.*"] = "continuedProcessing"
        return kinds
    }()

    private func start() throws -> AppHost { try AppHost("RulesApp", tasks: Self.kinds) }

    @Test func `completing decides the outcome`() throws {
        let app = try start()
        let succeeded = try app.launch("succeed")
        #expect(succeeded.outcome == "succeeded", "\(succeeded)")
        #expect(succeeded.says("on the main thread: false"), "without a queue it runs in the background")
        let failed = try app.launch("fail")
        #expect(failed.outcome == "failed" && failed.reason == "handlerFailed", "\(failed)")
        #expect(try app.pending() == [], "success: false does not try again")
        #expect(app.host.stop() == 0)
    }

    @Test func `an expiration handler is called once, with a reason and a deadline, and cleared`() throws {
        let app = try start()
        let obeyed = try app.expire("obey", after: "listens")
        #expect(obeyed.outcome == "expired" && obeyed.reason == "simulated", "\(obeyed)")
        #expect(obeyed.says("expires: simulated, handler cleared: true"), "\(obeyed.lines)")
        #expect(obeyed.says("time left: true"))

        let finished = try app.expire("finish", after: "listens")
        #expect(finished.outcome == "succeeded" && finished.reason == "simulated", "\(finished)")

        let deaf = try app.expire("deaf")
        #expect(deaf.outcome == "expired", "without a handler it is ended at once: \(deaf)")
        #expect(try app.pending() == [], "it is complete and unsuccessful, so it is not put back")

        let stubborn = try app.expire("stubborn")
        #expect(stubborn.says("heard it, and go on"))
        #expect(
            stubborn.outcome == "killed" && stubborn.row["code"] as? String == "0x8badf00d", "\(stubborn)")
        #expect(app.host.stop() == 0)
    }

    @Test func `a launch expires when its lease ends, and when the user returns`() throws {
        let app = try start()
        let lease = try app.launch("lease")
        #expect(lease.says("expires: leaseEnded, handler cleared: true"), "\(lease.lines)")
        #expect(lease.outcome == "expired" && lease.reason == "leaseEnded", "\(lease)")
        let id = try app.begin("obey")
        try app.host.wait("it listens") { app.lines(of: id).contains { $0.contains("listens") } }
        app.host.run("conditions", "set", "user=active")
        let obeyed = try app.end(id)
        #expect(obeyed.says("expires: userReturned"), "\(obeyed.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `a pending request is replaced, and one refresh more than the limit is refused`() throws {
        let app = try start()
        let limits = try app.launch("limits")
        #expect(limits.outcome == "succeeded", "\(limits)")
        for line in ["submitted twice", "the limit is reached", "pending: 1", "left: 0"] {
            #expect(limits.says(line), "\(limits.lines)")
        }
        #expect(app.host.stop() == 0)
    }

    @Test func `a queue that its handler holds up does not keep the expiration from being heard`() throws {
        let app = try start()
        let busy = try app.expire("busy")
        #expect(busy.outcome == "expired" && busy.says("heard on another queue"), "\(busy)")
        #expect(app.host.run("plugins").output.contains("was busy when the launch"))
        #expect(app.host.stop() == 0)
    }

    @Test func `an attempt that expired without completing hands its checkpoint to the next one`() throws {
        let app = try start()
        let first = try app.expire("checkpoint", after: "attempt 1, checkpoint none")
        #expect(first.outcome == "expired", "\(first)")
        try app.host.wait("the second attempt has ended") {
            try app.host.launches(of: "org.example.rules.checkpoint").filter { $0["outcome"] is String }.count
                == 2
        }
        let second = try #require(try app.host.launches(of: "org.example.rules.checkpoint").first)
        #expect(second["outcome"] as? String == "succeeded" && second["attempt"] as? Int == 2, "\(second)")
        #expect(
            app.lines(of: try #require(second["launch"] as? String)).contains {
                $0.contains("attempt 2, checkpoint half")
            })
        #expect(app.host.stop() == 0)
    }

    @Test func `registering late, twice, or not at all ends the process with Apple's words and what to do`()
        throws
    {
        let app = try start()
        let late = try app.launch("late")
        #expect(late.says("a continued one may come late"))
        #expect(late.outcome == "crashed", "\(late)")
        #expect(
            late.message.contains(
                "All launch handlers must be registered before application finishes launching"),
            "\(late.message)")
        #expect(late.message.contains("org.example.rules.unregistered came later"), "\(late.message)")

        let unregistered = try app.launch("unregistered")
        #expect(
            unregistered.message.contains(
                "No launch handler registered for task with identifier org.example.rules.unregistered"),
            "\(unregistered.message)")
        let submitted = try app.launch("submitUnregistered")
        #expect(submitted.outcome == "crashed" && submitted.message.contains("No launch handler registered"))

        // A file in the bundle's data directory makes the app register a handler twice in every later
        // process.
        let data = app.host.state.appendingPathComponent("data/org.example.rules")
        try Data().write(to: data.appendingPathComponent("twice"))
        let twice = try app.launch("succeed")
        #expect(
            twice.message.contains(
                "Launch handler for task with identifier org.example.rules.succeed has already been registered"
            ),
            "\(twice.message)")
        #expect(app.host.run("plugins").status == 0, "the host stays up")
        #expect(app.host.stop() == 0)
    }

    @Test func `a permitted identifier without a handler is told when the plugin is installed`() throws {
        let app = try start()
        let plugins = app.host.run("plugins").output
        #expect(
            plugins.contains("no launch handler is registered for org.example.rules.unregistered"),
            "\(plugins)")
        #expect(app.host.stop() == 0)
    }

    @Test func `an assertion that is never ended is a leak, by name, age and stack`() throws {
        let app = try start()
        let leak = try app.launch("leak")
        #expect(leak.says("upload's time is up"), "\(leak.lines)")
        #expect(leak.outcome == "succeeded", "what it completed with stands: \(leak)")
        #expect(leak.says("0x8badf00d") && leak.says("'upload'"), "\(leak.lines)")
        #expect(leak.says("1 background-task assertion leaked"))
        let place = try #require(leak.lines.firstIndex { $0.contains("begun at:") }, "\(leak.lines)")
        let age = try #require(leak.lines[place].firstMatch(of: /'upload', ([0-9.]+) s old, begun at:/))
        // The activity began at the start of the task and nothing ended it until the allowance of 30 s was
        // used up.
        #expect(try #require(Double(age.1)) > 20, "\(leak.lines[place])")
        let stack = leak.lines[(place + 1)...].prefix { $0.contains("    ") }
        #expect(stack.contains { $0.contains("libRulesApp.so") }, "\(leak.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `more than a thousand assertions at once end the process`() throws {
        let app = try start()
        let hold = try app.launch("hold")
        #expect(hold.says("0xbada5e47"), "\(hold.lines.suffix(5)) \(hold.row)")
        #expect(hold.outcome == "crashed" || hold.outcome == "killed", "\(hold)")
        #expect(app.host.stop() == 0)
    }

    @Test func `a continued task reports its children's progress, and is cancelled by the user`() throws {
        let app = try start()
        let answer = app.host.run(
            "submit", "org.example.rules.export.album", "--title", "Album", "--subtitle", "30 photos",
            "--json")
        #expect(answer.status == 0, "\(answer)")
        try app.host.wait("its progress is told") {
            let row = try app.host.launches(of: "org.example.rules.export.album").first
            return ((row?["progress"] as? [String: Any])?["completed"] as? Int ?? 0) > 0
        }
        let row = try #require(try app.host.launches(of: "org.example.rules.export.album").first)
        let progress = try #require(row["progress"] as? [String: Any])
        let done = try #require(progress["completed"] as? Double),
            total = try #require(progress["total"] as? Double)
        #expect(abs(done / total - 0.3) < 0.01, "\(progress)")
        let id = try #require(row["launch"] as? String)
        app.host.run("cancel", id)
        let ended = try app.end(id)
        #expect(ended.says("cancelled: true, reason cancelledByUser"), "\(ended.lines)")
        #expect(ended.outcome == "cancelled" || ended.outcome == "expired", "\(ended)")
        #expect(app.host.stop() == 0)
    }
}
