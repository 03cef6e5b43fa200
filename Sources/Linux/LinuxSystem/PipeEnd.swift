import Glibc

/// The write end of a pipe, written without ever waiting for its reader.
///
/// One thread at a time.
public struct PipeEnd: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor

    /// Takes over an end, and makes its open file non-blocking.
    public init(taking end: consuming OwnedDescriptor) {
        _ = fcntl(end.rawValue, F_SETFL, O_NONBLOCK)
        descriptor = end
    }

    /// Writes what fits.
    ///
    /// - Returns: How many bytes the pipe took; 0 if it is full.
    /// - Throws: `write`, if there is no reader any more. The process must ignore SIGPIPE, as a host does.
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

    /// Gives the descriptor away.
    public consuming func release() -> OwnedDescriptor { descriptor }
}
