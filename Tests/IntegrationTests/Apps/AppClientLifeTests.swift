import Foundation
import TaskHostTestSupport
import Testing

/// An app that keeps running when its host dies or restarts, and that uses the GPU.
@Suite(.system) struct AppClientLifeTests {
    private static func host(gpu: Bool = true) throws -> HostProcess {
        let host = try HostProcess()
        let manifest = """
            apiVersion: bgtask/v1
            bundle: org.example.client
            client: true
            modes: [fetch]
            tasks:
              - {identifier: org.example.client.export.*, kind: continuedProcessing}
              - {identifier: org.example.client.refresh, kind: appRefresh}
            \(gpu ? "sandbox: {gpu: true}" : "")

            """
        try manifest.write(
            to: host.manifests.appendingPathComponent("client.yaml"), atomically: true, encoding: .utf8)
        try host.start()
        return host
    }

    /// The app; it takes commands on its standard input.
    private final class App {
        let host: HostProcess
        private let process = Process()
        private let input = Pipe()
        private let file: URL

        init(under host: HostProcess) throws {
            self.host = host
            file = host.directory.appendingPathComponent("client.txt")
            try Data().write(to: file)
            process.executableURL = AppHost.products.appendingPathComponent("ClientApp")
            process.environment = ProcessInfo.processInfo.environment.merging(
                ["BGTASK_SOCKET": host.socket.path]
            ) { $1 }
            process.standardInput = input
            process.standardOutput = try FileHandle(forWritingTo: file)
            try process.run()
            try hear("begun")
        }

        deinit {
            if process.isRunning { process.terminate() }
        }

        func tell(_ words: String) throws {
            try input.fileHandleForWriting.write(contentsOf: Data((words + "\n").utf8))
        }

        func hear(_ text: String) throws {
            do {
                try host.wait("the app says '\(text)'") { output.contains(text) }
            } catch {
                throw HostFailure("\(error)\nThe app said:\n\(output)")
            }
        }

        var output: String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }
    }

    @Test func `a host that dies is told to its client's handlers, and a new one takes the client back`()
        throws
    {
        let host = try Self.host()
        let app = try App(under: host)
        try app.tell("submit endless")
        try app.hear("launched org.example.client.export.endless")
        host.kill()
        try app.hear("expires org.example.client.export.endless: hostGone")
        try app.tell("submit nobody")
        try app.hear("refused nobody: org.example.client.export.nobody: ")
        #expect(app.output.contains("Start a host: bgtaskd"), "\(app.output)")

        try host.start()
        let lost = try #require(try host.launches(of: "org.example.client.export.endless").first)
        #expect(lost["outcome"] as? String == "lost" && lost["reason"] as? String == "hostDied", "\(lost)")
        try app.tell("submit again")
        try app.hear("launched org.example.client.export.again")
        try host.wait("it has ended") {
            try host.launches(of: "org.example.client.export.again").first?["outcome"] as? String
                == "succeeded"
        }
        #expect(host.stop() == 0)
    }

    @Test func `a host that is stopped and started in between is not missed`() throws {
        let host = try Self.host()
        let app = try App(under: host)
        try app.tell("submit one")
        try app.hear("launched org.example.client.export.one")
        #expect(host.stop() == 0)
        try host.start()
        try app.tell("submit two")
        try app.hear("launched org.example.client.export.two")
        #expect(host.stop() == 0)
    }

    @Test
    func `a client sees the GPU that its host offers, before and after it has submitted, and asks for it`()
        throws
    {
        let host = try Self.host()
        let app = try App(under: host)
        // The app has submitted nothing yet, so the host sends it nothing; the app must ask.
        host.run("conditions", "set", "gpu=on", "lowPower=on")
        try app.tell("resources")
        try app.hear("resources: gpu")
        try app.tell("power")
        try app.hear("low power true")
        host.run("conditions", "set", "gpu=off")
        try app.tell("gpu early")
        try app.hear("refused early: org.example.client.export.early: it asks for the GPU, and this machine")
        try app.tell("resources")
        try app.hear("resources: none")
        host.run("conditions", "set", "gpu=on")
        try app.tell("gpu film")
        try app.hear("launched org.example.client.export.film")
        try host.wait("the app knows") {
            try app.tell("resources")
            return app.output.hasSuffix("resources: gpu\n")
        }
        #expect(host.stop() == 0)
    }

    @Test func `a client whose manifest does not grant the GPU is refused it`() throws {
        let host = try Self.host(gpu: false)
        host.run("conditions", "set", "gpu=on")
        let app = try App(under: host)
        try app.tell("gpu film")
        try app.hear("refused film: org.example.client.export.film: it asks for the GPU, and the manifest")
        #expect(app.output.contains("sandbox: {gpu: true}"), "\(app.output)")
        #expect(host.stop() == 0)
    }
}
