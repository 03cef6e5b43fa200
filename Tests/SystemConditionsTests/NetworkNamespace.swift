import Foundation
import Glibc
import LinuxSystem
import Synchronization
import TaskHostTestSupport

/// A new network namespace: its only link is an inactive loopback, it has no route, and the kernel broadcasts
/// to it separately.
///
/// A process keeps the namespace open. Commands enter it as processes. Code of the test enters it on a thread
/// that does nothing else afterwards; every thread that this code starts is in the namespace too.
final class NetworkNamespace {
    /// The reason why a test cannot create one here; `nil` if it can.
    static let obstacle: String? =
        geteuid() != 0
        ? "a network namespace for a thread needs root"
        : Command.run("unshare", "--net", "ip", "link").status == 0 ? nil : "unshare --net ip link fails here"

    private let holder: CompanionProcess
    private let place = FileManager.default.temporaryDirectory.appendingPathComponent(
        "netns-\(UUID().uuidString)")
    private var path: String { "/proc/\(number)/ns/net" }
    private let number: Int32

    init() throws {
        holder = try CompanionProcess(
            ["unshare", "--net", "sh", "-c", "echo $$; exec sleep infinity"], output: place)
        var line = ""
        try waitUntil("the namespace stands") { [place] in
            line = (try? String(contentsOf: place, encoding: .utf8)) ?? ""
            return line.hasSuffix("\n")
        }
        guard let found = Int32(line.dropLast()) else { throw TestFailure("no namespace: \(line)") }
        number = found
    }

    deinit { try? FileManager.default.removeItem(at: place) }

    /// Runs a command in the namespace; throws if the command fails.
    func run(_ arguments: String...) throws {
        let answer = Command.run(["nsenter", "--net=\(path)"] + arguments)
        if answer.status != 0 { throw TestFailure("\(arguments): \(answer.output)") }
    }

    /// Runs code on a new thread in the namespace, and waits for its result.
    func inside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw TestFailure("open(\(path)): \(errno)") }
        defer { close(descriptor) }
        let slot = Slot<Value>()
        let finished = DispatchSemaphore(value: 0)
        BlockingThread.start(named: "netns") {
            slot.put(Result { try Self.enter(descriptor, body) })
            finished.signal()
        }
        finished.wait()
        return try slot.take()
    }

    private static func enter<Value>(_ descriptor: CInt, _ body: () throws -> Value) throws -> Value {
        // The Glibc module lacks functions that need _GNU_SOURCE, such as setns.
        typealias Call = @convention(c) (CInt, CInt) -> CInt
        guard let symbol = dlsym(nil, "setns") else { throw TestFailure("no setns") }
        let newNetwork: CInt = 0x4000_0000
        guard unsafeBitCast(symbol, to: Call.self)(descriptor, newNetwork) == 0 else {
            throw TestFailure("setns: \(errno)")
        }
        return try body()
    }

    /// Broadcasts a device event in the namespace, as the kernel does for a device's driver.
    func sendDeviceEvent(subsystem: String, device: String) throws {
        try inside {
            let descriptor = socket(AF_NETLINK, CInt(SOCK_RAW.rawValue), 15)
            guard descriptor >= 0 else { throw TestFailure("socket: \(errno)") }
            defer { close(descriptor) }
            let path = "/devices/\(device)"
            let fields = [
                "change@\(path)", "ACTION=change", "DEVPATH=\(path)", "SUBSYSTEM=\(subsystem)", "SEQNUM=1",
            ]
            let bytes = Array((fields.joined(separator: "\0") + "\0").utf8)
            // sockaddr_nl of group 1: family, padding, port, groups.
            var address = [UInt16(AF_NETLINK), 0, 0, 0, 1, 0]
            let size = socklen_t(address.count * 2)
            let sent = address.withUnsafeMutableBytes { raw in
                sendto(
                    descriptor, bytes, bytes.count, 0,
                    raw.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                    size)
            }
            guard sent == bytes.count else { throw TestFailure("sendto: \(errno)") }
        }
    }
}

/// The result that one thread leaves for another one that waits for it.
private final class Slot<Value: Sendable>: Sendable {
    private let value = Mutex<Result<Value, any Error>?>(nil)

    func put(_ new: Result<Value, any Error>) { value.withLock { $0 = new } }

    func take() throws -> Value {
        guard let result = value.withLock({ $0 }) else { throw TestFailure("the thread left nothing") }
        return try result.get()
    }
}
