import ControlClient
import ControlServer
import ControlWire
import Foundation
import TaskHostTestSupport
import Testing

/// Clients that hold connections and do nothing with them, beside a command that a person runs.
@Suite(.system, .timeLimit(.minutes(1))) struct CrowdTests {
    /// A Python program that opens connections and holds them until its standard input ends.
    private final class Holder {
        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()

        /// Opens `count` connections, each of which sends these bytes; returns when all have done so.
        init(_ count: Int, at socket: String, sending bytes: String) throws {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [
                "python3", "-c",
                """
                import socket, sys
                held = []
                for _ in range(int(sys.argv[2])):
                    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
                    try: s.sendall(sys.argv[3].encode().decode("unicode_escape").encode())
                    except BrokenPipeError: pass
                    held.append(s)
                print("ready", flush=True)
                sys.stdin.read()
                """, socket, "\(count)", bytes,
            ]
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            _ = try output.fileHandleForReading.read(upToCount: 1)
        }

        deinit {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
    }

    @Test(arguments: [
        #"GET /v1/events HTTP/1.1\r\nHost: h\r\n\r\n"#,
        #"GET /v1/log?follow=true HTTP/1.1\r\nHost: h\r\n\r\n"#,
        #"GET /v1/ver"#,
        #"POST /v1/requests HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n{"#,
        #"GET /v1/version HTTP/1.1\r\nHost: h\r\n\r\n"#,
        #"GET /v1/version HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"#,
        "",
    ])
    func `600 connections that hold their places do not keep a command from its answer`(
        bytes: String
    ) async throws {
        try await serving { _, socket in
            let holder = try Holder(600, at: socket, sending: bytes)
            let result = await bgtask("cancel", "R17", socket: socket)
            #expect(result.status == 0, "\(result)")
            withExtendedLifetime(holder) {}
        }
    }

    @Test func `a head that comes byte by byte loses its connection, with the reason`() async throws {
        var limits = ControlServer.Limits()
        limits.requestSeconds = 1
        try await serving(limits: limits) { _, socket in
            let program = """
                import socket, sys, select
                s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
                s.sendall(b"GET /v1/version HTTP/1.1\\r\\nX: ")
                out = b""
                while True:
                    ready, _, _ = select.select([s], [], [], 0.05)
                    if ready:
                        try: part = s.recv(65536)
                        except ConnectionResetError: break
                        if not part: break
                        out += part
                    else:
                        try: s.sendall(b"G")
                        except (BrokenPipeError, ConnectionResetError): pass
                sys.stdout.write(out.decode())
                """
            let result = try await run("/usr/bin/env", ["python3", "-c", program, socket])
            #expect(result.output.hasPrefix("HTTP/1.1 408"), "\(result)")
            #expect(result.output.contains(#""code":"requestTimedOut""#), "\(result)")
        }
    }
}

extension CrowdTests {
    @Test func `a follower that finds no place is refused by name, and gets one when another leaves`()
        async throws
    {
        var limits = ControlServer.Limits()
        (limits.connections, limits.followers) = (8, 2)
        try await serving(limits: limits) { host, socket in
            let client = ControlClient(socketPath: socket)
            let first = try await client.events()
            do {
                let second = try await client.log(following: true)
                let refused = await bgtask("logs", "--follow", socket: socket)
                #expect(refused.status == 4, "\(refused)")
                #expect(refused.errors.contains("2 of 2 places for clients that follow"), "\(refused)")
                #expect(refused.errors.contains("process \(getpid()) has 2 of them"), "\(refused)")
                #expect(refused.errors.contains("[tooManyFollowers]"), "\(refused)")
                withExtendedLifetime(second) {}
            }
            // The host notices a moment later that the follower has left.
            var next = try? await client.events()
            while next == nil { next = try? await client.events() }
            withExtendedLifetime((first, next)) {}
        }
    }

    @Test func `a command ends with advice if the host accepts nothing`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/s"
        let listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listening) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listening, $0, size) }
        }
        #expect(bound == 0 && listen(listening, 0) == 0)
        // The first command waits for an answer; for the second, the queue of connections is full.
        async let first = bgtask("cancel", "R17", "--timeout", "1s", socket: path)
        async let second = bgtask("cancel", "R17", "--timeout", "1s", socket: path)
        for result in await [first, second] {
            #expect(result.status == 3, "\(result)")
            #expect(result.errors.contains("the host did not answer within 1 s"), "\(result)")
            #expect(result.errors.contains("It may have accepted the request"), "\(result)")
        }
    }

    @Test(arguments: ["0s", "2h", "soon"])
    func `a time limit that makes no sense is refused with those that do`(text: String) async {
        let result = await bgtask("version", "--timeout", text, socket: "/nonexistent")
        #expect(result.status == 2)
        #expect(
            result.errors.contains("Not a valid time for --timeout: '\(text)'. Use 1s to 1h."), "\(result)")
    }
}
