import CLinuxShims
import Glibc
import TaskModel

/// One end of a stream socket pair that can also receive file descriptors.
public final class DescriptorSocket: Sendable {
    let descriptor: CInt

    /// Takes ownership of an end.
    public init(taking end: consuming OwnedDescriptor) {
        descriptor = end.release()
    }

    deinit {
        _ = close(descriptor)
    }

    /// Makes a connected pair.
    ///
    /// - Throws: The `socketpair` that failed, for example because too many descriptors are open.
    public static func pair() throws(SystemCallError) -> (ours: DescriptorSocket, theirs: DescriptorSocket) {
        var ends: [CInt] = [-1, -1]
        try retryingOnInterrupt("socketpair", "AF_UNIX") { lx_socketpair(&ends) }
        return (
            DescriptorSocket(taking: OwnedDescriptor(taking: ends[0])),
            DescriptorSocket(taking: OwnedDescriptor(taking: ends[1]))
        )
    }

    /// Waits for bytes and for descriptors that come with them; blocks the thread.
    ///
    /// - Parameter buffer: The buffer for the bytes.
    /// - Returns: The number of bytes, 0 at the end of the stream, and the descriptors, which the caller must
    ///   close.
    /// - Throws: The `recvmsg` that failed; more than 15 descriptors at once are refused with `EMFILE`.
    public func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> (Int, [CInt]) {
        var descriptors = [CInt](repeating: -1, count: 15)
        var count: CInt = 0
        let received = try retryingOnInterrupt("recvmsg", "socket") {
            lx_receive(descriptor, buffer.baseAddress, buffer.count, &descriptors, 15, &count)
        }
        return (received, Array(descriptors.prefix(Int(count))))
    }

    /// Limits how long ``receive(into:)`` waits; it then throws an error that ``SystemCallError/isTimeout``
    /// recognises.
    ///
    /// - Parameter limit: The longest wait, at least 1 ms.
    /// - Throws: The `setsockopt` that failed.
    public func setReceiveTimeout(_ limit: Duration) throws(SystemCallError) {
        let milliseconds = max(1, limit.wholeMilliseconds)
        var time = timeval(tv_sec: Int(milliseconds / 1000), tv_usec: Int(milliseconds % 1000) * 1000)
        try retryingOnInterrupt("setsockopt", "SO_RCVTIMEO") {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Sends as many bytes as possible without waiting.
    ///
    /// - Returns: The number of bytes that were sent; 0 if the peer's buffer is full.
    /// - Throws: The `send` that failed, for example because the peer is gone.
    public func send(_ bytes: ArraySlice<UInt8>) throws(SystemCallError) -> Int {
        do {
            return try retryingOnInterrupt("send", "socket") {
                bytes.withUnsafeBytes { lx_send(descriptor, $0.baseAddress, $0.count) }
            }
        } catch  where error.code == EAGAIN || error.code == EWOULDBLOCK {
            return 0
        }
    }

    /// Sends all bytes, and waits while the peer's buffer is full; blocks the thread.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, at least one.
    ///   - file: A file whose descriptor goes with the first byte; `nil` for none.
    /// - Throws: The `send` that failed, for example because the peer is gone.
    public func sendAll(_ bytes: [UInt8], passing file: SendingFile?) throws(SystemCallError) {
        var sent = 0
        while sent < bytes.count {
            let (offset, number) = (sent, sent == 0 ? file?.descriptor.rawValue : nil)
            sent += try retryingOnInterrupt("sendmsg", "socket") {
                bytes.withUnsafeBytes { buffer in
                    let rest = UnsafeRawBufferPointer(rebasing: buffer[offset...])
                    guard let number else { return lx_send_waiting(descriptor, rest.baseAddress, rest.count) }
                    return lx_send_descriptor(descriptor, rest.baseAddress, rest.count, number)
                }
            }
        }
    }

    /// Ends the sending direction: the peer reads the end of the stream, and can still send.
    public func endSending() {
        _ = shutdown(descriptor, CInt(SHUT_WR))
    }
}
