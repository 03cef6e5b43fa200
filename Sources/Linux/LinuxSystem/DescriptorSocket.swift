import CLinuxShims
import Glibc

/// One end of a stream socket pair over which descriptors come along.
public final class DescriptorSocket: Sendable {
    let descriptor: CInt

    /// Takes over an end.
    public init(taking end: consuming OwnedDescriptor) {
        descriptor = end.release()
    }

    deinit {
        _ = close(descriptor)
    }

    /// Makes a connected pair.
    ///
    /// - Throws: `socketpair`, where descriptors are exhausted.
    public static func pair() throws(SystemCallError) -> (ours: DescriptorSocket, theirs: DescriptorSocket) {
        var ends: [CInt] = [-1, -1]
        try retryingOnInterrupt("socketpair", "AF_UNIX") { lx_socketpair(&ends) }
        return (
            DescriptorSocket(taking: OwnedDescriptor(taking: ends[0])),
            DescriptorSocket(taking: OwnedDescriptor(taking: ends[1]))
        )
    }

    /// Waits for bytes and the descriptors that came with them; blocks its thread.
    ///
    /// - Parameter buffer: Filled from its start.
    /// - Returns: How many bytes came, 0 at the end, and the descriptors, which the caller closes.
    /// - Throws: `recvmsg`; more than 15 descriptors at once are refused with `EMFILE`.
    public func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> (Int, [CInt]) {
        var descriptors = [CInt](repeating: -1, count: 15)
        var count: CInt = 0
        let received = try retryingOnInterrupt("recvmsg", "socket") {
            lx_receive(descriptor, buffer.baseAddress, buffer.count, &descriptors, 15, &count)
        }
        return (received, Array(descriptors.prefix(Int(count))))
    }

    /// Sends what fits without waiting.
    ///
    /// - Returns: How many bytes went; 0 if the peer does not read.
    /// - Throws: `send`, where the peer is gone.
    public func send(_ bytes: ArraySlice<UInt8>) throws(SystemCallError) -> Int {
        do {
            return try retryingOnInterrupt("send", "socket") {
                bytes.withUnsafeBytes { lx_send(descriptor, $0.baseAddress, $0.count) }
            }
        } catch  where error.code == EAGAIN || error.code == EWOULDBLOCK {
            return 0
        }
    }

    /// Says that nothing more will be sent; the peer sees the end, and can still answer.
    public func endSending() {
        _ = shutdown(descriptor, CInt(SHUT_WR))
    }
}
