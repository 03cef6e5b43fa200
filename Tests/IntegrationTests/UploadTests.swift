import Foundation
import TaskHostTestSupport
import Testing

/// Uploads through the whole host: redirects, and files that change meanwhile.
@Suite(.system) struct UploadTests {
    private let host: HostProcess
    private let server: TransferServer

    init() throws {
        host = try HostProcess()
        server = try TransferServer()
        try Data(repeating: 7, count: 300_000).write(to: URL(filePath: path("form")))
    }

    private func path(_ name: String) -> String { host.directory.appendingPathComponent(name).path }

    private func upload(_ place: String, _ more: String...) -> HostProcess.Answer {
        host.run(
            [
                "transfer", "\(server.address)/\(place)", "--upload", path("form"), "--retry-delay", "10ms",
            ] + more)
    }

    /// As NSURLSession and curl do.
    @Test(arguments: [
        ("POST", 301, "GET"), ("POST", 302, "GET"), ("POST", 303, "GET"), ("POST", 307, "POST"),
        ("POST", 308, "POST"), ("PUT", 301, "PUT"), ("PUT", 302, "PUT"), ("PUT", 303, "GET"),
        ("PATCH", 302, "PATCH"), ("PATCH", 303, "GET"),
    ])
    func `a redirect keeps or changes the method as its status says`(
        _ method: String, _ status: Int, _ next: String
    ) throws {
        try host.start()
        let to = "\(server.address)/page/p".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let answer = upload("put/f?redirect=\(status)&to=\(to)", "--method", method, "--wait")
        #expect(answer.status == 0 && answer.output.contains("T1 succeeded"), "\(answer)")
        let first = try server.seen("f")
        #expect(first.map { $0["method"] as? String } == [method])
        #expect(first[0]["length"] as? Int == 300_000)
        #expect((first[0]["headers"] as? [String: String])?["Content-Type"] == nil)
        let page = try server.seen("p")
        #expect(page.map { $0["method"] as? String } == [next])
        #expect(page[0]["length"] as? Int == (next == "GET" ? nil : 300_000))
    }

    /// A host of root would send any file to which another user put a link.
    @Test func `a link that comes in place of the file is not followed, and one that was there is`() throws {
        try host.start()
        let files = FileManager.default
        try files.createSymbolicLink(atPath: path("link"), withDestinationPath: path("form"))
        let through = host.run(
            "transfer", "\(server.address)/put/l", "--upload", path("link"), "--wait", "--retry-delay", "10ms"
        )
        #expect(try through.status == 0 && server.seen("l")[0]["length"] as? Int == 300_000, "\(through)")
        host.run("drain")
        host.run("transfer", "\(server.address)/put/s", "--upload", path("form"), "--retry-delay", "10ms")
        try files.moveItem(atPath: path("form"), toPath: path("moved"))
        try files.createSymbolicLink(atPath: path("form"), withDestinationPath: "/etc/shadow")
        host.run("resume")
        try host.wait("an attempt has failed") { try host.transfer("T2")["failure"] is [String: Any] }
        #expect(try server.seen("s").isEmpty)
    }

    @Test
    func `a file whose contents the kernel makes up is refused with a reason, and an empty file is sent`()
        throws
    {
        try host.start()
        let answer = host.run("transfer", "\(server.address)/put/made", "--upload", "/proc/version")
        #expect(answer.status == 2, "\(answer)")
        #expect(answer.errors.contains("/proc/version has no size, because the kernel makes up"), "\(answer)")
        // The host says so, too, because other clients ask it.
        let body = #"{"url": "\#(server.address)/put/made", "direction": "upload", "file": "/proc/version"}"#
        let other = Command.run(
            "curl", "-sS", "--fail", "--unix-socket", host.socket.path, "-d", body,
            "http://h/v1/transfers")
        #expect(other.status == 0, "\(other)")
        try host.wait("the transfer has ended") { try host.transfer("T1")["outcome"] is String }
        let failure = try host.transfer("T1")["failure"] as? [String: Any]
        #expect(
            (failure?["message"] as? String)?.hasPrefix("the file to send has no size") == true,
            "\(failure ?? [:])")
        try Data().write(to: URL(filePath: path("form")))
        let empty = upload("put/empty", "--wait")
        #expect(empty.status == 0, "\(empty)")
        #expect(try server.seen("empty").map { $0["length"] as? Int } == [0])
        #expect(host.stop() == 0)
    }

    /// `rsync --times` and `cp -p` put the time of the contents back.
    @Test func `an upload whose file changes under the same time is sent again`() throws {
        try host.start()
        #expect(upload("put/up?hold=yes").status == 0)
        try host.wait("the server has the request") { try server.seen("up").count == 1 }
        var before = stat()
        try #require(stat(path("form"), &before) == 0)
        let file = try FileHandle(forUpdating: URL(filePath: path("form")))
        try file.write(contentsOf: Data(repeating: 9, count: 100))
        try file.close()
        var times = [before.st_atim, before.st_mtim]
        #expect(utimensat(AT_FDCWD, path("form"), &times, 0) == 0)
        try server.release("up")
        try host.wait("the transfer has ended") { try host.transfer("T1")["outcome"] is String }
        let row = try host.transfer("T1")
        #expect(row["outcome"] as? String == "succeeded" && row["attempts"] as? Int == 2, "\(row)")
        #expect(try server.seen("up").last?["sha256"] as? String == host.hash("form"))
    }

    @Test func `an upload whose file is removed meanwhile succeeds`() throws {
        try host.start()
        #expect(upload("put/up?hold=yes").status == 0)
        try host.wait("the server has the request") { try server.seen("up").count == 1 }
        try FileManager.default.removeItem(atPath: path("form"))
        try server.release("up")
        try host.wait("the transfer has ended") { try host.transfer("T1")["outcome"] is String }
        #expect(try host.transfer("T1")["outcome"] as? String == "succeeded")
    }
}
