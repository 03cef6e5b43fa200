import Foundation
import TaskHostTestSupport
import Testing

/// Transfers that would harm the host's own files, those of others, or good files of their user.
@Suite(.system) struct HostileTransferTests {
    private let host: HostProcess
    private let server: TransferServer

    init() throws {
        host = try HostProcess()
        server = try TransferServer()
    }

    private func path(_ name: String) -> String { host.directory.appendingPathComponent(name).path }

    private func fetch(_ place: String, to file: String, _ more: String...) -> HostProcess.Answer {
        host.run(
            ["transfer", "\(server.address)/\(place)", "--to", path(file), "--retry-delay", "10ms"] + more)
    }

    private func facts(_ name: String) throws -> stat {
        var status = stat()
        try #require(lstat(path(name), &status) == 0, "\(name)")
        return status
    }

    @Test func `a download never replaces a file of the host itself`() throws {
        try host.start()
        try FileManager.default.createSymbolicLink(atPath: path("way"), withDestinationPath: host.state.path)
        try FileManager.default.createDirectory(atPath: path("d"), withIntermediateDirectories: true)
        for file in [
            "state/store.sqlite", "state/store.lock", "state/transfers/1.part", "way/x", "d/../state/x",
        ] {
            let answer = fetch("file/h?size=10", to: file)
            #expect(answer.status == 4, "\(file): \(answer)")
            #expect(answer.errors.contains("the host keeps its own files in"), "\(answer)")
        }
        #expect(try (host.json("transfers") as? [Any])?.isEmpty == true)
    }

    /// Another user may write the directory, and lead a host of root elsewhere.
    @Test(arguments: ["other", "state"])
    func `a directory that becomes a link during the transfer gets no file`(_ target: String) throws {
        try host.start()
        let manager = FileManager.default
        for name in ["own", "other"] {
            try manager.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        }
        #expect(fetch("file/l?size=10&hold=yes", to: "own/x").status == 0)
        try manager.removeItem(atPath: path("own"))
        try manager.createSymbolicLink(atPath: path("own"), withDestinationPath: path(target))
        try server.release("l")
        try host.wait("the transfer has ended") { try host.transfer("T1")["outcome"] is String }
        #expect(host.run("show", "T1").output.contains("a link in the path of its directory"))
        #expect(!manager.fileExists(atPath: path("\(target)/x")))
    }

    @Test func `a file that is replaced keeps its mode and owner, and a new one follows the umask`() throws {
        try host.start()
        for name in ["kept", "locked"] {
            try "old".write(toFile: path(name), atomically: true, encoding: .utf8)
        }
        #expect(chmod(path("kept"), 0o600) == 0 && chmod(path("locked"), 0o4755) == 0)
        let user: uid_t = getuid() == 0 ? 65_534 : getuid()
        #expect(chown(path("kept"), user, getgid()) == 0)
        for name in ["kept", "locked", "new"] {
            #expect(fetch("file/\(name)?size=10", to: name, "--wait").status == 0)
            #expect(try host.hash(name) == server.hash(name, size: 10))
        }
        #expect(try facts("kept").st_mode & 0o7777 == 0o600 && facts("kept").st_uid == user)
        #expect(try facts("locked").st_mode & 0o7777 == 0o755)
        #expect(try facts("new").st_uid == getuid())
        let mask = umask(0)
        umask(mask)
        #expect(try facts("new").st_mode & 0o7777 == 0o644 & ~mask)
    }

    @Test(arguments: ["204", "205"])
    func `an answer without a file does not replace one`(_ status: String) throws {
        try host.start()
        try "precious".write(toFile: path("kept"), atomically: true, encoding: .utf8)
        let plain = fetch("status/n?code=\(status)&body=no", to: "kept", "--wait")
        #expect(plain.status == 1 && plain.output.contains("status \(status), which has no file"), "\(plain)")
        let rest = fetch("file/r?size=3000000&tags=x&drop=2000000&rest=\(status)", to: "kept2", "--wait")
        #expect(rest.status == 0, "\(rest)")
        #expect(try host.hash("kept2") == server.hash("rx", size: 3_000_000))
        #expect(try String(contentsOfFile: path("kept"), encoding: .utf8) == "precious")
    }

    @Test(arguments: ["304", "412"])
    func `a download whose condition is not met begins again without one`(_ status: String) throws {
        try host.start()
        let answer = fetch("file/r?size=3000000&tags=x&drop=2000000&rest=\(status)", to: "out", "--wait")
        #expect(answer.status == 0, "\(answer)")
        #expect(try host.hash("out") == server.hash("rx", size: 3_000_000))
        #expect(try server.seen("r").map { $0["range"] as? String } == [nil, "bytes=2000000-", nil])
    }

    @Test(arguments: [600, 999])
    func `a status that does not exist ends the transfer`(_ status: Int) throws {
        try host.start()
        let answer = fetch("status/s?code=\(status)", to: "out", "--wait", "--give-up-after", "2s")
        #expect(answer.output.contains("T1 refused: the server answered with status \(status)"), "\(answer)")
    }

    @Test func `an error whose body has no end does not hold a place for ever`() throws {
        try host.start()
        let answer = fetch("endless/e?code=404", to: "out", "--wait")
        #expect(answer.output.contains("T1 refused: the server answered with status 404"), "\(answer)")
        let busy = fetch("endless/b?code=503", to: "out", "--wait", "--give-up-after", "2s")
        #expect(busy.status == 1 && busy.output.contains("status 503"), "\(busy)")
    }

    @Test func `the body of a redirect is counted, and ends the transfer if it is long`() throws {
        try host.start()
        let file = TransferServer.escaped("\(server.address)/file/r?size=1000")
        let answer = fetch("redirect/a?body=300000&to=\(file)", to: "out", "--wait")
        #expect(try answer.status == 0 && host.transfer("T1")["received"] as? Int == 301_000, "\(answer)")
        let long = fetch("redirect/b?body=50000000&to=\(file)", to: "out2", "--wait")
        #expect(
            long.output.contains("T2 failed: the server sent a redirect with a body of more than 1 MiB"),
            "\(long)")
        let moved = try #require(try host.transfer("T2")["received"] as? Int)
        #expect((1 << 20..<50_000_000).contains(moved), "\(moved)")
    }

    /// `Content-Range: bytes 3000000-4000000/*` says nothing about the end of the file.
    @Test func `a part of a file of unknown length is not taken for its end`() throws {
        try host.start()
        let answer = fetch("star/s?size=6000000&part=1000000", to: "out", "--wait")
        #expect(answer.status == 0, "\(answer)")
        #expect(try Data(contentsOf: URL(filePath: path("out"))).count == 6_000_000)
        #expect(try server.seen("s").map { $0["range"] as? String } == [nil, "bytes=3000000-", nil])
    }

    /// A date of the response's own minute is no validator, but another one is another file.
    @Test func `a part with a newer date is not taken for the rest of the file`() throws {
        try host.start()
        let answer = fetch("file/n?size=6000000&dates=1,now&blind=yes&drop=3000000", to: "out", "--wait")
        #expect(answer.status == 0, "\(answer)")
        #expect(try server.seen("n").map { $0["range"] as? String } == [nil, "bytes=3000000-", nil])
    }

    @Test func `names that the host can't keep are refused, in few words`() throws {
        try host.start()
        let program = HostProcess.products.appendingPathComponent("bgtask").path
        let script = "\"$0\" transfer \(server.address)/file/x?size=10 --to $'\(path("bad"))\\xff'"
        let shell = Command.run(
            ["bash", "-c", script, program], environment: ["BGTASK_SOCKET": host.socket.path])
        #expect(shell.status == 2 && shell.output.contains("is not valid UTF-8"), "\(shell)")
        let foreign = host.run("transfer", "http://münchen.invalid/x", "--to", path("x"))
        #expect(foreign.status == 4 && foreign.errors.contains("xn--"), "\(foreign)")
        let long = host.run("transfer", "http://a/" + String(repeating: "x", count: 9000), "--to", path("x"))
        #expect(long.status == 4 && long.errors.utf8.count < 1000, "\(long)")
        #expect(try (host.json("transfers") as? [Any])?.isEmpty == true)
    }

    @Test func `several transfers are cancelled by one command`() throws {
        try host.start()
        for name in ["a", "b"] { _ = fetch("file/\(name)?size=10&hold=yes", to: name) }
        let answer = host.run("cancel", "T2", "T1")
        #expect(answer.status == 0 && answer.output == "T2 is cancelled\nT1 is cancelled\n", "\(answer)")
    }
}
