import Glibc

/// Makes the names in a directory durable: a file that was made or renamed there is found after a power cut.
///
/// - Parameter path: The directory.
/// - Throws: ``SystemCallError`` of `open` or `fsync`.
public func syncDirectory(_ path: String) throws(SystemCallError) {
    let directory = OwnedDescriptor(
        taking: try retryingOnInterrupt("open", path) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
    try retryingOnInterrupt("fsync", path) { fsync(directory.rawValue) }
}
