import TaskModel
import Testing

@Suite struct TransferRequestTests {
    private static func problem(
        _ url: String = "https://example.com/file", headers: [String] = [], method: String? = nil,
        direction: TransferRequest.Direction = .download
    ) throws -> String? {
        var request = TransferRequest(
            bundle: try BundleIdentifier("com.example.a"), direction: direction, url: url)
        request.file = "/srv/file"
        request.headers = headers
        request.method = method
        return request.problem?.finding
    }

    @Test func `an ordinary download and upload are accepted`() throws {
        #expect(try Self.problem() == nil)
        #expect(try Self.problem(headers: ["Authorization: Bearer KEY", "Host: other.example"]) == nil)
        #expect(try Self.problem(method: "POST", direction: .upload) == nil)
        #expect(try Self.problem(method: "POST") == nil)
    }

    /// With such a header, each attempt would end as one whose server sent another part, for seven days.
    @Test(arguments: [
        "Range: bytes=0-1", "if-range: \"x\"", "Content-Length: 3", "TRANSFER-ENCODING: gzip",
    ])
    func `a header that the host sets itself is refused`(header: String) throws {
        #expect(try Self.problem(headers: [header]) == "the host sets the header of '\(header)' itself")
    }

    @Test(arguments: [
        ("/srv/" + String(repeating: "x", count: 255), true),
        ("/srv/" + String(repeating: "x", count: 256), false),
        (String(repeating: "/xyz", count: 1024), false), ("/srv/a\0b", false),
    ])
    func `a path or name that no file can have is refused`(file: String, isGood: Bool) throws {
        var request = TransferRequest(
            bundle: try BundleIdentifier("com.example.a"), direction: .download, url: "http://a/b")
        request.file = file
        #expect((request.problem == nil) == isGood)
    }

    @Test func `a download with HEAD is refused, because it would never be complete`() throws {
        #expect(
            try Self.problem(method: "HEAD") == "a download needs an answer with a body, and HEAD has none")
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://example.com/a", "https:", "https://", "/a", ""])
    func `an address of another kind is refused`(url: String) throws {
        #expect(try Self.problem(url) == "the address is not one of http or https")
    }

    @Test(arguments: [
        ("http://a:99999/f", "99999"), ("http://a:0", "0"), ("http://u:p@a:x1/f", "x1"),
        ("http://[::1]:70000", "70000"),
        ("http://a:+5/", "+5"),
    ])
    func `an address with an impossible port is refused`(url: String, port: String) throws {
        #expect(try Self.problem(url) == "the address has the port '\(port)'")
    }

    @Test(arguments: [
        "http://a:65535/f", "http://a:/f", "http://[::1]/f", "http://[fe80::1]:8080", "http://u:99999@a/f",
    ])
    func `an address with a port, or with none, is accepted`(url: String) throws {
        #expect(try Self.problem(url) == nil)
    }

    @Test(arguments: ["a\r\nB: c", "no colon", ": value", "a b: c"])
    func `a line that is not one header is refused`(line: String) throws {
        #expect(try Self.problem(headers: [line])?.hasSuffix("is not a header line") == true)
    }

    @Test(arguments: [
        ("https://user:secret@example.com/a@b", "https://***@example.com/a@b"),
        ("http://a@b@c/", "http://***@c/"), ("http://example.com/?q=a@b", "http://example.com/?q=a@b"),
        ("no address", "no address"),
    ])
    func `listings show no name and password of a user`(url: String, shown: String) throws {
        #expect(TransferRequest.withoutUser(url) == shown)
    }

    @Test func `header lines count with what their message adds to each`() throws {
        var request = TransferRequest(
            bundle: try BundleIdentifier("org.example"), direction: .download, url: "http://a/x")
        request.headers = Array(repeating: "a:", count: 6_000)
        #expect(request.problem == nil)
        request.headers = Array(repeating: "a:", count: 7_000)
        #expect(request.problem?.finding.contains("32 KiB") == true)
    }

    @Test func `listings show no cookies and no users of addresses`() {
        let response = TransferResponse(
            status: 200, url: "http://a/",
            headers: [
                "HTTP/1.1 200 OK", "Set-Cookie: id=secret", "ETag: \"a\"", "Location: https://u:p@a/f",
            ])
        #expect(
            response.publicHeaders == [
                "HTTP/1.1 200 OK", "Set-Cookie: ***", "ETag: \"a\"", "Location: https://***@a/f",
            ])
    }

    /// The host asks for the server at each step of a transfer, so plain addresses have a short way.
    @Test(arguments: [
        ("http://a.example/f", "a.example"), ("http://a.example", "a.example"),
        ("http://A.Example:8080?x", "a.example:8080"), ("https://u:p@a:1#x@y", "a:1"),
        ("https://u@v@a/", "a"), ("http://[::1]:80/f", "[::1]:80"),
        ("http://b\u{FC}cher.de/", "b\u{FC}cher.de"),
        ("http:///f", ""), ("http://u@", ""), ("a:b://c/d", "c"), ("http:/a", "http:/a"), ("", ""),
        ("http://a/\u{301}b/c", "a/\u{301}b"), ("http://a\u{301}/c", "a\u{301}"), ("http://a\tb/", "a\tb"),
    ])
    func `the server of an address is found`(url: String, server: String) throws {
        let request = TransferRequest(
            bundle: try BundleIdentifier("com.example.a"), direction: .download, url: url)
        #expect(request.server == server)
    }
}
