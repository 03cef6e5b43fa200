import Glibc

/// A new file that only grows.
///
/// One owner at a time: it has no lock.
public final class AppendedFile {
    /// Where it is.
    public let path: String
    /// Bytes written so far.
    public private(set) var size: Int64 = 0
    private let descriptor: OwnedDescriptor

    /// Makes the file, readable only by its owner.
    ///
    /// - Throws: The `open` that failed; `EEXIST` if there is something already.
    public init(creating path: String) throws(SystemCallError) {
        self.path = path
        descriptor = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", path) {
                open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            })
    }

    /// Adds bytes at the end; they survive this process, not a failing machine.
    ///
    /// - Throws: The `write` that failed; the file may then contain part of the bytes.
    public func append(_ bytes: [UInt8]) throws(SystemCallError) {
        var offset = 0
        let number = descriptor.rawValue
        while offset < bytes.count {
            let count = try retryingOnInterrupt("write", path) {
                bytes.withUnsafeBytes {
                    write(number, $0.baseAddress?.advanced(by: offset), bytes.count - offset)
                }
            }
            offset += count
            size += Int64(count)
        }
    }
}
