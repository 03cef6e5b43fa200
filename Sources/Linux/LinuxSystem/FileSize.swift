import Glibc

/// The size of a file in bytes; symbolic links are followed.
///
/// - Parameter path: The file.
/// - Returns: The size in bytes.
/// - Throws: ``SystemCallError`` of `stat`.
public func sizeOfFile(_ path: String) throws(SystemCallError) -> Int64 {
    var facts = stat()
    try retryingOnInterrupt("stat", path) { stat(path, &facts) }
    return Int64(facts.st_size)
}
