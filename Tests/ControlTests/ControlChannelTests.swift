import Testing

@testable import ControlChannel

/// The decoder of answers, without a socket. The other suites of this folder test it against the real server.
@Suite struct ControlChannelTests {
    private func decode(_ text: String, by size: Int) throws -> (status: Int?, body: String, isDone: Bool) {
        var decoder = AnswerDecoder()
        var body: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            body += try decoder.decode(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        try decoder.finish()
        return (decoder.status, String(decoding: body, as: UTF8.self), decoder.isDone)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"),
        ("HTTP/1.1 201 Created\r\ncontent-length:5 \r\nx: y\r\n\r\nhello", 201, "hello"),
        (
            "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
            404, "hello"
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n",
            200, "0123456789"
        ),
        ("HTTP/1.0 500 Oops\r\n\r\nto the end", 500, "to the end"),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok"),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, ""), ("HTTP/1.1 200\nContent-Length: 0\n\n", 200, ""),
    ])
    func `an answer is the same wherever its bytes are cut`(text: String, status: Int, body: String) throws {
        for size in 1...text.utf8.count {
            let answer = try decode(text, by: size)
            #expect(answer.status == status && answer.body == body && answer.isDone, "cut at \(size)")
        }
    }

    @Test(arguments: [
        ("", "it closed the connection"), ("HTTP/1.1 200 OK\r\n", "the answer stopped in the middle"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "the answer stopped in the middle"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n",
            "the answer stopped in the middle"
        ),
        ("\u{1}\u{2}\r\n", "its answer is not HTTP"), ("HTTP/1.1 x\r\n", "its answer is not HTTP"),
        ("HTTP/1.1 200 OK\r\nno field\r\n", "its answer is not HTTP"),
        ("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n", "its answer has no valid length"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n", "its answer has no valid length"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "a chunk of its answer has no size"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n",
            "a chunk of its answer is longer than its size"
        ),
        (
            "HTTP/1.1 200 " + String(repeating: "x", count: 70_000),
            "a line in the head of its answer is too long"
        ),
    ])
    func `what is not an answer, or is cut, is an error`(text: String, finding: String) {
        for size in [1, 7, max(1, text.utf8.count)] {
            #expect(throws: ControlFailure.broken(finding)) { try decode(text, by: size) }
        }
    }

    @Test func `a path that is too long, and one where nothing listens, are not reachable`() {
        let long = "/" + String(repeating: "x", count: 200)
        #expect(throws: ControlFailure.unreachable("the path is too long for a socket")) {
            try ControlConnection(path: long).send("GET", "/v1/version")
        }
        #expect(throws: ControlFailure.unreachable("No such file or directory")) {
            try ControlConnection(path: "/nonexistent/x.sock").send("GET", "/v1/version")
        }
    }

    @Test func `a socket that was cancelled before its use says so`() throws {
        let socket = try LocalSocket(path: "/nonexistent/x.sock", timeout: nil)
        socket.cancel()
        #expect(throws: ControlFailure.self) {
            try ControlConnection(path: "/nonexistent/x.sock").send("GET", "/", over: socket)
        }
    }
}
