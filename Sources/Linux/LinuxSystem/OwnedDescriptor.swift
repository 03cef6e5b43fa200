import Glibc

/// A file descriptor that is closed when its owner goes.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number; valid as long as this value lives.
    public let rawValue: CInt

    /// Takes over a descriptor.
    public init(taking rawValue: CInt) {
        self.rawValue = rawValue
    }

    deinit {
        // Not retried: after EINTR Linux has closed it already.
        _ = close(rawValue)
    }

    /// Gives the number away; the receiver closes it.
    public consuming func release() -> CInt {
        let number = rawValue
        discard self
        return number
    }
}
