/// Sends requests to a host's control socket: HTTP/1.1, with one connection for each request.
///
/// Every call blocks its thread. There is no HTTP library, because the SDK is linked into every plugin and
/// would bring the library with it. The command line uses the same code.
public struct ControlConnection: Sendable {
    /// A host's response to one request.
    public struct Answer: Equatable, Sendable {
        /// The HTTP status.
        public var status: Int
        /// The body, usually JSON.
        public var body: [UInt8]
    }

    /// The largest number of bytes in a response; all listings are far smaller.
    public static let maximumAnswer = 64 << 20

    /// The path of the socket.
    public let path: String
    /// The longest time, in seconds, for one read or write; `nil` means that it is not limited.
    public let timeout: Int?

    /// Prepares requests to the host at a socket; this opens nothing yet.
    public init(path: String, timeout: Int? = nil) {
        (self.path, self.timeout) = (path, timeout)
    }

    /// Makes a socket for one request, which another thread can cancel.
    ///
    /// - Throws: ``ControlFailure/unreachable(_:)``.
    public func socket() throws(ControlFailure) -> LocalSocket {
        try LocalSocket(path: path, timeout: timeout)
    }

    /// Sends a request and waits for the complete response.
    ///
    /// - Parameters:
    ///   - method: The HTTP method, such as `GET` or `POST`.
    ///   - route: The path, with its query.
    ///   - body: The body as JSON; `nil` sends none.
    ///   - socket: A socket from ``socket()``; `nil` makes one.
    /// - Returns: The response, with any status.
    /// - Throws: ``ControlFailure``.
    public func send(
        _ method: String, _ route: String, body: [UInt8]? = nil, over socket: LocalSocket? = nil
    ) throws(ControlFailure) -> Answer {
        let socket = try connected(socket)
        var unsent: ControlFailure?
        do throws(ControlFailure) {
            try socket.send(Self.request(method, route, body))
        } catch {
            // A host that refuses a body early stops reading, but its response can still be received.
            unsent = error
        }
        do throws(ControlFailure) {
            var reader = AnswerReader(socket: socket)
            return try reader.answer()
        } catch {
            throw unsent ?? error
        }
    }

    /// Sends a request without a body, and passes the body of the response on in parts, as they arrive.
    ///
    /// - Parameters:
    ///   - route: The path, with its query.
    ///   - socket: A socket from ``socket()``; `nil` makes one.
    ///   - receive: Called with one part after the other.
    /// - Throws: ``ControlFailure``, or the error of `receive`; ``ControlFailure/refused(_:)`` with any
    ///   status but 200.
    public func read(
        _ route: String, over socket: LocalSocket? = nil, _ receive: ([UInt8]) throws -> Void
    ) throws {
        let socket = try connected(socket)
        try socket.send(Self.request("GET", route, nil))
        var reader = AnswerReader(socket: socket)
        var part = try reader.next()
        guard reader.status == 200 else {
            throw ControlFailure.refused(try reader.answer(after: part ?? []))
        }
        while let bytes = part {
            try receive(bytes)
            part = try reader.next()
        }
    }

    /// Requests an event stream and waits until the host has begun to send it.
    ///
    /// - Parameters:
    ///   - method: The HTTP method: `GET` or `POST`.
    ///   - route: The path, with its query.
    ///   - socket: A socket from ``socket()``; `nil` makes one.
    /// - Returns: The stream, which contains all events from now on.
    /// - Throws: ``ControlFailure``; ``ControlFailure/refused(_:)`` if the response is not a stream.
    public func stream(
        _ method: String, _ route: String, over socket: LocalSocket? = nil
    ) throws(ControlFailure) -> ControlStream {
        let socket = try connected(socket)
        try socket.send(Self.request(method, route, nil))
        var reader = AnswerReader(socket: socket)
        // The host sends the first bytes of the body when it has begun the stream.
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

    /// Encodes a request as HTTP.
    static func request(_ method: String, _ route: String, _ body: [UInt8]?) -> [UInt8] {
        var head = "\(method) \(route) HTTP/1.1\r\nHost: bgtask\r\nConnection: close\r\n"
        if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + (body ?? [])
    }
}

/// Reads one response from a socket.
struct AnswerReader {
    private let socket: LocalSocket
    private var decoder = AnswerDecoder()

    init(socket: LocalSocket) { self.socket = socket }

    /// The HTTP status; `nil` before any of the body was read.
    var status: Int? { decoder.status }

    /// Waits for more bytes of the body; `nil` at its end.
    ///
    /// - Throws: ``ControlFailure``; ``ControlFailure/broken(_:)`` if the connection ends before the response
    ///   is complete.
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

    /// Reads the rest of the response.
    ///
    /// - Parameter first: The bytes of the body that were read before.
    /// - Returns: The response, with any status.
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
