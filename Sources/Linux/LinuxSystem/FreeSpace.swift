import CLinuxShims
import Glibc
public import TaskModel

/// The free space of the file system that contains a path, as far as this user can use it.
///
/// - Parameter path: A file or directory that exists.
/// - Returns: The free space; blocks that are reserved for root do not count.
/// - Throws: ``SystemCallError`` of `statvfs`.
public func freeSpace(at path: String) throws(SystemCallError) -> ByteCount {
    var facts = statvfs()
    try retryingOnInterrupt("statvfs", path) { statvfs(path, &facts) }
    let (bytes, overflow) = UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
    return ByteCount(bytes: overflow ? .max : Int64(clamping: bytes))
}

/// Whether a path is on a file system whose files are in memory only; false if it does not exist.
public func isInMemory(_ path: String) -> Bool {
    lx_is_in_memory(path)
}
