import ControlClient
import ControlServer
import ControlWire
import Foundation
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing

/// Foreign clients: `curl` for HTTP, and a small Python program for raw bytes.
@Suite(.system, .timeLimit(.minutes(2))) struct RawConnectionTests {
    /// Sends bytes, closes its sending side if `close` is true, and returns the answer.
    private func talk(_ socket: String, _ bytes: String, close: Bool) async throws -> String {
        let program = """
            import socket, sys
            s = socket.socket(socket.AF_UNIX); s.settimeout(60); s.connect(sys.argv[1])
            s.sendall(sys.stdin.buffer.read())
            if sys.argv[2] == "close": s.shutdown(socket.SHUT_WR)
            out = b""
            try:
                while True:
                    part = s.recv(65536)
                    if not part: break
                    out += part
            except ConnectionResetError: pass
            sys.stdout.write(out.decode("latin-1"))
            """
        let result = try await run(
            "/usr/bin/env", ["python3", "-c", program, socket, close ? "close" : "open"], input: bytes)
        #expect(result.status == 0, "\(result.errors)")
        return result.output
    }

    @Test func `a follower that reads nothing does not keep a server that stops`() async throws {
        let follower = Process()
        // The program ends when its input closes. A signal could stay blocked, because the program inherits
        // the signals that the task's thread blocks.
        let input = Pipe()
        defer { try? input.fileHandleForWriting.close() }
        follower.standardInput = input
        try await serving { host, socket in
            follower.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            follower.arguments = [
                "python3", "-c",
                """
                import socket, sys
                s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
                s.sendall(b"GET /v1/events HTTP/1.1\\r\\nHost: t\\r\\n\\r\\n")
                sys.stdin.read()
                """, socket,
            ]
            try follower.run()
            while !host.isFollowed { await Task.yield() }
            // The events below are more than the buffers of the socket and the server hold.
            let identifier = try TaskIdentifier("org.example.a")
            var submission = TaskSubmission(identifier: identifier, origin: .client)
            submission.title = String(repeating: "x", count: 4000)
            let request = ScriptedHost.request(submission)
            for _ in 0..<1000 { host.send(.requestAccepted(request)) }
        }
    }

    @Test func `a body over the cap is refused by name and the host goes on`() async throws {
        try await serving { host, socket in
            let body =
                "{\"identifier\": \"a\", \"payload\": \"" + String(repeating: "x", count: 600_000) + "\"}"
            let result = try await run(
                "/usr/bin/env",
                [
                    "curl", "-sS", "--unix-socket", socket, "-H", "Expect:", "--data-binary", "@-",
                    "http://h/v1/requests",
                ],
                input: body)
            #expect(result.object["code"] as? String == "bodyTooLarge", "\(result)")
            #expect(host.asked.isEmpty)
            #expect(try await ControlClient(socketPath: socket).version().product == "bgtask")
        }
    }

    @Test(arguments: [
        "\u{1}\u{2}\u{3}\r\n\r\n", "GET\r\n\r\n", "POST /v1/requests HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        "GET /v1/version HTTP/9.9\r\n\r\n",
    ])
    func `garbage ends its connection and nothing else`(bytes: String) async throws {
        try await serving { host, socket in
            let answer = try await talk(socket, bytes, close: true)
            #expect(
                answer.isEmpty || answer.hasPrefix("HTTP/1.1 400") || answer.contains("noSuchRoute"),
                "\(answer)")
            #expect(try await ControlClient(socketPath: socket).version().product == "bgtask")
        }
    }

    @Test func `a client that closes its sending side after the request gets its answer`() async throws {
        try await serving { _, socket in
            let answer = try await talk(socket, "GET /v1/version HTTP/1.1\r\nHost: h\r\n\r\n", close: true)
            #expect(answer.hasPrefix("HTTP/1.1 200") && answer.contains(#""version":"9.8.7""#), "\(answer)")
        }
    }

    @Test func `a body that stops in the middle is no submission`() async throws {
        try await serving { host, socket in
            let head = "POST /v1/requests HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n"
            let answer = try await talk(socket, head + "{\"identifier\": \"org.example.a\"}", close: true)
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
            #expect(host.script.withLock { $0.submissions }.isEmpty)
        }
    }

    @Test func `a body that never comes loses its connection`() async throws {
        var limits = ControlServer.Limits()
        limits.requestSeconds = 1
        try await serving(limits: limits) { host, socket in
            let head = "POST /v1/requests HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n{"
            _ = try await talk(socket, head, close: false)
            #expect(host.script.withLock { $0.submissions }.isEmpty)
        }
    }

    @Test(arguments: [
        ("{}", "identifier"), ("[1", "not"), (#"{"identifier": "a b"}"#, "identifier"),
        (#"{"identifier": "a", "strategy": "maybe"}"#, "strategy"),
    ])
    func `a body that is no message is refused with the place`(body: String, place: String) async throws {
        try await serving { host, socket in
            let result = try await run(
                "/usr/bin/env", ["curl", "-sS", "--unix-socket", socket, "-d", body, "http://h/v1/requests"])
            #expect(result.object["code"] as? String == "malformedBody", "\(result)")
            #expect((result.object["finding"] as? String ?? "").contains(place), "\(result)")
            #expect(host.asked.isEmpty)
        }
    }

    @Test(arguments: [
        (
            "POST", "/v1/requests", #"{"identifier": "org.example.a", "earliest": "x"}"#,
            "Not a valid key: 'earliest'", "Did you mean 'earliestBeginDate'? Valid keys: identifier, "
        ),
        (
            "POST", "/v1/requests", #"{"identifiers": "org.example.a"}"#, "Not a valid key: 'identifiers'",
            "Did you mean 'identifier'? Valid keys: identifier, earliestBeginDate, requiresExternalPower, "
                + "requiresNetworkConnectivity, network, payload, title, subtitle, strategy, requiresGPU, idempotencyKey"
        ),
        (
            "POST", "/v1/launches", #"{"identifier": "org.example.a", "wait": true}"#,
            "Not a valid key: 'wait'", "Valid keys: identifier, debug"
        ),
        (
            "POST", "/v1/cancel", #"{"target": "R17", "reason": "x"}"#, "Not a valid key: 'reason'",
            "Valid keys: target"
        ),
        (
            "PATCH", "/v1/bundles/org.example", #"{"budget": {"launchez": 3}}"#,
            "Not a valid key: 'budget.launchez'", "Did you mean 'launches'? Valid keys: launches, cpuSeconds"
        ),
        (
            "PATCH", "/v1/conditions", #"{"settings": [], "settingz": []}"#, "Not a valid key: 'settingz'",
            "Did you mean 'settings'? Valid keys: settings"
        ),
        (
            "GET", "/v1/launches?identifiers=org.example.a", "", "Not a valid query parameter: 'identifiers'",
            "Did you mean 'identifier'? Valid query parameters: identifier, bundle, "
        ),
        (
            "GET", "/v1/bundles?limit=3", "", "Not a valid query parameter: 'limit'",
            "This route has no query parameters"
        ),
        (
            "DELETE", "/v1/conditions?key=power", "", "Not a valid query parameter: 'key'",
            "This route has no query parameters"
        ),
        (
            "POST", "/v1/bundles/org.example/open", #"{"wait": true}"#, "this route takes no body",
            "Send the request without one"
        ),
        (
            "POST", "/v1/clients?identifiers=org.example.a", #"{"identifiers": []}"#,
            "this route takes no body", "Give the identifiers in the query"
        ),
        (
            "GET", "/v1/launches?limit=1&limit=2", "", "the query parameter 'limit' is given more than once",
            "Give it once"
        ),
        (
            "POST", "/v1/cancel", #"{"target": "R17", "t\u0061rget": "R18"}"#,
            "the key 'target' is given more than once", "Give it once"
        ),
        (
            "PATCH", "/v1/bundles/org.example", #"{"budget": {"launches": 3, "launches": 4}}"#,
            "the key 'launches' is given more than once", "Give it once"
        ),
        (
            "GET", "/v1/log?follow=maybe", "", "it is not a valid value of 'follow'", "Give true or false"
        ),
    ])
    func `a key or parameter that no route has is refused with the nearest one, and nothing happens`(
        method: String, path: String, body: String, finding: String, remedy: String
    ) async throws {
        try await serving { host, socket in
            let data = body.isEmpty ? [] : ["-d", body]
            let result = try await run(
                "/usr/bin/env",
                ["curl", "-sS", "-w", "\n%{http_code}", "--unix-socket", socket, "-X", method] + data
                    + ["http://h" + path])
            let lines = result.output.split(separator: "\n")
            #expect(lines.last == "400", "\(result)")
            let answer = try ControlJSON.decode(ErrorMessage.self, from: String(lines[0]))
            #expect(answer.submissionCode == .invalidRequest)
            #expect(answer.finding == finding)
            #expect(answer.remedy.hasPrefix(remedy), "\(answer)")
            #expect(host.asked.isEmpty)
        }
    }

    @Test(arguments: [
        ("GET", "/v1/nothing", "noSuchRoute"), ("PUT", "/v1/requests", "noSuchRoute"),
        ("GET", "/", "noSuchRoute"),
        ("GET", "/v1/launches?limit=0", "invalidRequest"), ("GET", "/v1/launches/X1", "invalidRequest"),
        ("GET", "/v1/launches?identifier=%20", "invalidRequest"), ("GET", "/v1/launches/L9", "notFound"),
    ])
    func `a route that is not there and a value that fits nothing are refused by name`(
        method: String, path: String, code: String
    ) async throws {
        try await serving { _, socket in
            let result = try await run(
                "/usr/bin/env", ["curl", "-sS", "--unix-socket", socket, "-X", method, "http://h" + path])
            #expect(result.object["code"] as? String == code, "\(result)")
            #expect(Set(result.object.keys) == ["code", "subject", "finding", "remedy"])
        }
    }

    private static var isRoot: Bool {
        NSUserName() == "root" && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")
    }

    @Test(.enabled(if: isRoot, "needs root and setpriv to become another user"))
    func `another user is told who it is and that it may not`() async throws {
        try await serving { host, socket in
            // Without these changes, the modes of the files would already refuse the other user. The test is
            // only about the check of the user's credentials.
            let directory = (socket as NSString).deletingLastPathComponent
            for folder in [directory, (directory as NSString).deletingLastPathComponent] {
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: socket)
            let result = try await run(
                "/usr/bin/setpriv",
                [
                    "--reuid", "65534", "--regid", "65534", "--clear-groups", "curl", "-sS", "-w",
                    "%{http_code}",
                    "--unix-socket", socket, "http://h/v1/version",
                ])
            #expect(result.output.hasSuffix("403"), "\(result)")
            #expect(
                result.output.contains("peerNotAllowed") && result.output.contains("of user 65534"),
                "\(result)")
            #expect(host.asked.isEmpty)
        }
    }
}
