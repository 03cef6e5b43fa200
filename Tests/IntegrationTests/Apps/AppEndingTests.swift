import Foundation
import TaskHostTestSupport
import Testing

/// Apple's rules of running and ending, with handlers that report where they are called and which time
/// remains.
@Suite(.system) struct AppEndingTests {
    private static let tasks: [String: String] = [
        "on.none": "processing", "on.own": "processing", "on.main": "processing",
        "times.refresh": "appRefresh", "times.work": "processing", "times.export.one": "continuedProcessing",
        "stay.refresh": "appRefresh", "stay.work": "processing", "stay.export.one": "continuedProcessing",
        "cleared": "processing", "remaining": "processing",
        "crowd": "processing, limits: {grace: 2s}",
    ]

    private func start(_ settings: String = "", user: UInt32? = nil) throws -> AppHost {
        try AppHost("EndingApp", tasks: Self.tasks, settings: settings, user: user)
    }

    @Test(arguments: [
        ("none", "a queue in the background"), ("own", "the queue 'own'"), ("main", "the main thread"),
    ])
    func `a handler and its expiration handler are called on the queue that was registered`(
        name: String, place: String
    ) throws {
        let app = try start()
        let launch = try app.expire("on.\(name)", after: "listens")
        #expect(launch.says("handler on \(place)"), "\(launch.lines)")
        #expect(launch.says("expiration on \(place)"), "\(launch.lines)")
        #expect(launch.outcome == "expired", "\(launch)")
        #expect(app.host.stop() == 0)
    }

    @Test func `a refresh has 30 s, processing has minutes, a continued task has no end`() throws {
        let app = try start()
        #expect(try app.launch("times.refresh").says("time: 30 s"))
        #expect(try app.launch("times.work").says("time: 600 s"))
        #expect(try app.launch("times.export.one").says("time: without end"))
        #expect(app.host.stop() == 0)
    }

    @Test func `completing clears the expiration handler, and completing again changes nothing`() throws {
        let app = try start()
        let launch = try app.launch("cleared")
        #expect(launch.says("set: true") && launch.says("cleared: true"), "\(launch.lines)")
        #expect(launch.outcome == "succeeded", "\(launch)")
        #expect(app.host.stop() == 0)
    }

    @Test func `processing begins when the device is idle and ends when the user returns; refresh goes on`()
        throws
    {
        let app = try start()
        app.host.run("conditions", "set", "user=active")
        app.host.run("submit", "org.example.ending.stay.work")
        app.host.run("submit", "org.example.ending.stay.refresh")
        let refresh = try app.newestLaunch(of: "stay.refresh")
        try app.hear("stays", from: refresh)
        #expect(try app.pending() == ["org.example.ending.stay.work"])
        #expect(app.vetoes(of: "stay.work").contains { $0.contains("DeviceActivity") })
        app.host.run("conditions", "set", "user=idle")
        let work = try app.newestLaunch(of: "stay.work")
        try app.hear("stays", from: work)
        app.host.run("conditions", "set", "user=active")
        let ended = try app.end(work)
        #expect(ended.says("expires: userReturned") && ended.reason == "userReturned", "\(ended)")
        #expect(try app.host.launches(of: "org.example.ending.stay.refresh").first?["outcome"] is NSNull)
        #expect(!app.lines(of: refresh).contains { $0.contains("expires:") })
        #expect(app.host.stop() == 0)
    }

    @Test
    func `what is deferrable runs at nice 10, what a user asked for at nice 5, and at 0 in the foreground`()
        throws
    {
        let app = try start()
        app.host.run("submit", "org.example.ending.stay.work")
        let work = try app.newestLaunch(of: "stay.work")
        try app.hear("nice 10", from: work)
        app.request("stay.export.one")
        let export = try app.newestLaunch(of: "stay.export.one")
        try app.hear("nice 5", from: export)
        app.host.run("used", "org.example.ending", "--foreground")
        // The rest needs a host that runs as root; the next test covers other hosts.
        guard geteuid() == 0 else { return }
        for id in [work, export] {
            try app.host.wait("\(id) is at nice 0 again") {
                app.lines(of: id).last { $0.contains("nice ") }?.hasSuffix("nice 0") == true
            }
        }
        app.host.run("used", "org.example.ending", "--background")
        try app.host.wait("it is lower again") {
            app.lines(of: export).last { $0.contains("nice ") }?.hasSuffix("nice 5") == true
        }
        #expect(app.host.stop() == 0)
    }

    @Test(
        .enabled(
            if: HostProcess.ordinaryUserObstacle == nil,
            "\(HostProcess.ordinaryUserObstacle ?? "there is no obstacle")"))
    func `the host of an ordinary user lowers priorities, and what it may not raise goes on as it is`() throws
    {
        let app = try start(user: HostProcess.ordinaryUser)
        app.host.run("submit", "org.example.ending.stay.work")
        let work = try app.newestLaunch(of: "stay.work")
        try app.hear("nice 10", from: work)
        app.request("stay.export.one")
        let export = try app.newestLaunch(of: "stay.export.one")
        try app.hear("nice 5", from: export)
        // Without CAP_SYS_NICE, the kernel refuses to lower the nice value.
        app.host.run("used", "org.example.ending", "--foreground")
        app.host.run("used", "org.example.ending", "--background")
        for (id, nice) in [(work, "nice 10"), (export, "nice 5")] {
            app.host.run("expire", id)
            let ended = try app.end(id)
            #expect(ended.says("expires: simulated") && ended.outcome == "expired", "\(ended)")
            let said = ended.lines.filter { $0.contains("nice ") }
            #expect(said.count == 1 && said[0].hasSuffix(nice), "\(said)")
        }
        #expect(app.host.stop() == 0)
    }

    @Test func `assertions have one allowance for all of them, from completion on`() throws {
        let app = try start()
        let launch = try app.launch("remaining")
        #expect(launch.says("unlimited while it runs: true"), "\(launch.lines)")
        #expect(launch.says("then 30 s: true"), "\(launch.lines)")
        #expect(launch.says("a second assertion adds nothing: true"), "\(launch.lines)")
        #expect(launch.outcome == "succeeded", "\(launch)")
        #expect(app.host.stop() == 0)
    }

    @Test func `all expiration handlers of assertions share the time that is left, and none begins after it`()
        throws
    {
        let app = try start()
        let launch = try app.expire("crowd", after: "listens")
        for name in ["first", "second", "third"] {
            #expect(launch.says("\(name) hears of it on the main thread: true"), "\(launch.lines)")
        }
        #expect(launch.says("too late: true"), "\(launch.lines)")
        #expect(launch.row["code"] as? String == "0x8badf00d", "\(launch)")
        #expect(
            launch.says("Background task still not ended after expiration handlers were called"),
            "\(launch.lines)")
        #expect(launch.says("3 background-task assertions leaked"), "together: \(launch.lines)")
        #expect(app.host.stop() == 0)
    }
}
