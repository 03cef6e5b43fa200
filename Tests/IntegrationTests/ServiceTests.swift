import Foundation
import TaskHostTestSupport
import Testing

/// What a service manager such as systemd sees of a real host.
@Suite(.system) struct ServiceTests {
    @Test func `a service manager learns that the host is ready, alive and stopping`() throws {
        let manager = try NotificationSocket()
        let host = try HostProcess()
        host.environment["NOTIFY_SOCKET"] = manager.path
        // A sign of life is due each 0.5 s.
        host.environment["WATCHDOG_USEC"] = "1000000"
        try host.start()
        let ready = try manager.next { $0.contains("READY=1") }
        #expect(ready.contains("STATUS=handlers: 0, pending requests: 0, running launches: 0"), "\(ready)")
        for _ in 0..<2 { _ = try manager.next { $0.contains("WATCHDOG=1") } }
        #expect(host.stop() == 0)
        _ = try manager.next { $0.contains("STOPPING=1") }
        _ = try manager.next { $0.contains("EXTEND_TIMEOUT_USEC=30000000") }
    }

    @Test(.enabled(if: open("/dev/tty", O_RDONLY) < 0, "with a terminal, SIGHUP ends the host"))
    func `SIGHUP makes a host without a terminal read its files again`() throws {
        let manager = try NotificationSocket()
        let host = try HostProcess()
        host.environment["NOTIFY_SOCKET"] = manager.path
        try host.start()
        _ = try manager.next { $0.contains("READY=1") }
        try "apiVersion: bgtask/v9\n".write(
            to: host.manifests.appendingPathComponent("bad.yaml"), atomically: true, encoding: .utf8)
        kill(host.processIdentifier, SIGHUP)
        let reloading = try manager.next { $0.contains("RELOADING=1") }
        #expect(reloading.contains("MONOTONIC_USEC="), "\(reloading)")
        _ = try manager.next { $0.contains("READY=1") }
        // The reload is over, so the host knows the file.
        let listing = host.run("plugins")
        #expect(listing.output.contains("bad.yaml"), "\(listing)")
        #expect(host.process?.isRunning == true)
    }

    @Test func `reload shows the problems of all files, and what is in force`() throws {
        let host = try HostProcess()
        try host.start()
        let manifest = """
            apiVersion: bgtask/v1
            bundle: com.example.chores
            modes: [processing]
            tasks:
              - {identifier: com.example.chores.sweep, kind: processing, command: {run: [/bin/true]}}
            """
        try manifest.write(
            to: host.manifests.appendingPathComponent("good.yaml"), atomically: true, encoding: .utf8)
        let right = host.run("reload")
        #expect(right.status == 0 && right.output.hasPrefix("In force: 1 bundle with 1 task,"), "\(right)")
        try "apiVersion: bgtask/v9\n".write(
            to: host.manifests.appendingPathComponent("bad.yaml"), atomically: true, encoding: .utf8)
        let wrong = host.run("reload", "--json")
        #expect(wrong.status == 1 && wrong.output.contains("bad.yaml"), "\(wrong)")
        #expect(wrong.output.contains("com.example.chores"), "\(wrong)")
    }

    @Test func `the log is one JSON object a line, with the keys of bgtask logs`() throws {
        let host = try HostProcess("--log-format", "json")
        try host.start()
        #expect(host.stop() == 0)
        let lines = try String(contentsOf: host.logFile, encoding: .utf8).split(separator: "\n")
        #expect(lines.count >= 2)
        for line in lines {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect(
                object?["message"] is String && object?["level"] is String && object?["at"] is String,
                "\(line)")
            #expect(object?.keys.contains("identifier") == true, "\(line)")
        }
    }
}

/// The socket of a service manager, with the messages that services send to it.
private final class NotificationSocket {
    let path: String
    private let descriptor: Int32

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("n-\(UUID().uuidString)").path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        // A message that does not come within 30 s is missing.
        var patience = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        try #require(bound == 0)
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// The next message that a test waits for; earlier ones are passed over.
    func next(_ isWanted: (String) -> Bool) throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 { throw HostFailure("no such message came") }
            let message = String(decoding: buffer[..<count], as: UTF8.self)
            if isWanted(message) { return message }
        }
    }
}
