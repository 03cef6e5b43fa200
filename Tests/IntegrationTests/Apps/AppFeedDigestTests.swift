import Foundation
import TaskHostTestSupport
import Testing

/// The shipped feed app, with a server that never answers.
@Suite(.system) struct AppFeedDigestTests {
    /// Accepts connections and sends nothing.
    private final class SilentServer {
        private let descriptor: CInt
        let port: UInt16

        init() throws {
            descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let descriptor = descriptor
            let isListening = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(descriptor, address, length) == 0 && listen(descriptor, 8) == 0
                        && getsockname(descriptor, address, &length) == 0
                }
            }
            guard isListening else {
                throw HostFailure("no server on the loopback interface: errno \(errno)")
            }
            port = UInt16(bigEndian: address.sin_port)
        }

        deinit { close(descriptor) }

        /// Whether a client has connected; the client gets no answer.
        func hasVisitor() -> Bool { accept(descriptor, nil, nil) >= 0 }
    }

    @Test func `a refresh that waits for a server stops when it is told to, and its chain goes on`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let library = root.appendingPathComponent("Plugins/Apps/.build/debug/libFeedDigest.so")
        guard FileManager.default.fileExists(atPath: library.path) else {
            throw HostFailure(
                "\(library.path) is not built: run 'make test-packages'"
            )
        }
        let host = try HostProcess()
        try FileManager.default.copyItem(
            at: library, to: host.plugins.appendingPathComponent("libFeedDigest.so"))
        try FileManager.default.copyItem(
            at: root.appendingPathComponent("manifests/feeddigest.yaml"),
            to: host.manifests.appendingPathComponent("feeddigest.yaml"))
        try host.start()
        try host.wait("the app launch has ended") {
            try host.launches(of: "org.bgtask.feeddigest").first?["outcome"] is String
        }
        let server = try SilentServer()
        let data = host.state.appendingPathComponent("data/org.bgtask.feeddigest")
        try Data("http://127.0.0.1:\(server.port)/feed.rss\n".utf8)
            .write(to: data.appendingPathComponent("subscriptions.txt"))

        let identifier = "org.bgtask.feeddigest.refresh"
        host.run("launch", identifier)
        try host.wait("it asks the server") { server.hasVisitor() }
        let id = try #require(try host.launches(of: identifier).first?["launch"] as? String)
        host.run("expire", id)
        try host.wait("it ends") { try host.launches(of: identifier).first?["outcome"] is String }
        let ended = try #require(try host.launches(of: identifier).first)
        #expect(
            ended["outcome"] as? String == "expired" && ended["reason"] as? String == "simulated", "\(ended)")
        let said = host.run("logs", "--launch", id, "--subsystem", "org.bgtask.feeddigest").output
        #expect(said.contains("not refreshed: "), "it ended by itself: \(said)")
        let pending = (try host.json("pending") as? [[String: Any]] ?? [])
            .compactMap { ($0["request"] as? [String: Any])?["identifier"] as? String }
        #expect(pending.contains(identifier), "the next one was asked for first: \(pending)")
        #expect(host.stop() == 0)
    }
}
