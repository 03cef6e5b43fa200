import Foundation
import TaskHostTestSupport
import Testing

/// Common habits of handlers that work on iOS, and must work here too.
@Suite(.system) struct AppHabitTests {
    private func start(_ tasks: String..., more: [String: String] = [:], extra: String = "") throws -> AppHost
    {
        try AppHost(
            "HabitsApp",
            tasks: Dictionary(uniqueKeysWithValues: tasks.map { ($0, "processing") }).merging(more) { $1 },
            extra: extra)
    }

    @Test func `what a handler submits after it has completed arrives, from wherever it submits`() throws {
        let names = ["next", "hops", "timer", "queue"]
        let app = try AppHost(
            "HabitsApp",
            tasks: Dictionary(
                uniqueKeysWithValues: names.flatMap { [$0, $0 + "Next"] }.map { ($0, "processing") }))
        for round in 1...4 {
            for name in names {
                let launch = try app.launch(name)
                #expect(launch.outcome == "succeeded", "\(launch)")
                #expect(try app.pending() == ["org.example.habits.\(name)Next"], "\(name), round \(round)")
                app.host.run("cancel", "org.example.habits.\(name)Next")
            }
        }
        #expect(app.host.stop() == 0)
    }

    @Test func `user defaults are kept for the next launch, in the bundle's own directory`() throws {
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("home-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        let app = try AppHost(
            "HabitsApp", tasks: ["defaults": "processing"],
            environment: ["HOME": home.path, "CFFIXED_USER_HOME": home.path, "XDG_CONFIG_HOME": home.path])
        #expect(try app.launch("defaults").says("before: none, shared: none"))
        let second = try app.launch("defaults")
        #expect(second.says("before: kept, shared: too"), "\(second.lines)")
        let left = try FileManager.default.subpathsOfDirectory(atPath: home.path)
        #expect(left == [], "the host's user gets nothing of it")
        #expect(app.host.stop() == 0)
    }

    @Test func `the temporary directory is the launch's own, whoever asks`() throws {
        let app = try start("folders")
        let temporary = app.host.state.appendingPathComponent("tmp/org.example.habits").path
        for _ in 0..<2 {
            let launch = try app.launch("folders")
            let folder = "\(temporary)/\(launch.row["launch"] as? String ?? "none")"
            #expect(launch.says("temporary: \(folder)/, written: true"), "\(launch.lines)")
            #expect(launch.says("environment: \(folder)"), "\(launch.lines)")
            #expect(launch.says("manager: \(folder)"), "\(launch.lines)")
            #expect(launch.says("home: \(app.host.state.path)/data/"), "\(launch.lines)")
            // The host removes the directory on another thread, after it has published the launch's end.
            try app.host.wait("its directory is gone") { !FileManager.default.fileExists(atPath: folder) }
        }
        #expect(app.host.stop() == 0)
    }

    @Test func `an expiring task without an expiration handler has completed, and is not put back`() throws {
        let app = try start("deaf")
        let launch = try app.expire("deaf", after: "deaf")
        #expect(launch.outcome == "expired", "\(launch)")
        #expect(try app.host.launches(of: "org.example.habits.deaf").count == 1)
        #expect(try app.pending() == [])
        #expect(app.host.stop() == 0)
    }

    @Test func `a refusal is a sentence wherever it is printed, and development shows private values`() throws
    {
        let sentence = "org.example.habits.unknown: "
        for isDevelopment in [false, true] {
            let app = try AppHost(
                "HabitsApp", tasks: ["errors": "processing"],
                environment: isDevelopment ? ["BGTASK_LOG_PRIVATE": "1"] : [:])
            let launch = try app.launch("errors")
            let printed = launch.lines.first { $0.contains("printed: ") } ?? ""
            #expect(
                printed.contains("printed: \(sentence)") && printed.contains("[notPermitted]"), "\(printed)")
            let logged = launch.lines.first { $0.contains("logged: ") } ?? ""
            #expect(
                logged.contains("logged: \(isDevelopment ? sentence : "<private>")"), "\(launch.lines)")
            #expect(app.host.stop() == 0)
        }
    }

    @Test(arguments: ["burnTask": "burnInTask", "burnQueue": "burnOnQueue"])
    func `the report of a CPU limit has the function of a Swift handler that burns`(
        _ name: String, _ function: String
    ) throws {
        let app = try start(more: [name: "processing, limits: {cpu: {percent: 20, window: 2s}}"])
        let launch = try app.launch(name)
        #expect(launch.reason == "cpuLimit", "\(launch)")
        let report = launch.row["report"] as? String ?? ""
        #expect(report.contains("most frequent stack, ") && report.contains(function), "\(report)")
        #expect(app.host.stop() == 0)
    }

    @Test func `the report of a launch that was killed at its deadline has the main thread's stack`() throws {
        let app = try start(more: ["stuck": "processing, limits: {grace: 2s}"])
        let launch = try app.expire("stuck", after: "stuck")
        #expect(launch.row["code"] as? String == "0x8badf00d", "\(launch)")
        let report = launch.row["report"] as? String ?? ""
        #expect(report.contains("main thread") && report.contains("stuckOnMain"), "\(report)")
        #expect(app.host.stop() == 0)
    }
}
