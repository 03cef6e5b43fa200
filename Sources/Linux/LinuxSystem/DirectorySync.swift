import Glibc

/// Makes the names in a directory durable: files that were created or renamed there survive a power failure.
///
/// - Parameter path: The directory.
/// - Throws: ``SystemCallError`` of `open` or `fsync`.
public func syncDirectory(_ path: String) throws(SystemCallError) {
    let directory = OwnedDescriptor(
        taking: try retryingOnInterrupt("open", path) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
    try retryingOnInterrupt("fsync", path) { fsync(directory.rawValue) }
}
