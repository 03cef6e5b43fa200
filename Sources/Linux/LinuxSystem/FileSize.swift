import Glibc

/// The bytes of a file; symbolic links are followed.
///
/// - Parameter path: The file.
/// - Returns: Its length.
/// - Throws: ``SystemCallError`` of `stat`.
public func sizeOfFile(_ path: String) throws(SystemCallError) -> Int64 {
    var facts = stat()
    try retryingOnInterrupt("stat", path) { stat(path, &facts) }
    return Int64(facts.st_size)
}
