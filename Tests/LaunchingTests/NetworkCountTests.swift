import Foundation
import Glibc
import LinuxSystem
import TaskHostTestSupport
import TaskModel
import Testing

@testable import Launching

/// The kernel counts what launches receive and send.
@Suite(.system, .serialized) struct NetworkCountTests {
    /// A server on loopback: each connection gets a number of bytes, and is closed.
    private final class Server: Sendable {
        let port: UInt16
        private let listener: CInt

        init(sending count: Int) throws {
            let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, size) == 0 && listen(listener, 8) == 0
                        && getsockname(listener, $0, &size) == 0
                }
            }
            try #require(isBound)
            port = UInt16(bigEndian: address.sin_port)
            self.listener = listener
            BlockingThread.start(named: "test server") {
                while true {
                    let stream = accept(listener, nil, nil)
                    if stream < 0 { return }
                    let bytes = [UInt8](repeating: 7, count: count)
                    var sent = 0
                    while sent < count {
                        let part = bytes[sent...].withUnsafeBytes {
                            send(stream, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                        }
                        if part <= 0 { break }
                        sent += part
                    }
                    close(stream)
                }
            }
        }

        func end() {
            shutdown(listener, CInt(SHUT_RDWR))
            close(listener)
        }
    }

    private static let countsBytes = (try? launcherCounts()) == true

    /// Whether the kernel counts the bytes of a group of this user.
    private static func launcherCounts() throws -> Bool {
        guard case .success(let own) = ControlGroup.own() else { return false }
        let group = try own.child("bgtask-test-\(UUID().uuidString)")
        defer { try? group.remove() }
        return (try? NetworkCounter(of: group)) != nil
    }

    @Test(.enabled(if: countsBytes, "the kernel counts no bytes of groups for this user"))
    func `each launch with the network has the count of its own bytes, TCP and UDP`() async throws {
        let harness = try await LaunchHarness(groupKill: .cgroup)
        let library = try PluginCompiler.compile("talks", into: harness.folder.appending(path: "talks"))
        let (much, little) = (try Server(sending: 1_000_000), try Server(sending: 1000))
        func talk(to server: Server, network: NetworkGrant?) async throws -> NetworkBytes? {
            var order = try harness.order("talks", variable: "PORT=\(server.port)", library: library)
            order.handler.manifest.sandbox.network = network
            let sight = try await harness.run(order)
            #expect(
                sight.end?.outcome == (network == nil ? .failed : .succeeded),
                "\(String(describing: sight.end))")
            return sight.network
        }
        let first = try #require(try await talk(to: much, network: .all))
        #expect((1_000_000...1_100_000).contains(first.received.bytes), "\(first)")
        // The headers of IP and UDP are 28 bytes; acknowledgements are sent, too.
        #expect((10_280...100_000).contains(first.sent.bytes), "\(first)")
        // A launch of the same template does not go on with the count of the one before.
        let second = try #require(try await talk(to: little, network: .all))
        #expect((1000...20_000).contains(second.received.bytes), "\(second)")
        #expect(try await talk(to: little, network: nil) == nil)
        much.end()
        little.end()
        await harness.end()
    }

    @Test func `the host says whether it counts`() async throws {
        let harness = try await LaunchHarness()
        let layer = try #require(
            harness.launcher.isolation.layers.first { $0.name == "count of network bytes" })
        let isCounted = Self.countsBytes && harness.launcher.isolation.groupKill == .cgroup
        #expect(layer.isAvailable == isCounted, "\(layer.finding)")
        await harness.end()
    }
}
