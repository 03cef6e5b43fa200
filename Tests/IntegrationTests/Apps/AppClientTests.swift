import Foundation
import TaskHostTestSupport
import Testing

/// An ordinary process with the module BackgroundTasks: it submits, lists, cancels, and runs its registered
/// tasks.
@Suite(.system) struct AppClientTests {
    private static let manifest = """
        apiVersion: bgtask/v1
        bundle: org.example.desktop
        client: true
        modes: [fetch]
        tasks:
          - {identifier: org.example.desktop.export.*, kind: continuedProcessing}
          - {identifier: org.example.desktop.pair.*, kind: continuedProcessing}
          - {identifier: org.example.desktop.refresh, kind: appRefresh}

        """

    /// Starts the app; its output goes to a file.
    private func start(_ name: String, under host: HostProcess) throws -> (
        process: Process, output: () -> String
    ) {
        let file = host.directory.appendingPathComponent("desktop-\(name).txt")
        try Data().write(to: file)
        let app = Process()
        app.executableURL = AppHost.products.appendingPathComponent("DesktopApp")
        app.arguments = [name]
        app.environment = ProcessInfo.processInfo.environment.merging(["BGTASK_SOCKET": host.socket.path]) {
            $1
        }
        app.standardOutput = try FileHandle(forWritingTo: file)
        try app.run()
        return (app, { (try? String(contentsOf: file, encoding: .utf8)) ?? "" })
    }

    @Test func `a continued task runs in the app, with progress and title, and is recorded by the host`()
        throws
    {
        let host = try HostProcess()
        try Self.manifest.write(
            to: host.manifests.appendingPathComponent("desktop.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        // In low-power mode the refresh stays pending until the app cancels it.
        host.run("conditions", "set", "lowPower=on")
        let app = try start("album", under: host)
        app.process.waitUntilExit()
        #expect(app.process.terminationStatus == 0, "\(app.output())")
        #expect(app.output().contains(#"pending ["org.example.desktop.refresh"]"#), "\(app.output())")
        #expect(app.output().contains("left 0"), "\(app.output())")
        #expect(app.output().contains("launched org.example.desktop.export.album: Export, attempt 1"))
        try host.wait("its launch has ended") {
            try host.launches(of: "org.example.desktop.export.album").first?["outcome"] is String
        }
        let row = try #require(try host.launches(of: "org.example.desktop.export.album").first)
        #expect(
            row["outcome"] as? String == "succeeded" && row["isolation"] as? String == "inProcess", "\(row)")
        #expect((row["progress"] as? [String: Any])?["completed"] as? Int == 4, "\(row)")
        #expect(host.stop() == 0)
    }

    @Test func `the user cancels a task that runs in an app, and the app hears why`() throws {
        let host = try HostProcess()
        try Self.manifest.write(
            to: host.manifests.appendingPathComponent("desktop.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        let app = try start("endless", under: host)
        defer { if app.process.isRunning { app.process.terminate() } }
        try host.wait("it runs") {
            let row = try host.launches(of: "org.example.desktop.export.endless").first
            return (row?["progress"] as? [String: Any])?["completed"] as? Int == 1
        }
        host.run("cancel", "org.example.desktop.export.endless")
        app.process.waitUntilExit()
        #expect(app.output().contains("expires: cancelledByUser"), "\(app.output())")
        try host.wait("its launch has ended") {
            try host.launches(of: "org.example.desktop.export.endless").first?["outcome"] as? String
                == "cancelled"
        }
        #expect(host.stop() == 0)
    }

    @Test func `without a queue, the launches of one registration come one after the other`() throws {
        let host = try HostProcess()
        try Self.manifest.write(
            to: host.manifests.appendingPathComponent("desktop.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        let app = try start("pair", under: host)
        defer { if app.process.isRunning { kill(app.process.processIdentifier, SIGKILL) } }
        try host.wait("both have ended") {
            try host.launches().filter { $0["outcome"] as? String == "succeeded" }.count == 2
        }
        for name in ["one", "two"] {
            #expect(app.output().contains("org.example.desktop.pair.\(name) alone: true"), "\(app.output())")
        }
        #expect(host.stop() == 0)
    }

    @Test func `one that must begin at once is refused where it can't`() throws {
        let host = try HostProcess()
        host.environment["BGTASK_SCHEDULING_CONTINUED_SLOTS"] = "1"
        try Self.manifest.write(
            to: host.manifests.appendingPathComponent("desktop.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        let first = try start("endless", under: host)
        defer { if first.process.isRunning { kill(first.process.processIdentifier, SIGKILL) } }
        try host.wait("the first runs") { first.output().contains("launched") }
        let second = try start("impatient", under: host)
        second.process.waitUntilExit()
        #expect(second.output().contains("it can't start at once"), "\(second.output())")
        #expect(host.stop() == 0)
    }

    @Test func `without a host a submission says what to do`() throws {
        let host = try HostProcess()
        let app = try start("album", under: host)
        app.process.waitUntilExit()
        #expect(app.process.terminationStatus == 1)
        #expect(app.output().contains("Start a host: bgtaskd"), "\(app.output())")
    }
}
