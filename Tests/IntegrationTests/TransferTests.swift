import Foundation
import TaskHostTestSupport
import Testing

/// Transfers through the whole host, with a real server that has faults.
@Suite(.system) struct TransferTests {
    private let host: HostProcess
    private let server: TransferServer

    init() throws {
        host = try HostProcess()
        server = try TransferServer()
    }

    private func path(_ name: String) -> String { host.directory.appendingPathComponent(name).path }

    @discardableResult
    private func fetch(
        _ kind: String, _ name: String, _ query: String, to file: String = "out", _ more: String...
    ) -> HostProcess.Answer {
        host.run(
            [
                "transfer", "\(server.address)/\(kind)/\(name)?\(query)", "--to", path(file), "--wait",
                "--retry-delay", "10ms",
            ] + more)
    }

    @Test func `a download appears complete under its name, and leaves nothing else`() throws {
        try host.start()
        let answer = fetch("file", "plain", "size=3000000&tags=x")
        #expect(answer.status == 0, "\(answer)")
        #expect(answer.output.contains("T1 succeeded"))
        #expect(try host.hash("out") == server.hash("plainx", size: 3_000_000))
        try host.wait("the transfer's directory is gone") {
            try FileManager.default.contentsOfDirectory(atPath: host.state.path + "/transfers").isEmpty
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: host.directory.path).filter {
                $0.hasPrefix(".bgtask")
            }.isEmpty)
        let row = try #require((host.json("settings") as? [[String: Any]])?.first)
        let bytes = try #require(row["transferredToday"] as? [String: Any])
        #expect(bytes["received"] as? Int == 3_000_000)
        #expect(host.stop() == 0)
        #expect(host.leftovers().isEmpty)
    }

    @Test func `many addresses are one call, and each file appears in its place`() throws {
        try host.start()
        let names = (0..<40).map { "n\($0)" }
        var lines = names.map { "\(server.address)/file/\($0)?size=1000&tags=x \($0)" }
        lines.insert("# a comment", at: 3)
        lines.append("\(server.address)/status/gone?code=404 gone")
        try lines.joined(separator: "\n").write(toFile: path("list"), atomically: true, encoding: .utf8)
        let answer = host.run(
            ["transfer", "--input", path("list"), "--to", host.directory.path, "--wait"])
        #expect(answer.status == 1, "\(answer)")
        #expect(answer.output.contains("T1 to T41 download 41 files"))
        #expect(answer.output.contains("T41 refused: the server answered with status 404"))
        #expect(answer.output.contains("40 of 41 downloads succeeded"))
        for name in names { #expect(try host.hash(name) == server.hash("\(name)x", size: 1000)) }
        #expect(!FileManager.default.fileExists(atPath: path("gone")))
        let spellings = ["http://a/x \(host.directory.path)/x", "http://b/x \(host.directory.path)/./x"]
        try spellings.joined(separator: "\n").write(toFile: path("list"), atomically: true, encoding: .utf8)
        let same = host.run(["transfer", "--input", path("list")])
        #expect(same.status != 0 && same.errors.contains("Two addresses have the file"), "\(same)")
        #expect(host.run(["transfer", "http://a/x", "ftp://a/y", "--to", host.directory.path]).status != 0)
        #expect((try host.json("transfers") as? [Any])?.count == 41)
    }

    @Test func `a second open download to one file is refused, however its path is written`() throws {
        try host.start()
        let manager = FileManager.default
        try manager.createDirectory(atPath: path("d"), withIntermediateDirectories: true)
        try manager.createSymbolicLink(atPath: path("dl"), withDestinationPath: path("d"))
        let address = "\(server.address)/file/x?size=10&hold=yes"
        #expect(host.run("transfer", address, "--to", path("d/x")).status == 0)
        for other in ["d/x", "dl/x", "d/../d//x", "./d/x"] {
            let answer = host.run("transfer", address, "--to", path(other))
            #expect(answer.status != 0 && answer.errors.contains("T1 downloads to this file"), "\(answer)")
        }
        try server.release("x")
        try host.wait("the first has ended") { try host.transfer("T1")["outcome"] is String }
        #expect(fetch("file", "y", "size=10", to: "dl/x").status == 0)
        #expect(try host.hash("d/x") == server.hash("y", size: 10))
    }

    /// A fault of a server that a download survives: the query, the name of the content, and the ranges that
    /// are requested.
    struct Fault: CustomTestStringConvertible {
        let query: String
        var content = "fx"
        var ranges: [String?]? = nil
        var testDescription: String { query }
    }

    @Test(arguments: [
        Fault(
            query: "size=5000000&tags=x&drop=2000000,1500000",
            ranges: [nil, "bytes=2000000-", "bytes=3500000-"]),
        // Less than a step between two records, which is 1 MiB.
        Fault(
            query: "size=5000000&tags=x&drop=300000,400000",
            ranges: [nil, "bytes=300000-", "bytes=700000-"]),
        Fault(query: "size=5000000&tags=x&drop=2000000&parts=yes", ranges: [nil, "bytes=2000000-", nil]),
        Fault(query: "size=5000000&tags=x,y&drop=2000000", content: "fy", ranges: [nil, "bytes=2000000-"]),
        Fault(query: "size=5000000&tags=x&drop=2000000&ranges=no", ranges: [nil, "bytes=2000000-"]),
        Fault(
            query: "size=5000000&tags=x&drop=2000000&wrong=yes", ranges: [nil, "bytes=2000000-", nil]),
        Fault(query: "size=5000000&tags=-&drop=2000000", content: "f", ranges: [nil, nil]),
        // A server that ignores If-Range: its part is of another version, or of one that it does not name.
        Fault(
            query: "size=5000000&tags=x&drop=2000000&bare=yes", ranges: [nil, "bytes=2000000-", nil]),
        Fault(
            query: "size=5000000&tags=-&dates=1,1&drop=2000000", content: "f",
            ranges: [nil, "bytes=2000000-"]),
        Fault(
            query: "size=5000000&tags=-&dates=1,2&drop=2000000&blind=yes", content: "f",
            ranges: [nil, "bytes=2000000-", nil]),
        Fault(query: "size=5000000&tags=x&busy=503,500,429", ranges: [nil, nil, nil, nil]),
        Fault(query: "size=5000000&tags=x&gzip=yes", ranges: [nil]),
        Fault(query: "size=5000000&tags=x&chunked=chunked", ranges: [nil]),
        Fault(query: "size=0&tags=x", ranges: [nil]),
    ])
    func `a download survives a server that drops, changes or is busy`(_ fault: Fault) throws {
        try host.start()
        let answer = fetch("file", "f", fault.query)
        #expect(answer.status == 0, "\(answer) \(host.logTail(20))")
        let size = fault.query.hasPrefix("size=0") ? 0 : 5_000_000
        #expect(try host.hash("out") == server.hash(fault.content, size: size))
        if let ranges = fault.ranges {
            #expect(try server.seen("f").map { $0["range"] as? String } == ranges)
        }
    }

    @Test func `a server that stalls loses its connection, and the download goes on`() throws {
        try host.start()
        let answer = fetch(
            "file", "s", "size=3000000&tags=x&stall=2000000", to: "out", "--stall-timeout", "300ms")
        #expect(answer.status == 0, "\(answer)")
        #expect(try host.hash("out") == server.hash("sx", size: 3_000_000))
        #expect(answer.output.contains("no byte of the file came or went for 300 ms"))
    }

    /// What a hostile or broken server does, and the text that explains the end.
    @Test(arguments: [
        ("loop/h", "", "Maximum (20) redirects followed"),
        ("redirect/h", "to=file:///etc/passwd", "Protocol \"file\" not supported"),
        ("headers/h", "lines=100000", "more than 200 header lines"),
        ("headers/h", "lines=3&length=60000", "more than 200 header lines or 48 KiB"),
        ("headers/h", "lines=1&length=1000000", "more than 200 header lines or 48 KiB"),
        ("interim/h", "code=100&count=10000", "more than 200 header lines"),
        ("interim/h", "code=103&count=10000", "more than 200 header lines"),
        ("trailers/h", "lines=10000", "more than 200 header lines"),
        ("file/h", "size=1000&chunked=gzip,chunked", "a transfer encoding that was not requested"),
        ("raw/h", "head=HTTP/1.1%20-5:%20x", "Unsupported response code in HTTP response"),
        (
            "raw/h", "head=HTTP/1.1%20200%20OK%0D%0AContent-Length:%205",
            "the server sent two different lengths"
        ),
        (
            "raw/h", "head=HTTP/1.1%20200%20OK%0D%0AContent-Length:%2099999999999999999999",
            "the server sent a length that is not a number of bytes"
        ),
        (
            "raw/h", "head=HTTP/1.1%20200%20OK%0D%0AContent-Length:%200,%201",
            "the server sent two different lengths"
        ),
        ("status/h", "code=401", "the server answered with status 401"),
        ("status/h", "code=407", "status 407"),
        ("status/h", "code=404", "the server answered with status 404"),
    ])
    func `a hostile server ends the transfer with a clear error, and no file`(
        _ place: String, _ query: String, _ text: String
    ) throws {
        try host.start()
        let before = try FileManager.default.contentsOfDirectory(atPath: host.directory.path)
        let parts = place.split(separator: "/").map(String.init)
        let answer = fetch(parts[0], parts[1], query, to: "out", "--give-up-after", "20s")
        #expect(answer.status == 1)
        #expect(answer.output.contains(text), "\(answer)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: host.directory.path) == before)
        try host.wait("the transfer's directory is gone") {
            try FileManager.default.contentsOfDirectory(atPath: host.state.path + "/transfers").isEmpty
        }
    }

    @Test func `a file that is longer than it claims ends where it claims`() throws {
        try host.start()
        #expect(fetch("file", "w", "size=2000&claim=1000").status == 0)
        #expect(try host.hash("out") == server.hash("w", size: 1000))
        let answer = fetch("file", "v", "size=1000&claim=2000", to: "short", "--give-up-after", "500ms")
        #expect(answer.status == 1)
        #expect(answer.output.contains("it did not end within 500ms"), "\(answer)")
        #expect(!FileManager.default.fileExists(atPath: path("short")))
    }

    @Test func `an upload reaches the server whole, once for each acknowledged attempt`() throws {
        try host.start()
        fetch("file", "u", "size=5000000")
        let answer = host.run(
            "transfer", "\(server.address)/put/up?drop=1000,-,-&busy=-,503,-", "--upload", path("out"),
            "--wait",
            "--retry-delay", "10ms", "--header", "X-Test: yes", "--method", "POST")
        #expect(answer.status == 0, "\(answer)")
        let seen = try server.seen("up")
        let hash = try host.hash("out")
        #expect(seen.map { $0["method"] as? String } == ["POST", "POST", "POST"])
        #expect(seen.map { $0["sha256"] as? String } == [nil, hash, hash])
        #expect((seen[0]["headers"] as? [String: String])?["X-Test"] == "yes")
        let missing = host.run("transfer", "\(server.address)/put/up", "--upload", path("missing"))
        #expect(missing.status == 2)
    }

    @Test func `an upload whose file changes meanwhile is sent again`() throws {
        try host.start()
        fetch("file", "u", "size=3000000")
        host.run(
            "transfer", "\(server.address)/put/up?gate=1000000", "--upload", path("out"), "--retry-delay",
            "10ms")
        try host.wait("the server has a part") { try Int(server.get("at/up")) ?? 0 >= 1_000_000 }
        let file = try FileHandle(forUpdating: URL(filePath: path("out")))
        try file.write(contentsOf: Data(repeating: 7, count: 100))
        try file.close()
        try server.release("up")
        try host.wait("the transfer has ended") { try host.transfer("T2")["outcome"] is String }
        let row = try host.transfer("T2")
        #expect(row["outcome"] as? String == "succeeded" && row["attempts"] as? Int == 2, "\(row)")
        #expect(try server.seen("up").last?["sha256"] as? String == host.hash("out"))
    }

    @Test func `an upload that is answered before the server has it is sent again`() throws {
        try host.start()
        fetch("file", "u", "size=3000000")
        let answer = host.run(
            "transfer", "\(server.address)/put/up?early=1", "--upload", path("out"), "--wait",
            "--retry-delay", "10ms")
        #expect(answer.status == 0, "\(answer)")
        #expect(answer.output.contains("the server answered before it had received the file"), "\(answer)")
        #expect(try server.seen("up").map { $0["sha256"] as? String } == [nil, host.hash("out")])
    }

    @Test func `transfers wait for their conditions, are listed with the reason, and can be cancelled`()
        throws
    {
        try host.start()
        host.run("conditions", "set", "power=battery:50%")
        #expect(
            host.run(
                "transfer", "\(server.address)/file/d?size=10", "--to", path("d"), "--discretionary"
            ).status == 0)
        #expect(try host.transfer("T1")["state"] as? String == "waiting")
        #expect(host.run("transfers").output.contains("External power is not connected"))
        host.run("conditions", "set", "power=external")
        try host.wait("the transfer has ended") { try host.transfer("T1")["outcome"] is String }
        #expect(try host.hash("d") == server.hash("d", size: 10))
        host.run("transfer", "\(server.address)/file/e?size=10&stall=5", "--to", path("e"))
        try host.wait("it runs") { try host.transfer("T2")["state"] as? String == "running" }
        #expect(host.run("cancel", "T2").status == 0)
        #expect(try host.transfer("T2")["outcome"] as? String == "cancelled")
        #expect(host.run("cancel", "T2").status == 4)
        #expect(host.run("show", "T2").output.contains("a user cancelled it"))
        try host.wait("nothing is left of it") {
            try FileManager.default.contentsOfDirectory(atPath: host.state.path + "/transfers").isEmpty
        }
        let late = host.run(
            "transfer", "\(server.address)/file/l?size=10", "--to", path("l"), "--earliest", "1h")
        #expect(late.status == 0)
        #expect(host.run("transfers").output.contains("EarliestBeginDate"))
        let explained = host.run("explain", "T3").output
        #expect(explained.contains("T3 waits:") && explained.contains("EarliestBeginDate"), "\(explained)")
    }

    @Test func `a download is right after SIGKILL of its program and of the host, again and again`() throws {
        // The server stops after each number of bytes, so that the kill meets the download at that point.
        var numbers = SystemRandomNumberGenerator()
        let pieces = (0..<8).map { _ in Int.random(in: 1...2_500_000, using: &numbers) }
        let stops = pieces.map(String.init).joined(separator: ",")
        let size = 24_000_000
        try host.start()
        host.run(
            "transfer", "\(server.address)/file/k?size=\(size)&tags=x&stall=\(stops)", "--to", path("out"),
            "--retry-delay", "10ms")
        let part = host.state.path + "/transfers/1.part"
        for (index, piece) in pieces.enumerated() {
            try host.wait("the server has stopped for the time \(index), \(stops)") {
                try server.seen("k").count == index + 1
                    && length(of: part) >= first(try server.seen("k")[index]) + piece
            }
            if index % 2 == 0 {
                for number in host.transferPrograms { kill(number, SIGKILL) }
            } else {
                host.kill()
                try host.start()
            }
        }
        try host.wait("the transfer has ended") { try host.transfer("T1")["outcome"] is String }
        #expect(try host.transfer("T1")["outcome"] as? String == "succeeded", "\(stops)")
        #expect(try host.hash("out") == server.hash("kx", size: size), "\(stops)")
    }

    @Test func `a server in trouble, and kills of everything, leave no wrong byte`() throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Transfers/kill.py").path
        let answer = Command.run("python3", script, Products.directory.path)
        #expect(answer.status == 0, "\(answer.output)")
    }

    @Test func `a plugin in C asks for a download, and is launched when it has ended`() throws {
        try host.start()
        let bundle = "com.example.feed"
        let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/Plugins/transfers.c")
        try host.install(
            String(contentsOf: source, encoding: .utf8), library: "feed.so",
            manifest: """
                apiVersion: bgtask/v1
                bundle: \(bundle)
                library: feed.so
                modes: [remote-notification]
                tasks:
                  - {identifier: \(bundle).push, kind: push}
                  - {identifier: \(bundle).ends, kind: transferEvents}

                """, named: "feed")
        let launches = { (task: String) in try host.launches(of: "\(bundle).\(task)") }
        try host.wait("the push is accepted") {
            host.run("push", bundle, #"{"url": "\#(server.address)/file/c?size=200000&tags=x"}"#).status == 0
        }
        try host.wait("the ends are told") { try launches("ends").first?["outcome"] is String }
        #expect(try launches("push").first?["message"] as? String == "T1", "\(host.logTail(20))")
        let ends = try launches("ends")
        #expect(ends.count == 1 && ends[0]["outcome"] as? String == "succeeded", "\(host.logTail(20))")
        let file = "state/data/\(bundle)/.transfers/T1"
        #expect(try host.hash(file) == server.hash("cx", size: 200_000))
        let said = host.run("show", try #require(ends[0]["launch"] as? String)).output
        #expect(
            said.contains("T1 is in ") && said.contains("all transfers of a background session"), "\(said)")
        #expect(host.stop() == 0)
    }

    @Test func `the list of pending requests names the transfers, which another command lists`() throws {
        try host.start()
        #expect(host.run("pending").output == "Nothing is pending.\n")
        host.run("transfer", "\(server.address)/file/p?size=10", "--to", path("p"), "--earliest", "1h")
        #expect(host.run("pending").output.contains("1 transfer has not ended. To list it: bgtask"))
        host.run("transfer", "\(server.address)/file/p?size=10", "--to", path("q"), "--earliest", "1h")
        #expect(
            host.run("pending").output.contains("2 transfers have not ended. To list them: bgtask"))
        #expect(host.stop() == 0)
    }

    @Test func `a certificate that no one trusts ends the transfer, and the error says so`() throws {
        try host.start()
        let secure = try server.get("tls/x")
        let answer = host.run(
            "transfer", "\(secure)/file/t?size=10", "--to", path("out"), "--wait", "--retry-delay", "10ms")
        #expect(answer.status == 1)
        #expect(answer.output.contains("SSL certificate problem"), "\(answer)")
        #expect(try host.transfer("T1")["attempts"] as? Int == 1)
    }

    @Test(.enabled(if: getuid() == 0, "only root can mount"))
    func `a trusted certificate for another name ends the transfer, and the error names the address`() throws
    {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Transfers/certificates.py").path
        let answer = Command.run(
            "unshare", "--mount", "--propagation", "private", "python3", script, Products.directory.path)
        #expect(answer.status == 0, "\(answer.output)")
    }

    /// libcurl lets six connections use one server; others wait in its queue, which is no fault of the
    /// server.
    @Test func `the wait for a connection after a redirect is no stall`() throws {
        try host.start()
        let other = server.address.replacingOccurrences(of: "127.0.0.1", with: "localhost")
        for number in 0..<8 {
            let file = "\(server.address)/file/q\(number)?size=10&pause=3"
            host.run(
                "transfer",
                number < 4 ? file : "\(other)/redirect/r\(number)?to=\(TransferServer.escaped(file))", "--to",
                path("q\(number)"), "--stall-timeout", "5s")
        }
        try host.wait("all have ended") {
            try (1...8).allSatisfy { try host.transfer("T\($0)")["outcome"] is String }
        }
        for number in 1...8 {
            let row = try host.transfer("T\(number)")
            #expect(row["outcome"] as? String == "succeeded" && row["attempts"] as? Int == 1, "\(row)")
        }
    }

    /// A killed program can leave all bytes, but not under their final name; an older host had a directory
    /// for each transfer.
    @Test func `a complete part is only finished, and asks the server for nothing`() throws {
        try host.start()
        host.run("conditions", "set", "network=none")
        fetchLater("file", "c", "size=3000000&tags=x")
        host.kill()
        let directory = host.state.appending(path: "transfers/1")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data(repeating: 7, count: 3_000_000).write(to: directory.appending(path: "part"))
        let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        try "bgtask-transfer 1\nboot \(boot)synced 3000000\ntotal 3000000\netag \"x\"\nmodified \n".write(
            to: directory.appending(path: "resume"), atomically: true, encoding: .utf8)
        // Under a host of root, the directory belongs to the program's user.
        let owner = try FileManager.default.attributesOfItem(atPath: host.state.path + "/transfers")
        for name in ["", "/part", "/resume"] {
            let user = try #require(owner[.ownerAccountID])
            try FileManager.default.setAttributes(
                [.ownerAccountID: user, .groupOwnerAccountID: user], ofItemAtPath: directory.path + name)
        }
        try host.start()
        try host.wait("the transfer has ended") { try host.transfer("T1")["outcome"] is String }
        #expect(try host.transfer("T1")["outcome"] as? String == "succeeded")
        #expect(try Data(contentsOf: URL(filePath: path("out"))) == Data(repeating: 7, count: 3_000_000))
        #expect(try server.seen("c").isEmpty)
    }

    @Test func `listings show no password`() throws {
        try host.start()
        let address = server.address.replacingOccurrences(of: "://", with: "://user:secret@")
        host.run(
            "transfer", "\(address)/file/p?size=10", "--to", path("out"), "--wait", "--header",
            "X-Key: secret2")
        let shown = ["transfers", "show T1", "explain T1", "logs", "transfers --json"].map {
            host.run($0.split(separator: " ").map(String.init)).output
        }.joined()
        #expect(shown.contains("***@127.0.0.1"))
        #expect(!shown.contains("secret"))
        let seen = try #require(server.seen("p").first?["headers"] as? [String: String])
        #expect(seen["Authorization"] != nil && seen["X-Key"] == "secret2")
    }

    @discardableResult
    private func fetchLater(_ kind: String, _ name: String, _ query: String) -> HostProcess.Answer {
        host.run(
            "transfer", "\(server.address)/\(kind)/\(name)?\(query)", "--to", path("out"), "--retry-delay",
            "10ms")
    }

    private func length(of path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.size] as? Int ?? 0
    }

    /// The first byte that a request asks for.
    private func first(_ entry: [String: Any]) -> Int {
        guard let range = entry["range"] as? String else { return 0 }
        return Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
    }
}
