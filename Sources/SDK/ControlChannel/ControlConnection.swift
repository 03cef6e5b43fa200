/// Requests to a host's control socket: HTTP/1.1, one connection each.
///
/// Every call blocks its thread.
///
/// It is written by hand because the SDK links it into every plugin, and an HTTP library would come with it
/// each time. The command line uses the same code.
public struct ControlConnection: Sendable {
    /// What a host answered.
    public struct Answer: Equatable, Sendable {
        /// The HTTP status.
        public var status: Int
        /// The body, usually JSON.
        public var body: [UInt8]
    }

    /// The most bytes of an answer; listings are bounded far below it.
    public static let maximumAnswer = 64 << 20

    /// The socket.
    public let path: String
    /// Seconds that one read or write may take; `nil` waits without a limit.
    public let timeout: Int?

    /// A way to the host behind a socket; nothing is opened yet.
    public init(path: String, timeout: Int? = nil) {
        (self.path, self.timeout) = (path, timeout)
    }

    /// A socket for one request, which another thread may cancel.
    ///
    /// - Throws: ``ControlFailure/unreachable(_:)``.
    public func socket() throws(ControlFailure) -> LocalSocket {
        try LocalSocket(path: path, timeout: timeout)
    }

    /// Sends a request and waits for the whole answer.
    ///
    /// - Parameters:
    ///   - method: `GET`, `POST` and so on.
    ///   - route: The path with its query.
    ///   - body: JSON; `nil` sends none.
    ///   - socket: One of ``socket()``; `nil` makes one.
    /// - Returns: The answer, whatever its status.
    /// - Throws: ``ControlFailure``.
    public func send(
        _ method: String, _ route: String, body: [UInt8]? = nil, over socket: LocalSocket? = nil
    ) throws(ControlFailure) -> Answer {
        let socket = try connected(socket)
        var unsent: ControlFailure?
        do throws(ControlFailure) {
            try socket.send(Self.request(method, route, body))
        } catch {
            // A host that refuses a body before its end stops reading; what it said still waits here.
            unsent = error
        }
        do throws(ControlFailure) {
            var reader = AnswerReader(socket: socket)
            return try reader.answer()
        } catch {
            throw unsent ?? error
        }
    }

    /// Asks for an event stream and waits until the host has begun it.
    ///
    /// - Parameters:
    ///   - method: `GET` or `POST`.
    ///   - route: The path with its query.
    ///   - socket: One of ``socket()``; `nil` makes one.
    /// - Returns: The stream: whatever happens in the host from now on is in it.
    /// - Throws: ``ControlFailure``; ``ControlFailure/refused(_:)`` with any answer but a stream.
    public func stream(
        _ method: String, _ route: String, over socket: LocalSocket? = nil
    ) throws(ControlFailure) -> ControlStream {
        let socket = try connected(socket)
        try socket.send(Self.request(method, route, nil))
        var reader = AnswerReader(socket: socket)
        // The first bytes of the body are the host's sign that it listens.
        let first = try reader.next() ?? []
        guard reader.status == 200 else { throw .refused(try reader.answer(after: first)) }
        return ControlStream(reader, first)
    }

    private func connected(_ given: LocalSocket?) throws(ControlFailure) -> LocalSocket {
        let socket: LocalSocket
        if let given { socket = given } else { socket = try self.socket() }
        try socket.connect()
        return socket
    }

    /// The bytes of a request.
    static func request(_ method: String, _ route: String, _ body: [UInt8]?) -> [UInt8] {
        var head = "\(method) \(route) HTTP/1.1\r\nHost: bgtask\r\nConnection: close\r\n"
        if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + (body ?? [])
    }
}

/// Reads one answer from a socket.
struct AnswerReader {
    private let socket: LocalSocket
    private var decoder = AnswerDecoder()

    init(socket: LocalSocket) { self.socket = socket }

    /// The status; `nil` before any of the body was read.
    var status: Int? { decoder.status }

    /// Waits for more of the body; `nil` at its end.
    ///
    /// - Throws: ``ControlFailure``; a connection that ends before the answer does is
    ///   ``ControlFailure/broken(_:)``.
    mutating func next() throws(ControlFailure) -> [UInt8]? {
        while !decoder.isDone {
            let bytes = try socket.receive()
            if bytes.isEmpty {
                try decoder.finish()
                return nil
            }
            let body = try decoder.decode(bytes)
            if !body.isEmpty { return body }
        }
        return nil
    }

    /// Reads the answer to its end.
    ///
    /// - Parameter first: What was read of the body before.
    /// - Returns: The answer, whatever its status.
    /// - Throws: ``ControlFailure``.
    mutating func answer(after first: [UInt8] = []) throws(ControlFailure) -> ControlConnection.Answer {
        var body = first
        while let part = try next() {
            guard body.count + part.count <= ControlConnection.maximumAnswer else {
                throw .broken("the answer has more than \(ControlConnection.maximumAnswer) bytes")
            }
            body += part
        }
        return ControlConnection.Answer(status: decoder.status ?? 0, body: body)
    }
}
