import Foundation
import TaskHostTestSupport
import Testing

/// The machine's conditions, as a running app reads them and is notified of changes.
@Suite(.system) struct AppConditionTests {
    private func start(_ extra: String = "") throws -> AppHost {
        try AppHost(
            "ConditionsApp",
            tasks: ["watch": "processing", "unmonitored": "processing", "export": "continuedProcessing"],
            extra: extra)
    }

    /// Runs `bgtask` and waits until a launch of the app has logged a text.
    private func app(_ app: AppHost, _ launch: String, says text: String, after arguments: String...) throws {
        let answer = app.host.run(arguments)
        #expect(answer.status == 0, "\(arguments): \(answer)")
        try app.host.wait("after \(arguments) \(launch) says '\(text)'") {
            app.lines(of: launch).contains { $0.hasSuffix(text) || $0.contains(text + " ") }
        }
    }

    @Test func `an app hears of low power, heat, its battery and the user's switch while its task runs`()
        throws
    {
        let app = try start()
        let id = try app.begin("watch")
        try app.host.wait("it watches") { app.lines(of: id).contains { $0.contains("at first: ") } }
        #expect(
            app.lines(of: id).contains {
                $0.contains(
                    "at first: low power false, thermal nominal, level -1.0, full, refresh available, gpu false"
                )
            }, "\(app.lines(of: id))")
        try app.host.wait("it knows the network") {
            app.lines(of: id).contains { $0.hasSuffix("path: cheap, constrained false") }
        }
        let set = ["conditions", "set"]
        try self.app(app, id, says: "told: low power true", after: set[0], set[1], "lowPower=on")
        try self.app(app, id, says: "told: low power false", after: set[0], set[1], "lowPower=off")
        try self.app(app, id, says: "told: thermal fair", after: set[0], set[1], "thermal=fair")
        try self.app(app, id, says: "told: thermal nominal", after: set[0], set[1], "thermal=nominal")
        try self.app(app, id, says: "told: unplugged", after: set[0], set[1], "power=battery:55%")
        try self.app(app, id, says: "told: level 0.55", after: set[0], set[1], "power=battery:55%")
        try self.app(app, id, says: "told: charging", after: set[0], set[1], "power=charging:60%")
        try self.app(app, id, says: "told: level 0.6", after: set[0], set[1], "power=charging:60%")
        try self.app(
            app, id, says: "path: expensive, constrained false", after: set[0], set[1], "network=metered")
        try self.app(
            app, id, says: "path: expensive, constrained true", after: set[0], set[1], "network=constrained")
        try self.app(app, id, says: "path: requiresConnection", after: set[0], set[1], "network=unknown")
        let bundle = app.bundle
        try self.app(app, id, says: "told: refresh denied", after: "settings", "refresh", bundle, "deny")
        try self.app(app, id, says: "told: refresh available", after: "settings", "refresh", bundle, "allow")
        app.host.run("expire", id)
        let ended = try app.end(id)
        #expect(ended.outcome == "succeeded", "nothing of it ended the launch: \(ended)")
        #expect(ended.lines.filter { $0.contains("told: low power") }.count == 2, "\(ended.lines)")
        #expect(ended.lines.filter { $0.contains("told: thermal") }.count == 2, "\(ended.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `the GPU is a supported resource while the host offers one, and asked for where granted`()
        throws
    {
        let app = try start("sandbox: {gpu: true}")
        let id = try app.begin("watch")
        try app.host.wait("it watches") { app.lines(of: id).contains { $0.contains(", gpu false") } }
        let submission = [
            "submit", "org.example.conditions.export", "--title", "Export", "--subtitle", "begins", "--gpu",
        ]
        let refused = app.host.run(submission)
        #expect(refused.status != 0 && refused.errors.contains("this machine offers none"), "\(refused)")
        #expect(refused.errors.contains("notPermitted"), "\(refused)")
        try self.app(app, id, says: "told: gpu true", after: "conditions", "set", "gpu=on")
        #expect(app.host.run(submission).status == 0)
        try app.host.wait("the export runs, and sees the GPU") {
            let launches = try app.host.launches(of: "org.example.conditions.export")
            return try launches.contains {
                let id = try #require($0["launch"] as? String)
                return app.lines(of: id).contains { $0.contains("at first: ") && $0.contains(", gpu true") }
            }
        }
        app.host.run("cancel", "org.example.conditions.export")
        try self.app(app, id, says: "told: gpu false", after: "conditions", "set", "gpu=off")
        #expect(app.host.stop() == 0)
    }

    @Test func `a GPU that the manifest does not grant is refused, and the refusal says what to add`() throws
    {
        let app = try start()
        app.host.run("conditions", "set", "gpu=on")
        let refused = app.host.run(
            "submit", "org.example.conditions.export", "--title", "Export", "--subtitle", "begins", "--gpu")
        #expect(refused.status != 0 && refused.errors.contains("sandbox: {gpu: true}"), "\(refused)")
        #expect(refused.errors.contains("notPermitted"), "\(refused)")
        #expect(app.host.stop() == 0)
    }

    @Test func `a battery that is not monitored is unknown and silent`() throws {
        let app = try start()
        app.host.run("conditions", "set", "power=battery:55%", "lowPower=on", "gpu=on")
        let id = try app.begin("unmonitored")
        try app.host.wait("it watches") { app.lines(of: id).contains { $0.contains("at first: ") } }
        #expect(
            app.lines(of: id).contains {
                $0.contains("at first: low power true, thermal nominal, level -1.0, unknown")
            },
            "what was so before the launch is known at its start: \(app.lines(of: id))")
        app.host.run("conditions", "set", "power=battery:54%")
        try self.app(app, id, says: "told: low power false", after: "conditions", "set", "lowPower=off")
        #expect(!app.lines(of: id).contains { $0.contains("told: level") }, "\(app.lines(of: id))")
        app.host.run("expire", id)
        #expect(try app.end(id).outcome == "succeeded")
        #expect(app.host.stop() == 0)
    }
}
