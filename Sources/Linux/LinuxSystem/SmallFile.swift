import Glibc

/// Reads and writes small files of the kernel, such as those in /proc, which report no length.
public enum SmallFile {
    /// Reads a file as text, up to about 1 MiB.
    ///
    /// - Throws: The `open` or `read` that failed.
    public static func read(_ path: String) throws(SystemCallError) -> String {
        let file = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", path) { open(path, O_RDONLY | O_CLOEXEC) })
        let number = file.rawValue
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < 1 << 20 {
            let count = try retryingOnInterrupt("read", path) { Glibc.read(number, &buffer, buffer.count) }
            if count == 0 { break }
            bytes.append(contentsOf: buffer.prefix(count))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes a text with a single `write`, as the kernel's files require.
    ///
    /// - Throws: The `open` or `write` that failed.
    public static func write(_ text: String, to path: String) throws(SystemCallError) {
        let file = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", path) { open(path, O_WRONLY | O_CLOEXEC) })
        let number = file.rawValue
        let bytes = Array(text.utf8)
        try retryingOnInterrupt("write", path) { Glibc.write(number, bytes, bytes.count) }
    }

    /// Whether the path exists.
    public static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether this process may write to the path.
    public static func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

    /// The names of the subdirectories of a directory, sorted; empty if it cannot be read.
    public static func directories(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            guard entry.pointee.d_type == UInt8(DT_DIR) else { continue }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
