import Foundation
import LinuxSystem

/// A host's control socket. A call here takes 3 ms of CPU time; a `bgtask` process would take 40 ms.
struct ControlSocket {
    let path: String

    /// The JSON answer to `GET /v1ROUTE`.
    func get(_ route: String) throws -> Any {
        let descriptor = try ask(route)
        defer { close(descriptor) }
        var answer = Data()
        while let more = Self.read(descriptor) { answer += more }
        guard let end = answer.range(of: Data("\r\n\r\n".utf8)) else {
            throw HostFailure("no answer to GET \(route)")
        }
        let head = String(decoding: answer[..<end.lowerBound], as: UTF8.self)
        let body = answer[end.upperBound...]
        guard head.hasPrefix("HTTP/1.1 200 ") else {
            throw HostFailure("GET \(route): \(head) \(String(decoding: body, as: UTF8.self))")
        }
        return try JSONSerialization.jsonObject(with: body)
    }

    /// The status and the text of the answer to `POST /v1ROUTE` with a JSON object.
    func post(_ route: String, _ body: [String: String]) throws -> (status: Int, text: String) {
        let descriptor = try ask(route, "POST", try JSONSerialization.data(withJSONObject: body))
        defer { close(descriptor) }
        var answer = Data()
        while let more = Self.read(descriptor) { answer += more }
        let text = String(decoding: answer, as: UTF8.self)
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0, text)
    }

    /// Calls `heard` on a new thread whenever the host publishes an event, until the host ends.
    func follow(_ heard: @escaping @Sendable () -> Void) throws {
        let descriptor = try ask("/events")
        BlockingThread.start(named: "events") {
            while Self.read(descriptor) != nil { heard() }
            close(descriptor)
            heard()
        }
    }

    /// Sends a request and returns the descriptor that the answer can be read from.
    private func ask(_ route: String, _ method: String = "GET", _ body: Data = Data()) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        let length = body.isEmpty ? "" : "Content-Length: \(body.count)\r\n"
        let head = "\(method) /v1\(route) HTTP/1.1\r\nHost: bgtask\r\nConnection: close\r\n\(length)\r\n"
        let request = Array(head.utf8) + body
        guard connected == 0, send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
        else {
            close(descriptor)
            throw HostFailure("\(path) does not answer")
        }
        return descriptor
    }

    /// Reads the next bytes; `nil` at the end.
    private static func read(_ descriptor: Int32) -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Data(buffer.prefix(count)) : nil
    }
}

/// Wakes a thread that waits for an event of a host.
final class News: Sendable {
    private let condition = NSCondition()

    func arrive() {
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }

    /// Returns at the next event, or after a short time, because changes of files cause no event.
    func wait() {
        condition.lock()
        _ = condition.wait(until: Date(timeIntervalSinceNow: 0.05))
        condition.unlock()
    }
}
