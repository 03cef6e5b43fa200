import Glibc

/// A local socket through which a process sends messages to a daemon, each in one datagram.
public final class DatagramSocket: Sendable {
    private let descriptor: OwnedDescriptor

    /// Connects to a daemon; `nil` if the address is not valid, or if no process receives there.
    ///
    /// - Parameter text: A path, or an abstract name after `@`.
    public init?(address text: String) {
        var address = sockaddr_un()
        let name = Array(text.utf8)
        let isAbstract = name.first == UInt8(ascii: "@")
        guard isAbstract || name.first == UInt8(ascii: "/"), name.count < 108, !name.contains(0) else {
            return nil
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: name)
            if isAbstract { path[0] = 0 }
        }
        // The length ends an abstract name; a path also has its terminator.
        let length = MemoryLayout<sa_family_t>.size + name.count + (isAbstract ? 0 : 1)
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return nil }
        descriptor = OwnedDescriptor(taking: number)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(length))
            }
        }
        guard connected == 0 else { return nil }
    }

    /// Sends a message without blocking.
    ///
    /// - Returns: Whether the daemon got it.
    @discardableResult
    public func send(_ message: String) -> Bool { send(message, flags: Int32(MSG_DONTWAIT)) }

    /// Sends a message, and waits while the daemon's queue is full.
    ///
    /// - Returns: Whether the daemon got it.
    @discardableResult
    public func sendWaiting(_ message: String) -> Bool { send(message, flags: 0) }

    private func send(_ message: String, flags: Int32) -> Bool {
        var message = message
        return message.withUTF8 { bytes in
            while true {
                let sent = Glibc.send(
                    descriptor.rawValue, bytes.baseAddress, bytes.count, flags | Int32(MSG_NOSIGNAL))
                if sent >= 0 { return true }
                if errno != EINTR { return false }
            }
        }
    }
}
