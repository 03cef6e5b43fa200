import Foundation
import TaskHostTestSupport
import Testing

/// Apple's rules of `NSBackgroundActivityScheduler`, with a plugin whose activities end in different ways.
@Suite(.system) struct AppActivityTests {
    private func start(_ names: String..., settings: String = "") throws -> AppHost {
        try AppHost(
            "ActivityApp", modes: "processing",
            tasks: Dictionary(uniqueKeysWithValues: names.map { ($0, "activity") }), settings: settings)
    }

    /// The begin and the end of the activity's next window, in seconds after the end of a launch.
    private func window(_ request: [String: Any], after launch: AppHost.Launch) throws -> (Double, Double) {
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let end = try format.parse(#require(launch.row["endedAt"] as? String, "\(launch)"))
        func seconds(_ key: String) throws -> Double {
            try format.parse(#require(request[key] as? String, "\(request)")).timeIntervalSince(end)
        }
        return (try seconds("earliestBeginDate"), try seconds("deadline"))
    }

    @Test func `one that repeats is scheduled again for its interval, give or take its tolerance`() throws {
        let app = try start("hourly", "once")
        #expect(
            try app.pendingRequests().keys.sorted() == ["hourly", "once"], "its launch code scheduled both")
        let once = try app.launch("once")
        #expect(once.outcome == "succeeded", "\(once)")
        #expect(try app.pendingRequests().keys.sorted() == ["hourly"], "without repeats it comes once")
        let hourly = try app.launch("hourly")
        let request = try #require(try app.pendingRequests()["hourly"])
        let (begin, end) = try window(request, after: hourly)
        #expect(abs(begin - 3000) < 30 && abs(end - 4200) < 30, "\(begin) \(end)")
        #expect(app.host.stop() == 0)
    }

    @Test func `one that should defer stops by itself, and goes on when it may`() throws {
        let app = try start("heeds", settings: "scheduling: {deferralTime: 30s}")
        let id = try app.begin("heeds")
        try app.hear("runs", from: id)
        app.host.run("conditions", "set", "lowPower=on")
        let deferred = try app.end(id)
        #expect(deferred.says("defers"), "\(deferred.lines)")
        #expect(deferred.outcome == "succeeded" && deferred.message == "deferred", "\(deferred)")
        #expect(!deferred.lines.contains { $0.contains("expires") }, "it was not told to stop")
        let request = try #require(try app.pendingRequests()["heeds"])
        #expect(request["earliestBeginDate"] is NSNull, "it goes on as soon as it may: \(request)")
        #expect(app.vetoes(of: "heeds").contains { $0.contains("LowPowerMode") })
        app.host.run("conditions", "set", "lowPower=off")
        try app.host.wait("it runs again") {
            try app.host.launches(of: "org.example.activity.heeds").count == 2
        }
        #expect(app.host.stop() == 0)
    }

    @Test func `one that does not heed it is told to stop, and is not scheduled again`() throws {
        let app = try start("deaf", settings: "scheduling: {deferralTime: 500ms}")
        let id = try app.begin("deaf")
        try app.hear("runs", from: id)
        app.host.run("conditions", "set", "lowPower=on")
        let ended = try app.end(id)
        #expect(ended.says("should defer, and goes on"), "the wish comes first: \(ended.lines)")
        #expect(ended.outcome == "expired" && ended.reason == "lowPowerMode", "\(ended)")
        #expect(try app.pending() == [])
        #expect(app.host.stop() == 0)
    }

    @Test func `one that never calls its completion handler is not scheduled again, and its author is told`()
        throws
    {
        let app = try start("forgets")
        let forgets = try app.launch("forgets")
        #expect(forgets.says("says nothing"), "\(forgets.lines)")
        #expect(forgets.outcome == "failed", "\(forgets)")
        #expect(try app.pending() == [])
        #expect(app.host.run("plugins").output.contains("completionNeverCalled"))
        #expect(app.host.stop() == 0)
    }

    @Test func `one that is invalidated while it runs ends as it likes, and is not scheduled again`() throws {
        let app = try start("invalidates")
        let launch = try app.launch("invalidates")
        #expect(launch.says("still runs") && launch.outcome == "succeeded", "\(launch)")
        #expect(try app.pending() == [])
        #expect(app.host.stop() == 0)
    }
}
