import Glibc

/// A new file to which bytes can only be appended.
///
/// It has no lock, so only one thread at a time may use it.
public final class AppendedFile {
    /// The path of the file.
    public let path: String
    /// The number of bytes written so far.
    public private(set) var size: Int64 = 0
    private let descriptor: OwnedDescriptor

    /// Creates the file, readable only by its owner.
    ///
    /// - Throws: The `open` that failed; `EEXIST` if the path already exists.
    public init(creating path: String) throws(SystemCallError) {
        self.path = path
        descriptor = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", path) {
                open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            })
    }

    /// Appends bytes; they survive the end of this process, but perhaps not a crash of the machine.
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
