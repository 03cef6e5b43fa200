import Foundation
import LinuxSystem

/// A host's control socket, asked without starting a program: a command takes 40 ms of a core, this takes 3.
struct ControlSocket {
    let path: String

    /// The JSON that `GET /v1ROUTE` answers.
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

    /// Calls back, from a thread of its own, whenever the host publishes something; ends with the host.
    func follow(_ heard: @escaping @Sendable () -> Void) throws {
        let descriptor = try ask("/events")
        BlockingThread.start(named: "events") {
            while Self.read(descriptor) != nil { heard() }
            close(descriptor)
            heard()
        }
    }

    /// Sends a request; the descriptor from which the answer comes.
    private func ask(_ route: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        let request = Array("GET /v1\(route) HTTP/1.1\r\nHost: bgtask\r\nConnection: close\r\n\r\n".utf8)
        guard connected == 0, send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) > 0
        else {
            close(descriptor)
            throw HostFailure("\(path) does not answer")
        }
        return descriptor
    }

    /// The next bytes; `nil` at the end.
    private static func read(_ descriptor: Int32) -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Data(buffer.prefix(count)) : nil
    }
}

/// Wakes who waits for news of a host.
final class News: Sendable {
    private let condition = NSCondition()

    func arrive() {
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }

    /// Returns at the next news, or after a moment: what stands in a file is not announced.
    func wait() {
        condition.lock()
        _ = condition.wait(until: Date(timeIntervalSinceNow: 0.05))
        condition.unlock()
    }
}
