import Foundation
import TaskHostTestSupport
import Testing

/// The factors that keep background work from running, with apps that get pushes, are dismissed or lack
/// resources.
@Suite(.system) struct AppFactorTests {
    private func start(_ settings: String = "") throws -> AppHost {
        try AppHost(
            "DelegateApp", modes: "fetch, processing, remote-notification",
            tasks: ["refresh": "appRefresh", "clean": "processing", "push": "push, payload: {word: string}"],
            settings: settings)
    }

    private func push(_ word: String, to app: AppHost) {
        app.host.run("push", "org.example.delegate", "{\"word\": \"\(word)\"}")
    }

    @Test(arguments: [
        ("hello", "succeeded", "newData"), ("nothing", "succeeded", "noData"), ("broken", "failed", ""),
    ])
    func `a push ends with what its app found`(word: String, outcome: String, message: String) throws {
        let app = try start()
        push(word, to: app)
        let launch = try app.end(app.newestLaunch(of: "push"))
        #expect(launch.says("push: \(word), state background: true"), "\(launch.lines)")
        #expect(launch.outcome == outcome && launch.message == message, "\(launch)")
        #expect(app.host.stop() == 0)
    }

    @Test func `pushes come no faster than their rate, and the newest of those that wait is delivered`()
        throws
    {
        let app = try start()
        push("one", to: app)
        _ = try app.end(app.newestLaunch(of: "push"))
        for word in ["two", "three"] { push(word, to: app) }
        #expect(try app.pendingRequests()["push"] != nil)
        #expect(app.vetoes(of: "push").contains { $0.contains("RateLimit") }, "\(app.vetoes(of: "push"))")
        try app.configure("scheduling: {pushSpacing: 0s}")
        try app.host.wait("the second is delivered") {
            try app.host.launches(of: "org.example.delegate.push").count == 2
        }
        let second = try app.end(app.newestLaunch(of: "push"))
        #expect(second.says("push: three"), "\(second.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `a dismissed app neither refreshes nor takes pushes until it is opened, but still processes`()
        throws
    {
        let app = try start()
        app.host.run("settings", "dismiss", "org.example.delegate")
        app.host.run("submit", "org.example.delegate.refresh")
        push("held", to: app)
        for name in ["refresh", "push"] {
            #expect(app.vetoes(of: name).contains { $0.contains("Dismissed") }, "\(app.vetoes(of: name))")
        }
        app.host.run("submit", "org.example.delegate.clean")
        #expect(try app.end(app.newestLaunch(of: "clean")).outcome == "succeeded")
        #expect(try app.host.launches(of: "org.example.delegate.refresh").isEmpty)
        #expect(try app.host.launches(of: "org.example.delegate.push").isEmpty)
        app.host.run("used", "org.example.delegate")
        #expect(try app.end(app.newestLaunch(of: "refresh")).outcome == "succeeded")
        #expect(try app.end(app.newestLaunch(of: "push")).says("push: held"))
        #expect(app.host.stop() == 0)
    }

    @Test func `each of Apple's factors keeps a refresh waiting, and explain names it`() throws {
        let app = try start()
        func keeps(_ policy: String, _ set: String..., clear: String...) {
            app.host.run(set)
            app.host.run("submit", "org.example.delegate.refresh")
            let vetoes = app.vetoes(of: "refresh")
            #expect(vetoes.count == 1 && vetoes.contains { $0.contains(policy) }, "\(policy): \(vetoes)")
            app.host.run("cancel", "org.example.delegate.refresh")
            app.host.run(clear)
        }
        let bundle = "org.example.delegate"
        keeps(
            "BatteryLevel", "conditions", "set", "power=battery:15%",
            clear: "conditions", "set", "power=external")
        keeps("LowPowerMode", "conditions", "set", "lowPower=on", clear: "conditions", "set", "lowPower=off")
        keeps("Dismissed", "settings", "dismiss", bundle, clear: "used", bundle)
        keeps(
            "Budget", "settings", "budget", bundle, "--launches", "0", clear: "settings", "budget", bundle)
        app.host.run("submit", "\(bundle).refresh")
        _ = try app.end(app.newestLaunch(of: "refresh"))
        keeps("RateLimit", "version", clear: "version")
        app.host.run("settings", "refresh", bundle, "deny")
        let denied = app.host.run("submit", "\(bundle).refresh", "--json")
        #expect(denied.output.contains("unavailable"), "\(denied)")
        #expect(app.host.stop() == 0)
    }
}
