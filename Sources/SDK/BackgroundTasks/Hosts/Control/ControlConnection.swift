import Foundation

/// One request to a host's control socket: HTTP/1.1 over a Unix socket, a connection each.
///
/// Blocks its thread; a host that is silent for ``timeout`` counts as not there: a
/// stream has a comment every 15 s. Written by hand because this
/// module is linked into every plugin, and an HTTP library would be linked into each of them with it.
struct ControlConnection {
    /// An answer of the host.
    struct Answer {
        var status: Int
        var body: Data
    }

    /// Why there is no answer.
    struct Failure: Error {
        var description: String
    }

    /// Seconds that one read or write may take.
    static let timeout = 30
    /// The most bytes of an answer; the list of pending requests is the longest.
    static let maximumAnswer = 16 << 20

    let path: String

    /// Sends a request and waits for its answer.
    func send(_ method: String, _ route: String, body: Data? = nil) throws(Failure) -> Answer {
        let descriptor = try start(method, route, body: body)
        defer { close(descriptor) }
        return try Self.parse(readAll(descriptor))
    }

    /// Opens a connection and sends a request; the caller reads the answer and closes the descriptor.
    func start(_ method: String, _ route: String, body: Data? = nil) throws(Failure) -> CInt {
        let descriptor = try open()
        var head = "\(method) \(route) HTTP/1.1\r\nHost: bgtask\r\nConnection: close\r\n"
        if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        do {
            try write(Data((head + "\r\n").utf8) + (body ?? Data()), to: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private func open() throws(Failure) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard bytes.count < place.count else { return false }
            place.copyBytes(from: bytes)
            return true
        }
        guard fits else { throw Failure(description: "the path of the socket is too long: \(path)") }
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure("socket") }
        var limit = timeval(tv_sec: Self.timeout, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else {
            let failure = failure("connect")
            close(descriptor)
            throw failure
        }
        return descriptor
    }

    private func write(_ data: Data, to descriptor: CInt) throws(Failure) {
        var sent = 0
        while sent < data.count {
            let count = data.withUnsafeBytes { bytes in
                // A host that is gone answers with an error, not with SIGPIPE.
                Foundation.send(
                    descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
                    CInt(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure("send") }
            sent += count
        }
    }

    private func readAll(_ descriptor: CInt) throws(Failure) -> Data {
        var data = Data(), buffer = [UInt8](repeating: 0, count: 65_536)
        while data.count < Self.maximumAnswer {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure("recv") }
            if count == 0 { return data }
            data += buffer[..<count]
        }
        throw Failure(description: "the answer has more than \(Self.maximumAnswer) bytes")
    }

    private func failure(_ call: String) -> Failure {
        let code = errno
        return Failure(description: "\(call)(\(path)): \(String(cString: strerror(code))) (\(code))")
    }

    /// Takes an answer apart; the connection's end ends the body, unless it comes in chunks.
    ///
    /// - Parameters:
    ///   - data: All of the answer, or its head.
    ///   - head: Whether it is the head alone; the body is empty then.
    /// - Returns: Its status and body.
    /// - Throws: ``Failure`` for what is no HTTP, or is cut.
    static func parse(_ data: Data, head: Bool = false) throws(Failure) -> Answer {
        guard let end = data.range(of: Data("\r\n\r\n".utf8)) else {
            throw Failure(description: "the host closed the connection without an answer")
        }
        let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count > 1, let status = Int(words[1]) else {
            throw Failure(description: "the host's answer is not HTTP: \(lines.first ?? "")")
        }
        if head { return Answer(status: status, body: Data()) }
        let isChunked = lines.contains {
            let line = $0.lowercased()
            return line.hasPrefix("transfer-encoding:") && line.hasSuffix("chunked")
        }
        let body = data[end.upperBound...]
        return Answer(status: status, body: isChunked ? try joined(body) : Data(body))
    }

    private static func joined(_ chunks: Data) throws(Failure) -> Data {
        var rest = chunks, body = Data()
        while let end = rest.range(of: Data("\r\n".utf8)) {
            let digits = String(decoding: rest[..<end.lowerBound], as: UTF8.self).prefix { $0.isHexDigit }
            guard let count = Int(digits, radix: 16), rest.endIndex - end.upperBound >= count else { break }
            if count == 0 { return body }
            body += rest[end.upperBound..<end.upperBound + count]
            rest = rest[(end.upperBound + count)...].dropFirst(2)
        }
        throw Failure(description: "the host's answer is cut")
    }
}
