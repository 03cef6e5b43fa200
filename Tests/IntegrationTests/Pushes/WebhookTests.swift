import Foundation
import TaskHostTestSupport
import Testing

@testable import Pushes

/// Pushes from the network to a real host.
@Suite(.system) struct WebhookTests {
    @Test func `a signed push launches the task, once, however often it is sent`() throws {
        let pushes = try PushHost()
        try pushes.share()
        let request = pushes.sender.request(id: "msg_1", headers: ["apns-priority: 10"])
        let first = try #require(try pushes.sender.send(request))
        #expect(first.status == 202, "\(first)")
        #expect(first.body["isRepeat"] as? Bool == false)
        try pushes.host.wait("the push was handled") { try !pushes.pushes().isEmpty }
        #expect(try pushes.pushes().first?["message"] as? String == "newData")

        let second = try #require(try pushes.sender.send(request))
        #expect(second.status == 202)
        #expect(second.body["isRepeat"] as? Bool == true)
        #expect(second.body["request"] as? String == first.body["request"] as? String)

        // Killed, the host still knows the id.
        pushes.host.kill()
        try pushes.start()
        let third = try #require(try pushes.sender.send(request))
        #expect(third.body["isRepeat"] as? Bool == true, "\(third)")
        #expect(try pushes.host.launches(of: "com.example.mail.push").count == 1)
        #expect(pushes.host.stop() == 0)
    }

    @Test func `an accepted push survives the death of the host`() throws {
        let pushes = try PushHost()
        try pushes.share()
        pushes.host.run("settings", "dismiss", PushHost.bundle)
        let answer = try #require(try pushes.sender.send(pushes.sender.request()))
        pushes.host.kill()
        #expect(answer.status == 202, "\(answer)")
        try pushes.start()
        let rows = try #require(try pushes.host.json("pending") as? [[String: Any]])
        #expect(
            rows.map { ($0["request"] as? [String: Any])?["request"] as? String } == [
                answer.body["request"] as? String
            ])
    }

    @Test func `a bundle without a secret gets nothing, and a removed secret is not accepted`() throws {
        let pushes = try PushHost()
        func status() throws -> Int? { try pushes.sender.send(pushes.sender.request())?.status }
        #expect(try status() == 401)
        try pushes.share()
        #expect(try status() == 202)
        #expect(pushes.host.run("push-secret", PushHost.bundle).status == 4, "it has one already")
        let old = pushes.sender.secret
        let rotated = pushes.host.run("push-secret", PushHost.bundle, "--rotate")
        #expect(try status() == 202, "the secret before is still accepted")
        pushes.sender.secret = PushSecret(rotated.output.trimmingCharacters(in: .newlines))
        #expect(try status() == 202)
        #expect(pushes.host.run("push-secret", PushHost.bundle, "--settle").output.isEmpty)
        #expect(try status() == 202)
        pushes.sender.secret = old
        #expect(try status() == 401)
        #expect(pushes.host.run("push-secret", PushHost.bundle, "--remove").status == 0)
        #expect(try status() == 401)
        #expect(pushes.host.run("push-secret", "com.example.none").status == 4)
    }

    @Test func `a secret is in its file, which nobody else can read, and nowhere else`() throws {
        let pushes = try PushHost()
        try pushes.share()
        let secret = try #require(pushes.sender.secret).text
        _ = try pushes.sender.send(pushes.sender.request())
        let path = pushes.host.state.appendingPathComponent("push-secrets/com.example.mail").path
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        pushes.host.kill()
        let found = Command.run("grep", "-rlF", secret, pushes.host.directory.path)
        #expect(found.output.split(separator: "\n").map(String.init) == [path])
    }

    @Test func `every kind of refusal has its status and its code`() throws {
        let pushes = try PushHost(["BGTASK_PUSHES_PER_MINUTE": "2"])
        try pushes.share()
        let sender = pushes.sender
        func expect(_ status: Int, _ code: String, _ request: [UInt8], _ comment: Comment? = nil) throws {
            let answer = try #require(try sender.send(request), comment)
            #expect(answer.status == status && answer.code == code, "\(answer)")
            #expect((answer.body["remedy"] as? String)?.isEmpty == false)
        }
        try expect(400, "notSilent", sender.request("{}"))
        try expect(400, "notSilent", sender.request(#"{"aps": {"alert": "hello"}}"#))
        try expect(400, "malformedBody", sender.request("[1]"))
        try expect(401, "outsideWindow", sender.request(at: 1_735_689_600))
        try expect(
            401, "notSigned", sender.request().dropLast() + [0x20],
            "the body was changed on the way")
        try expect(401, "notSigned", sender.request(to: "com.example.other"))
        try expect(404, "noSuchRoute", sender.request(to: ""))
        try expect(404, "noSuchRoute", sender.request(to: "com.example.mail?x=1"))
        try expect(413, "bodyTooLarge", sender.request(String(repeating: " ", count: 5000)))
        for method in ["GET", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE"] {
            #expect(try sender.send(sender.request(method: method))?.status == 405, "\(method)")
        }
        for header in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
            try expect(400, "malformedHeader", sender.request(without: header))
            try expect(400, "malformedHeader", sender.request(headers: ["\(header): 1"]), "given twice")
        }
        try expect(400, "malformedHeader", sender.request(headers: ["apns-priority: 7"]))
        try expect(
            400, "malformedHeader", sender.request(headers: ["apns-priority: 5", "apns-priority: 10"]))
        try expect(400, "malformedRequest", Array("hello\r\n\r\n".utf8))
        try expect(400, "malformedRequest", Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
        try expect(400, "malformedRequest", sender.request(headers: ["Content-Length: 1"]), "two lengths")
        for _ in 1...2 { #expect(try sender.send(sender.request())?.status == 202) }
        let many = try #require(try sender.send(sender.request()))
        #expect(many.status == 429 && many.code == "tooManyPushes", "\(many)")
        #expect(many.head.lowercased().contains("retry-after: "))
    }

    @Test func `pushes come over TLS, and plain text gets nothing from that port`() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (certificate, key) = (directory.path + "/cert.pem", directory.path + "/key.pem")
        let made = Command.run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=push.test", "-addext",
            "subjectAltName=DNS:push.test")
        try #require(made.status == 0, "\(made)")
        let pushes = try PushHost(["BGTASK_PUSHES_CERTIFICATE": certificate, "BGTASK_PUSHES_KEY": key])
        try pushes.share()
        let request = pushes.sender.request()
        #expect(try pushes.sender.send(request)?.status == nil)
        let program = """
            import socket, ssl, sys
            context = ssl.create_default_context(cafile=sys.argv[1])
            connection = context.wrap_socket(socket.create_connection((sys.argv[2], int(sys.argv[3]))), server_hostname="push.test")
            connection.sendall(sys.argv[4].encode())
            print(connection.version(), connection.recv(65536).split(b"\\r\\n")[0].decode())
            """
        let answer = Command.run(
            "python3", "-c", program, certificate, pushes.sender.host, "\(pushes.sender.port)",
            String(decoding: request, as: UTF8.self))
        #expect(answer.output.contains("TLSv1.3 HTTP/1.1 202"), "\(answer)")
        // Changed files that can't be used, and a certificate that has expired, are no silent faults.
        try "garbage".write(toFile: certificate, atomically: true, encoding: .utf8)
        _ = try pushes.sender.send(request)
        try pushes.host.wait("the log says that the files can't be used") {
            pushes.host.logTail(50).contains("the changed certificate or key for pushes can't be used")
        }
        let wish = directory.path + "/wish.pem"
        for words in [
            ["req", "-new", "-key", key, "-out", wish, "-subj", "/CN=push.test"],
            ["x509", "-req", "-in", wish, "-signkey", key, "-days", "-1", "-out", certificate],
        ] {
            let made = Command.run(["openssl"] + words)
            try #require(made.status == 0, "\(made)")
        }
        _ = try pushes.sender.send(request)
        try pushes.host.wait("the log says that the certificate has expired") {
            pushes.host.logTail(50).contains("the certificate for pushes has expired")
        }
    }

    @Test func `a recorded push that is sent again uses up no rate`() throws {
        let pushes = try PushHost(["BGTASK_PUSHES_PER_MINUTE": "3"])
        try pushes.share()
        let recorded = pushes.sender.request()
        let first = try #require(try pushes.sender.send(recorded))
        #expect(first.status == 202)
        for _ in 1...6 {
            let repeated = try #require(try pushes.sender.send(recorded))
            #expect(repeated.status == 202 && repeated.body["isRepeat"] as? Bool == true, "\(repeated)")
            #expect(repeated.body["request"] as? String == first.body["request"] as? String)
        }
        for _ in 1...2 { #expect(try pushes.sender.send(pushes.sender.request())?.status == 202) }
        #expect(try pushes.sender.send(pushes.sender.request())?.status == 429)
        // What is known is recognized also where no push is left.
        #expect(try pushes.sender.send(recorded)?.status == 202)
    }

    @Test func `a push fills the words of a command`() throws {
        let pushes = try PushHost()
        try pushes.share()
        let manifest = """
            apiVersion: bgtask/v1
            bundle: com.example.mail
            modes: [remote-notification]
            tasks:
              - identifier: com.example.mail.push
                kind: push
                payload: {branch: string}
                command:
                  run: [/bin/echo, "deploying ${payload.branch}"]
            """
        try manifest.write(
            to: pushes.host.manifests.appendingPathComponent("mail.yaml"), atomically: true, encoding: .utf8)
        #expect(pushes.host.run("reload").status == 0)
        let body = #"{"aps": {"content-available": 1}, "branch": "main"}"#
        let answer = try #require(
            try pushes.sender.send(pushes.sender.request(body, headers: ["apns-priority: 10"])))
        #expect(answer.status == 202, "\(answer)")
        try pushes.host.wait("the command ran") {
            pushes.host.run("logs", "com.example.mail.push").output.contains("deploying main")
        }
    }

    @Test func `a sender that waits before its body is told to continue`() throws {
        let pushes = try PushHost()
        try pushes.share()
        func head(_ request: [UInt8]) -> (head: [UInt8], body: [UInt8]) {
            let size = PushSender.silent.utf8.count
            return (Array(request.dropLast(size)), Array(request.suffix(size)))
        }
        let request = head(pushes.sender.request(headers: ["Expect: 100-continue"]))
        let connection = try pushes.sender.connect()
        defer { close(connection) }
        PushSender.write(request.head, to: connection)
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = recv(connection, &buffer, buffer.count, 0)
        #expect(
            String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "HTTP/1.1 100 Continue\r\n\r\n")
        PushSender.write(request.body, to: connection)
        #expect(PushSender.answer(from: connection)?.status == 202)
        // Who is refused by the head alone need not send the body.
        let refused = head(pushes.sender.request(to: "", headers: ["Expect: 100-continue"])).head
        #expect(try pushes.sender.send(refused)?.status == 404)
    }

    @Test func `a secret that can't be used is logged once for many requests`() throws {
        let pushes = try PushHost()
        try pushes.share()
        let file = pushes.host.state.appendingPathComponent("push-secrets/com.example.mail").path
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        for _ in 1...10 { #expect(try pushes.sender.send(pushes.sender.request())?.status == 401) }
        let lines = pushes.host.logTail(1000).split(separator: "\n").filter {
            $0.contains("the secret of com.example.mail can't be used")
        }
        #expect(lines.count == 1, "\(lines)")
    }

    @Test func `an address that is taken does not keep the host from its work`() throws {
        let first = try PushHost()
        let second = try HostProcess()
        second.environment["BGTASK_PUSHES_LISTEN"] = first.sender.address
        try second.start()
        try second.wait("the log says it") { second.logTail(50).contains("can't listen for pushes") }
        #expect(second.run("plugins").status == 0)
        let log = second.run("logs", "--level", "error").output
        #expect(log.contains("can't listen for pushes at \(first.sender.address)"), "\(log)")
        #expect(log.contains("Address already in use") && !log.contains("bind("), "\(log)")
        let doctor = second.run("doctor").output
        #expect(
            doctor.contains("configuration: pushes.listen: error: ")
                && doctor.contains("Address already in use"), "\(doctor)")
        #expect(!first.host.run("doctor").output.contains("pushes.listen"))
        #expect(second.stop() == 0)
    }
}
