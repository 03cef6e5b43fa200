import Glibc

/// A file descriptor that is closed when the value is destroyed.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number of the descriptor; valid only as long as this value exists.
    public let rawValue: CInt

    /// Takes ownership of a descriptor.
    public init(taking rawValue: CInt) {
        self.rawValue = rawValue
    }

    deinit {
        // Not repeated after EINTR, because Linux has then already closed the descriptor.
        _ = close(rawValue)
    }

    /// Returns the number and gives up ownership; the caller must close the descriptor.
    public consuming func release() -> CInt {
        let number = rawValue
        discard self
        return number
    }
}
