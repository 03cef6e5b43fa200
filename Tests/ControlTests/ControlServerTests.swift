import ControlClient
import ControlServer
import ControlWire
import Foundation
import LinuxSystem
import Logging
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing

@Suite(.system, .timeLimit(.minutes(2))) struct ControlServerTests {
    @Test func `a submission arrives with everything that the client asked for`() async throws {
        try await serving { host, socket in
            var message = SubmissionMessage(identifier: try TaskIdentifier("org.example.a"))
            message.earliestBeginDate = Timestamp("2027-01-15T08:00:00Z")
            message.requiresExternalPower = true
            message.payload = #"{"a": "\u00e4"}"#
            message.strategy = .fail
            message.idempotencyKey = "k"
            let request = try await ControlClient(socketPath: socket).submit(message)
            #expect(request.request.request == RequestID(rawValue: 17) && request.replaces == nil)
            var wanted = TaskSubmission(identifier: try TaskIdentifier("org.example.a"), origin: .client)
            wanted.earliestBeginDate = WallTime(milliseconds: 1_800_000_000_000)
            wanted.requiresExternalPower = true
            wanted.payload = #"{"a": "\u00e4"}"#
            wanted.strategy = .fail
            wanted.idempotencyKey = "k"
            #expect(host.script.withLock { $0.submissions } == [wanted])
        }
    }

    @Test(arguments: SubmissionError.Code.allCases)
    func `a refusal reaches the client with its code, finding and remedy`(code: SubmissionError.Code)
        async throws
    {
        try await serving { host, socket in
            let refusal = SubmissionError(code: code, subject: "s", finding: "f", remedy: "r")
            host.edit { $0.refusal = refusal }
            await #expect(throws: ControlClientError.refused(ErrorMessage(refusal))) {
                try await ControlClient(socketPath: socket).pending()
            }
        }
    }

    @Test func `what happens after the events were opened reaches the client in order`() async throws {
        try await serving { host, socket in
            let identifier = try TaskIdentifier("org.example.a")
            let request = ScriptedHost.request(TaskSubmission(identifier: identifier, origin: .client))
            let events = try await ControlClient(socketPath: socket).events()
            host.send(.requestAccepted(request))
            host.send(.launchStarted(ScriptedHost.record(request)))
            host.send(.hostStopping)
            host.endEvents()
            var names: [String] = []
            for try await event in events { names.append(event.name) }
            #expect(names == ["requestAccepted", "launchStarted", "hostStopping"])
        }
    }

    @Test func `a client that goes ends its stream in the host at once`() async throws {
        try await serving { host, socket in
            let events = try await ControlClient(socketPath: socket).events()
            let reading = Task { for try await _ in events {} }
            reading.cancel()
            await host.waitUntilAsked("eventsEnded")
        }
    }

    @Test(arguments: [false, true])
    func `the whole log is sent, however many lines the host remembers`(follows: Bool) async throws {
        let host = ScriptedHost()
        let lines = (0..<6000).map {
            LogLine(
                at: ScriptedHost.start, level: .info, source: .host, launch: nil, identifier: nil,
                message: "line \($0)")
        }
        host.edit { $0.log = lines }
        try await serving(host) { _, socket in
            var seen: [String] = []
            for try await line in try await ControlClient(socketPath: socket).log(following: follows) {
                seen.append(line.message)
                if seen.count == lines.count { break }
            }
            #expect(seen == lines.map(\.message))
        }
    }

    @Test func `a stopping server ends the streams of its clients`() async throws {
        let host = ScriptedHost()
        let (lines, sink) = AsyncStream.makeStream(of: String.self)
        try await serving(host) { _, socket in
            let log = try await ControlClient(socketPath: socket).log(following: true)
            Task {
                do {
                    for try await _ in log {}
                    sink.yield("ended")
                } catch {
                    sink.yield("\(error)")
                }
                sink.finish()
            }
        }
        var seen: [String] = []
        for await line in lines { seen.append(line) }
        #expect(seen == ["ended"])
    }

    @Test func `the directory is 0700, the socket 0600, and both names are gone at the end`() async throws {
        let (paths, sink) = AsyncStream.makeStream(of: String.self)
        try await serving { _, socket in
            let directory = (socket as NSString).deletingLastPathComponent
            let modes = [try mode(directory), try mode(socket)]
            #expect(modes == [0o700, 0o600])
            #expect(!FileManager.default.fileExists(atPath: socket + ".new"))
            sink.yield(socket)
            sink.finish()
        }
        for await path in paths { #expect(!FileManager.default.fileExists(atPath: path)) }
    }

    @Test func `a stale socket is replaced, and a second host is refused while the first answers`()
        async throws
    {
        let host = ScriptedHost()
        try await serving(host) { _, socket in
            let second = try ControlServer(
                host: host, socketPath: socket, logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() })
            await #expect {
                try await second.run()
            } throws: {
                "\($0)".contains("another host answers there")
            }
            #expect(try await ControlClient(socketPath: socket).version().version == "9.8.7")
        }
    }

    @Test func `a host that ends late leaves the socket of the next one alone`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/c.sock"
        let (first, second) = (try ControlSocketFile(path: path), try ControlSocketFile(path: path))
        for file in [first, second] {
            #expect(FileManager.default.createFile(atPath: file.boundPath, contents: nil))
            try file.publish()
        }
        first.remove()
        #expect(FileManager.default.fileExists(atPath: path))
        second.remove()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a directory that others may write is refused, and so is a link to one`() async throws {
        let folder = try TemporaryFolder()
        let open = folder.path + "/open"
        try FileManager.default.createDirectory(
            atPath: open, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o777])
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
        #expect {
            try ControlSocketFile(path: open + "/c.sock").prepareDirectory()
        } throws: {
            "\($0)".contains("other users can write to it (mode 777)")
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: open)
        try ControlSocketFile(path: open + "/c.sock").prepareDirectory()
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: open)
        #expect {
            try ControlSocketFile(path: folder.path + "/link/c.sock").prepareDirectory()
        } throws: {
            "\($0)".contains("symbolic link")
        }
        try Data().write(to: URL(fileURLWithPath: open + "/c.sock"))
        #expect {
            try ControlSocketFile(path: open + "/c.sock").isServed()
        } throws: {
            "\($0)".contains("not a socket")
        }
        #expect(throws: SocketFileError.self) {
            try ControlSocketFile(path: "/" + String(repeating: "x", count: 104))
        }
    }

    @Test func `only the host's user and root may control it`() {
        func may(_ user: UInt32) -> Bool {
            PeerCredentials(processIdentifier: 1, user: user, group: 0).mayControl(hostOf: 1000)
        }
        #expect(may(1000) && may(0))
        #expect(!may(1001) && !may(65_534))
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
}
