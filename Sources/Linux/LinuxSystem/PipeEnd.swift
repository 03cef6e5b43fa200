import Glibc

/// The write end of a pipe, with writes that never wait for the reader.
///
/// Only one thread at a time may use it.
public struct PipeEnd: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor

    /// Takes ownership of an end, and makes it non-blocking.
    public init(taking end: consuming OwnedDescriptor) {
        _ = fcntl(end.rawValue, F_SETFL, O_NONBLOCK)
        descriptor = end
    }

    /// Writes as many bytes as possible without waiting.
    ///
    /// - Returns: The number of bytes that were written; 0 if the pipe is full.
    /// - Throws: The `write` that failed, for example because there is no reader. The process must ignore
    ///   SIGPIPE.
    public borrowing func write(_ bytes: ArraySlice<UInt8>) throws(SystemCallError) -> Int {
        let number = descriptor.rawValue
        do {
            return try retryingOnInterrupt("write", "pipe") {
                bytes.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            }
        } catch  where error.code == EAGAIN || error.code == EWOULDBLOCK {
            return 0
        }
    }

    /// Gives up ownership of the descriptor.
    public consuming func release() -> OwnedDescriptor { descriptor }
}
