import Foundation
import Glibc
import TaskModel
import Testing

/// Waits until a descriptor is readable; returns false after 20 s.
func waitUntilReadable(_ descriptor: CInt) throws -> Bool {
    var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let count = poll(&source, 1, 20_000)
    if count < 0 { throw HarnessError("poll: \(errno)") }
    return count == 1
}

func readSome(_ descriptor: CInt) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = read(descriptor, &buffer, buffer.count)
    if count < 0 { throw HarnessError("read: \(errno)") }
    return Array(buffer.prefix(count))
}

func writeAll(_ descriptor: CInt, _ bytes: [UInt8]) throws {
    var written = 0
    while written < bytes.count {
        let count = bytes.withUnsafeBytes { send($0, from: written, to: descriptor) }
        if count < 0 { throw HarnessError("write: \(errno)") }
        written += count
    }
}

private func send(_ bytes: UnsafeRawBufferPointer, from start: Int, to descriptor: CInt) -> Int {
    guard let base = bytes.baseAddress else { return 0 }
    return write(descriptor, base + start, bytes.count - start)
}

/// Reads bytes, and the descriptors that were sent with them.
func receive(_ socket: CInt) throws -> ([UInt8], [CInt]) {
    var buffer = [UInt8](repeating: 0, count: 65536)
    var control = [Int](repeating: 0, count: 64)
    let controlSize = control.count * MemoryLayout<Int>.size
    var received = 0
    let count = buffer.withUnsafeMutableBytes { bytes in
        control.withUnsafeMutableBytes { ancillary in
            var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            return withUnsafeMutablePointer(to: &vector) { vector in
                var message = msghdr()
                message.msg_iov = vector
                message.msg_iovlen = 1
                message.msg_control = ancillary.baseAddress
                message.msg_controllen = controlSize
                let count = recvmsg(socket, &message, CInt(MSG_CMSG_CLOEXEC))
                received = message.msg_controllen
                return count
            }
        }
    }
    if count < 0 { throw HarnessError("recvmsg: \(errno)") }
    // A control message has a header of 16 bytes: its length with the header (8 bytes), its level and its
    // type. The descriptors follow, padded to a multiple of 8 bytes.
    let descriptors = control.withUnsafeBytes { ancillary in
        var descriptors: [CInt] = []
        var at = 0
        while at + 16 <= received {
            let length = ancillary.load(fromByteOffset: at, as: Int.self)
            for offset in stride(from: at + 16, to: at + length, by: 4) {
                descriptors.append(ancillary.load(fromByteOffset: offset, as: CInt.self))
            }
            at += (length + 7) & ~7
        }
        return descriptors
    }
    return (Array(buffer.prefix(count)), descriptors)
}

/// Starts a program with a descriptor under the number 3.
func spawn(_ command: [String], at3 descriptor: CInt) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, descriptor, 3)
    let arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, command[0], &actions, nil, arguments, environ)
    guard code == 0 else { throw HarnessError("posix_spawn(\(command[0])): \(code)") }
    return pid
}

/// The cgroups that a test can create on this machine.
enum Cgroups {
    /// The directory of this process's own v2 cgroup, if it is writable; otherwise `nil`.
    static let root: String? = {
        guard let mounts = try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8),
            let groups = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8),
            let mount = mounts.split(separator: "\n").first(where: {
                $0.split(separator: " ")[2] == "cgroup2"
            }),
            let own = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::") })
        else { return nil }
        let path = String(mount.split(separator: " ")[1]) + own.dropFirst(3)
        let probe = path + "/bgtask-probe-\(getpid())"
        guard mkdir(probe, 0o755) == 0 else { return nil }
        rmdir(probe)
        return path
    }()

    static func make(_ name: String, in parent: String? = nil) throws -> String {
        let path = (parent ?? root ?? "") + "/bgtask-test-\(getpid())-" + name
        guard mkdir(path, 0o755) == 0 else { throw HarnessError("mkdir(\(path)): \(errno)") }
        return path
    }
}

/// A way to run a launch on this machine.
struct Mode: Sendable, CustomTestStringConvertible {
    let isolation: GroupKill
    let fresh: Bool
    var testDescription: String { "\(isolation.rawValue), \(fresh ? "fresh" : "cloned")" }

    /// Modes in which a launch's processes can be killed together; without cgroups, only the PID namespace.
    static let grouped = modes(Cgroups.root == nil ? [.pidNamespace] : [.cgroup, .pidNamespace])
    static let all = modes([.noFork]) + grouped

    private static func modes(_ isolations: [GroupKill]) -> [Mode] {
        isolations.flatMap { [Mode(isolation: $0, fresh: false), Mode(isolation: $0, fresh: true)] }
    }
}
