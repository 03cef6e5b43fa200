import Digests
import Foundation
import TaskModel

@testable import Pushes

/// A sender of webhooks, as other programs and attackers are.
struct PushSender {
    /// An address of the loopback network that no other test uses.
    let host: String
    let port = 18765
    var secret: PushSecret?

    init() { host = "127.\(Int.random(in: 1...250)).\(Int.random(in: 1...250)).\(Int.random(in: 1...250))" }

    /// The value for the host's environment.
    var address: String { "\(host):\(port)" }

    struct Answer {
        var status: Int
        var head: String
        var body: [String: Any]
        var code: String { body["code"] as? String ?? "" }
    }

    static let silent = #"{"aps":{"content-available":1},"word":"hello"}"#

    /// The request that sends a push, with headers that replace or extend the right ones.
    func request(
        _ body: String = silent, to bundle: String = "com.example.mail", id: String = UUID().uuidString,
        at time: Int = Int(Date().timeIntervalSince1970), method: String = "POST", headers: [String] = [],
        without missing: String? = nil
    ) -> [UInt8] {
        let bytes = Array(body.utf8)
        let signed = Array("\(id).\(time).".utf8) + bytes
        let signature = Base64.encode((secret ?? .random()).signature(of: signed))
        var lines = [
            "Host: \(host)", "webhook-id: \(id)", "webhook-timestamp: \(time)",
            "webhook-signature: v1,\(signature)", "Content-Length: \(bytes.count)",
        ]
        if let missing { lines.removeAll { $0.hasPrefix(missing) } }
        let head = (["\(method) /v1/pushes/\(bundle) HTTP/1.1"] + lines + headers).joined(separator: "\r\n")
        return Array((head + "\r\n\r\n").utf8) + bytes
    }

    /// Sends a request; returns the answer, or `nil` if the connection ended without one.
    func send(_ bytes: [UInt8]) throws -> Answer? {
        let connection = try connect()
        defer { close(connection) }
        Self.write(bytes, to: connection)
        return Self.answer(from: connection)
    }

    /// Opens a connection.
    func connect() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, size) }
        }
        guard result == 0 else {
            close(descriptor)
            throw HostFailure("nothing listens at \(host):\(port)")
        }
        return descriptor
    }

    /// Writes until everything is written or the other end has closed.
    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    static func answer(from descriptor: Int32) -> Answer? {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 8192)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { break }
            bytes += buffer.prefix(count)
        }
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let body = try? JSONSerialization.jsonObject(with: bytes[end.upperBound...]) as? [String: Any]
        return Answer(
            status: Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0, head: head,
            body: body ?? [:])
    }
}

/// A host that listens for pushes, with one bundle that handles them.
final class PushHost {
    let host: HostProcess
    var sender = PushSender()
    static let bundle = "com.example.mail"
    static let manifest = """
        apiVersion: bgtask/v1
        bundle: com.example.mail
        library: libcounting.so
        modes: [remote-notification]
        tasks:
          - identifier: com.example.mail.push
            kind: push
        """

    init(_ settings: [String: String] = [:]) throws {
        host = try HostProcess()
        host.environment["BGTASK_PUSHES_LISTEN"] = sender.address
        host.environment.merge(settings) { $1 }
        try host.install(
            EndToEndTests.counting, library: "libcounting.so", manifest: Self.manifest, named: "mail")
        try start()
    }

    /// Starts the host, and waits until it listens.
    func start() throws {
        try host.start()
        try host.wait("the host listens for pushes") {
            guard let connection = try? sender.connect() else { return false }
            close(connection)
            return true
        }
    }

    /// Makes the secret of the bundle, and gives it to the sender.
    func share() throws {
        let answer = host.run("push-secret", Self.bundle)
        guard let secret = PushSecret(answer.output.trimmingCharacters(in: .newlines)) else {
            throw HostFailure("push-secret gave \(answer)")
        }
        sender.secret = secret
    }

    /// The ended launches for pushes, newest first.
    func pushes() throws -> [[String: Any]] {
        try host.launches(of: "com.example.mail.push").filter { $0["outcome"] is String }
    }
}
