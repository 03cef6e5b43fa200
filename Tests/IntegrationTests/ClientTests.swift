import Foundation
import TaskHostTestSupport
import Testing

/// Processes that run their own handlers, like a desktop app: a Python script that uses the control API.
@Suite(.system) struct ClientTests {
    /// Registers for IDENTIFIERS, submits SUBMITTED, treats its launches as MODE says, and prints the host's
    /// messages.
    private static let script = """
        import http.client, json, os, socket, sys, threading, time
        path, identifiers, submitted, mode = sys.argv[1:5]
        class Connection(http.client.HTTPConnection):
            def connect(self):
                self.sock = socket.socket(socket.AF_UNIX)
                self.sock.connect(path)
        def ask(method, route, body=None):
            c = Connection("bgtask")
            c.request(method, "/v1" + route, None if body is None else json.dumps(body))
            answer = c.getresponse()
            print("answer", route, answer.status, answer.read().decode(), flush=True)
        def launched(call):
            launch = "/launches/" + call["launch"]
            if mode == "work":
                for i in range(1, 4):
                    ask("POST", launch + "/progress", {"completed": i, "total": 3, "message": "step"})
                ask("POST", launch + "/checkpoint", {"checkpoint": "c2F2ZWQ="})
                ask("POST", launch + "/title", {"title": "Nearly", "subtitle": "there"})
                ask("POST", launch + "/complete", {"success": True, "message": "done in the client"})
                ask("POST", launch + "/complete", {"success": True})
            elif mode == "die":
                os._exit(3)
            elif mode == "leave":
                stream.close()
        connection = Connection("bgtask")
        connection.request("POST", "/v1/clients?identifiers=" + identifiers)
        stream = connection.getresponse()
        print("registered", stream.status, flush=True)
        if stream.status != 200:
            print(stream.read().decode(), flush=True); sys.exit(1)
        for line in stream:
            if not line.startswith(b"data: "): continue
            call = json.loads(line[6:])
            print("told", json.dumps(call), flush=True)
            if call["event"] == "registered" and submitted != "none":
                ask("POST", "/requests", {"identifier": submitted, "title": "Export", "payload": "{}"})
            if call["event"] == "launch": launched(call)
            if call["event"] == "expire" and mode == "obey":
                ask("POST", "/launches/" + call["launch"] + "/complete", {"success": False, "message": "stopped"})
            if mode == "leave" and call["event"] == "launch":
                time.sleep(60)
        """

    private static let manifest = """
        apiVersion: bgtask/v1
        bundle: com.example.studio
        client: true
        tasks:
          - identifier: com.example.studio.export.*
            kind: continuedProcessing
            limits: {grace: 500ms}
        """

    /// A client process, with its output so far.
    private final class Client {
        let process = Process()
        private let file: URL

        init(_ host: HostProcess, submit: String, _ mode: String, identifiers: String) throws {
            let script = host.directory.appendingPathComponent("client.py")
            try ClientTests.script.write(to: script, atomically: true, encoding: .utf8)
            file = host.directory.appendingPathComponent("client-\(UUID().uuidString).txt")
            try Data().write(to: file)
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["python3", script.path, host.socket.path, identifiers, submit, mode]
            process.standardOutput = try FileHandle(forWritingTo: file)
            try process.run()
        }

        var output: String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }

        func end() {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
        }

        deinit { end() }
    }

    private static let export = "com.example.studio.export.one"

    private static func start(_ host: HostProcess) throws {
        try manifest.write(
            to: host.manifests.appendingPathComponent("studio.yaml"), atomically: true, encoding: .utf8)
        try host.start()
    }

    private static func client(
        _ host: HostProcess, _ mode: String, submit: String = export,
        identifiers: String = "com.example.studio.export.*"
    ) throws -> Client {
        try Client(host, submit: submit, mode, identifiers: identifiers)
    }

    /// The end of the newest launch: its outcome, reason and message.
    private static func end(_ host: HostProcess) throws -> [String] {
        try host.wait("it has ended") { try host.launches().first?["state"] as? String == "ended" }
        let row = try #require(try host.launches().first)
        return ["outcome", "reason", "message"].map { row[$0] as? String ?? "" }
    }

    @Test func `a request that a client submitted runs in it, with progress, record and end`() throws {
        let host = try HostProcess()
        try Self.start(host)
        let client = try Self.client(host, "work")
        #expect(try Self.end(host) == ["succeeded", "", "done in the client"], "\(client.output)")
        let row = try #require(try host.launches().first)
        #expect(row["isolation"] as? String == "inProcess")
        #expect((row["progress"] as? [String: Any])?["completed"] as? Int == 3)
        try host.wait("the second completion is refused") { client.output.contains("/complete 404") }
        #expect(client.output.contains(#""event": "registered""#) && client.output.contains("conditions"))
        #expect(client.output.contains(#""title": "Export""#), "\(client.output)")
        client.end()
        #expect(host.stop() == 0)
    }

    @Test func `what a client submits runs in no other one, and without a client it is refused`() throws {
        let host = try HostProcess()
        try Self.start(host)
        let refused = host.run("submit", Self.export)
        #expect(refused.status == 4 && refused.errors.contains("runs only in client programs"), "\(refused)")
        let idle = try Self.client(host, "none", submit: "none")
        try host.wait("it is registered") { idle.output.contains("registered") }
        #expect(host.run("submit", Self.export).status == 4)
        let busy = try Self.client(host, "work")
        #expect(try Self.end(host).first == "succeeded", "\(busy.output)")
        #expect(!idle.output.contains("launch"))
        let stranger = try Self.client(host, "none", submit: "none", identifiers: "com.example.other")
        try host.wait("it is refused") { stranger.output.contains("notPermitted") }
        busy.end()
        idle.end()
        #expect(host.stop() == 0)
    }

    @Test func `a cancelled launch is told to its client, which says how it ended`() throws {
        let host = try HostProcess()
        try Self.start(host)
        let client = try Self.client(host, "obey")
        try host.wait("it runs") { try host.launches().first?["state"] as? String == "running" }
        #expect(host.run("cancel", Self.export).status == 0)
        #expect(try Self.end(host) == ["cancelled", "cancelledByUser", "stopped"])
        #expect(client.output.contains(#""reason": "cancelledByUser""#), "\(client.output)")
        client.end()
        #expect(host.stop() == 0)
    }

    @Test func `a client that does not stop is not killed: its launch is over, and the record says why`()
        throws
    {
        let host = try HostProcess()
        try Self.start(host)
        let client = try Self.client(host, "ignore")
        try host.wait("it runs") { try host.launches().first?["state"] as? String == "running" }
        #expect(host.run("expire", Self.export).status == 0)
        let end = try Self.end(host)
        #expect(Array(end.prefix(2)) == ["expired", "simulated"])
        #expect(end[2].contains("the host does not kill clients"), "\(end)")
        #expect(client.process.isRunning)
        #expect(!host.run("pending").output.contains(Self.export))
        client.end()
        #expect(host.stop() == 0)
    }

    @Test(arguments: [("die", "crashed", "ended"), ("leave", "failed", "closed its connection")])
    func `a client that goes takes its launch with it`(mode: String, outcome: String, finding: String) throws
    {
        let host = try HostProcess()
        try Self.start(host)
        let client = try Self.client(host, mode)
        let end = try Self.end(host)
        #expect(Array(end.prefix(2)) == [outcome, "exitedWithoutCompleting"], "\(end) \(client.output)")
        #expect(end[2].contains(finding), "\(end)")
        client.end()
        #expect(host.stop() == 0)
    }

    @Test func `what waits for a client that is gone is cancelled, or runs in the plugin that permits it`()
        throws
    {
        let host = try HostProcess()
        try EndToEndTests.install(in: host)
        try Self.start(host)
        host.run("conditions", "set", "thermal=critical")
        let alone = try Self.client(host, "work")
        let beside = try Self.client(
            host, "work", submit: "com.example.counting.count", identifiers: "com.example.counting.count")
        try host.wait("both are pending") {
            let pending = host.run("pending").output
            return pending.contains(Self.export) && pending.contains("com.example.counting.count")
        }
        alone.end()
        beside.end()
        try host.wait("one is cancelled") { !host.run("pending").output.contains(Self.export) }
        host.run("conditions", "clear")
        #expect(try Self.end(host).first == "succeeded")
        let row = try #require(try host.launches().first)
        #expect(row["identifier"] as? String == "com.example.counting.count")
        #expect(row["isolation"] as? String != "inProcess")
        #expect(host.stop() == 0)
    }

    @Test func `a host that stops ends its clients' streams and does not wait for their launches`() throws {
        let host = try HostProcess()
        try Self.start(host)
        let client = try Self.client(host, "ignore")
        try host.wait("it runs") { try host.launches().first?["state"] as? String == "running" }
        #expect(host.stop() == 0)
        // The client reads until its event stream ends, and does nothing else.
        try host.wait("its stream has ended") { !client.process.isRunning }
        #expect(client.process.terminationStatus == 0, "\(client.output)")
        try host.start()
        #expect(try Self.end(host)[1] == "hostShutdown")
        #expect(host.stop() == 0)
    }
}
