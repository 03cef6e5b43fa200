import Glibc

/// The kernel's small text files under `/sys`.
public enum AttributeFile {
    /// Reads an attribute, without blanks at both ends.
    ///
    /// - Returns: The text, at most 4 KiB; `nil` if the file does not exist.
    /// - Throws: The system call that failed, for example with `ENODEV` from the driver.
    public static func read(_ path: String) throws(SystemCallError) -> String? {
        let number: CInt
        do {
            number = try retryingOnInterrupt("open", path) { open(path, O_RDONLY | O_CLOEXEC) }
        } catch  where error.code == ENOENT || error.code == ENOTDIR {
            return nil
        }
        let descriptor = OwnedDescriptor(taking: number)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = try retryingOnInterrupt("read", path) {
            Glibc.read(descriptor.rawValue, &buffer, buffer.count)
        }
        let isBlank = { (byte: UInt8) in byte <= 0x20 }
        let text = buffer.prefix(count).drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        return String(decoding: Array(text), as: UTF8.self)
    }

    /// Lists the names in a directory, sorted.
    ///
    /// - Returns: The names; `nil` if the directory does not exist.
    /// - Throws: The system call that failed.
    public static func names(in directory: String) throws(SystemCallError) -> [String]? {
        guard let stream = opendir(directory) else {
            let code = errno
            if code == ENOENT || code == ENOTDIR { return nil }
            throw SystemCallError(call: "opendir", subject: directory, code: code)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: field.pointee)) {
                    String(cString: $0)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
