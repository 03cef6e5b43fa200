import Glibc
import Synchronization

/// A stream socket for a path of the file system; one thread uses it, and other threads may cancel it.
public final class LocalSocket: Sendable {
    private let descriptor: CInt
    private let path: String
    private let timeout: Int?
    private let isCancelled = Atomic(false)

    /// Makes a socket; it is not connected yet.
    ///
    /// - Parameters:
    ///   - path: The path at which the host accepts connections, at most 107 bytes.
    ///   - timeout: The longest time, in seconds, for one read or write; `nil` means that it is not limited.
    /// - Throws: ``ControlFailure/unreachable(_:)``.
    public init(path: String, timeout: Int?) throws(ControlFailure) {
        self.path = path
        self.timeout = timeout
        guard path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            throw .unreachable("the path is too long for a socket")
        }
        let number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        let code = errno
        guard number >= 0 else { throw .unreachable(Self.text(of: code)) }
        descriptor = number
        guard let timeout else { return }
        var limit = timeval(tv_sec: timeout, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            // An error is ignored: without a timeout, the socket waits longer for a silent host, but works.
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    deinit { _ = close(descriptor) }

    /// Connects to the path.
    ///
    /// - Throws: ``ControlFailure/unreachable(_:)`` with the system's error message, or
    ///   ``ControlFailure/cancelled``.
    func connect() throws(ControlFailure) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        while true {
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            let code = errno
            if result == 0 { break }
            // The queue of connections that the host has not accepted is full.
            if code == EAGAIN, let timeout { throw .timedOut(seconds: timeout) }
            if code != EINTR { throw .unreachable(Self.text(of: code)) }
        }
        if isCancelled.load(ordering: .sequentiallyConsistent) { throw .cancelled }
    }

    /// Writes all bytes.
    ///
    /// - Throws: ``ControlFailure/broken(_:)`` if the host has closed the connection or reads nothing, or
    ///   ``ControlFailure/cancelled``.
    func send(_ bytes: [UInt8]) throws(ControlFailure) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                // With MSG_NOSIGNAL, a closed connection gives an error instead of SIGPIPE.
                Glibc.send(
                    descriptor, buffer.baseAddress.map { $0 + sent }, bytes.count - sent, CInt(MSG_NOSIGNAL))
            }
            let code = errno
            if count >= 0 {
                sent += count
            } else if code != EINTR {
                throw failure(code)
            }
        }
    }

    /// Waits for the next bytes and reads them; the result is empty at the end of the stream.
    ///
    /// - Throws: ``ControlFailure``.
    func receive() throws(ControlFailure) -> [UInt8] {
        while true {
            var code: CInt = 0
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, initialized in
                count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                code = errno
                initialized = max(0, count)
            }
            if count < 0, code == EINTR { continue }
            guard count >= 0 else { throw failure(code) }
            if count == 0, isCancelled.load(ordering: .sequentiallyConsistent) { throw .cancelled }
            return bytes
        }
    }

    /// Interrupts the calls of another thread, current and future; they throw ``ControlFailure/cancelled``.
    public func cancel() {
        isCancelled.store(true, ordering: .sequentiallyConsistent)
        _ = shutdown(descriptor, CInt(SHUT_RDWR))
    }

    private func failure(_ code: CInt) -> ControlFailure {
        if isCancelled.load(ordering: .sequentiallyConsistent) { return .cancelled }
        if code == EAGAIN, let timeout { return .timedOut(seconds: timeout) }
        return .broken(Self.text(of: code))
    }

    private static func text(of code: CInt) -> String { String(cString: strerror(code)) }
}
