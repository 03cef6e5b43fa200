import Glibc

/// Attributes that distinguish versions of a file without reading it.
public struct FileIdentity: Equatable, Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    /// The size in bytes.
    public let size: Int64
    let modified: [Int64]
    let changed: [Int64]
    /// The permission bits.
    public let mode: UInt32
    /// Whether the file is a regular file.
    public let isRegular: Bool

    /// Reads the attributes of a file; links are followed.
    ///
    /// - Throws: The `stat` that failed.
    public init(of path: String) throws(SystemCallError) {
        var status = stat()
        try retryingOnInterrupt("stat", path) { stat(path, &status) }
        self.init(status)
    }

    /// Reads the attributes of a directory entry; for a link, those of the link itself.
    ///
    /// - Throws: The `lstat` that failed.
    public init(ofEntry path: String) throws(SystemCallError) {
        var status = stat()
        try retryingOnInterrupt("lstat", path) { lstat(path, &status) }
        self.init(status)
    }

    private init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = [Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec)]
        changed = [Int64(status.st_ctim.tv_sec), Int64(status.st_ctim.tv_nsec)]
        mode = UInt32(status.st_mode) & 0o7777
        isRegular = status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG)
    }

    /// When the file was last written to, since 1970.
    public var modificationTime: Duration {
        .seconds(modified.first ?? 0) + .nanoseconds(modified.last ?? 0)
    }

    /// Whether both are the same file, whatever was written to it.
    public func isSameInode(as other: FileIdentity) -> Bool {
        device == other.device && inode == other.inode
    }

    /// Whether both are the same file with unchanged contents; the number of links, the owner and the mode
    /// may differ.
    public func hasSameContents(as other: Self) -> Bool {
        device == other.device && inode == other.inode && size == other.size && modified == other.modified
    }

    /// Whether any change from now on will change the file's times.
    ///
    /// The kernel's time stamps advance in steps of up to 10 ms, so a second change soon after a first one
    /// may not be visible.
    public var isSettled: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age = (Int64(now.tv_sec) - changed[0]) * 1_000_000_000 + Int64(now.tv_nsec) - changed[1]
        return age > 100_000_000
    }
}

/// Functions that read and write whole files.
public enum FileContents {
    /// Whether the process runs as root.
    public static var isRoot: Bool { geteuid() == 0 }

    /// What is at a path where a regular file was expected, such as `a FIFO`; links are followed.
    ///
    /// - Parameter path: The path of the file.
    /// - Returns: The words; `nil` for a regular file, or if nothing can be seen there.
    public static func otherKind(at path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return switch status.st_mode & mode_t(S_IFMT) {
        case mode_t(S_IFREG): nil
        case mode_t(S_IFDIR): "a directory"
        case mode_t(S_IFIFO): "a FIFO"
        case mode_t(S_IFSOCK): "a socket"
        default: "a device"
        }
    }

    /// Reads a regular file.
    ///
    /// - Parameters:
    ///   - path: The path of the file; links are followed.
    ///   - limit: The largest number of bytes; if the file is longer, one more byte is read, so that callers
    ///     can detect it.
    /// - Returns: The bytes.
    /// - Throws: The call that failed; `EISDIR` or `EINVAL` if the path is not a regular file.
    public static func read(_ path: String, limit: Int = .max) throws(SystemCallError) -> [UInt8] {
        // O_NONBLOCK, because opening a FIFO would wait for a writer.
        let number = try retryingOnInterrupt("open", path) {
            open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        }
        let file = OwnedDescriptor(taking: number)
        var status = stat()
        try retryingOnInterrupt("fstat", path) { fstat(file.rawValue, &status) }
        guard status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) else {
            throw SystemCallError(call: "open", subject: path, code: EINVAL)
        }
        var bytes: [UInt8] = []
        let most = limit == .max ? Int.max : limit + 1
        bytes.reserveCapacity(min(most, Int(status.st_size) + 1))
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < most {
            let wanted = min(chunk.count, most - bytes.count)
            let count = try retryingOnInterrupt("read", path) { Glibc.read(file.rawValue, &chunk, wanted) }
            if count == 0 { break }
            bytes.append(contentsOf: chunk.prefix(count))
        }
        return bytes
    }

    /// Reads a regular file that may not be larger than a limit.
    ///
    /// - Throws: Like ``read(_:limit:)``; `EFBIG` if the file has more than `most` bytes.
    public static func read(_ path: String, atMost most: Int) throws(SystemCallError) -> [UInt8] {
        let bytes = try read(path, limit: most)
        guard bytes.count <= most else { throw SystemCallError(call: "read", subject: path, code: EFBIG) }
        return bytes
    }

    /// Creates a hard link to a file.
    ///
    /// - Throws: The `link` that failed: `EXDEV` for a link to another file system, `EPERM` if the kernel
    ///   protects files of other users.
    public static func link(_ path: String, to other: String) throws(SystemCallError) {
        try retryingOnInterrupt("link", "\(path), \(other)") { Glibc.link(path, other) }
    }

    /// Creates a file, writes it and syncs it.
    ///
    /// - Throws: The call that failed; `EEXIST` if the path already exists.
    public static func create(_ path: String, _ bytes: [UInt8], mode: UInt32) throws(SystemCallError) {
        let number = try retryingOnInterrupt("open", path) {
            open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode))
        }
        let file = OwnedDescriptor(taking: number)
        var offset = 0
        while offset < bytes.count {
            offset += try retryingOnInterrupt("write", path) {
                bytes.withUnsafeBytes {
                    write(file.rawValue, $0.baseAddress?.advanced(by: offset), bytes.count - offset)
                }
            }
        }
        // The umask may have removed permission bits.
        try retryingOnInterrupt("fchmod", path) { fchmod(file.rawValue, mode_t(mode)) }
        try retryingOnInterrupt("fsync", path) { fsync(file.rawValue) }
    }
}

extension DirectoryTree {
    /// Lists the names in a directory, sorted by bytes, without `.` and `..`.
    ///
    /// - Throws: The `opendir` that failed.
    public static func names(in path: String) throws(SystemCallError) -> [String] {
        guard let directory = opendir(path) else {
            throw SystemCallError(call: "opendir", subject: path, code: errno)
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Creates a directory with a unique name: `prefix` followed by six characters.
    ///
    /// - Throws: The `mkdtemp` that failed.
    public static func makeUnique(prefix: String) throws(SystemCallError) -> String {
        var template = Array((prefix + "XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemCallError(call: "mkdtemp", subject: prefix, code: errno)
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Sets a directory's permissions.
    ///
    /// - Throws: The `chmod` that failed.
    public static func setMode(_ path: String, _ mode: UInt32) throws(SystemCallError) {
        try retryingOnInterrupt("chmod", path) { chmod(path, mode_t(mode)) }
    }

    /// Removes a file or link; if it does not exist, nothing happens.
    ///
    /// - Throws: The `unlink` that failed.
    public static func removeFile(_ path: String) throws(SystemCallError) {
        do {
            try retryingOnInterrupt("unlink", path) { unlink(path) }
        } catch  where error.code == ENOENT {
            return
        }
    }

    /// Removes files or links in a directory; those that do not exist are passed by.
    ///
    /// - Parameters:
    ///   - directory: The directory, which is found once for all files.
    ///   - files: The names of files, grouped by what they belong to.
    /// - Returns: The groups with a file that could not be removed, and the first call that failed for each.
    public static func removeFiles<Key>(
        in directory: String, _ files: [(key: Key, names: [String])]
    ) -> [(key: Key, error: SystemCallError)] {
        do throws(SystemCallError) {
            let folder = OwnedDescriptor(
                taking: try retryingOnInterrupt("open", directory) {
                    open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                })
            let number = folder.rawValue
            var failed: [(key: Key, error: SystemCallError)] = []
            for (key, names) in files {
                let error = names.lazy.compactMap { remove($0, in: number, named: directory) }.first
                if let error { failed.append((key, error)) }
            }
            return failed
        } catch {
            return error.code == ENOENT ? [] : files.map { ($0.key, error) }
        }
    }

    private static func remove(
        _ name: String, in directory: CInt, named path: String
    ) -> SystemCallError? {
        do throws(SystemCallError) {
            try retryingOnInterrupt("unlink", "\(path)/\(name)") { unlinkat(directory, name, 0) }
        } catch {
            return error.code == ENOENT ? nil : error
        }
        return nil
    }

    /// Renames a file or directory; an existing file with the new name is replaced.
    ///
    /// - Returns: False if the new name is a directory that is not empty.
    /// - Throws: The `rename` that failed for another reason.
    public static func rename(_ path: String, to other: String) throws(SystemCallError) -> Bool {
        do {
            try retryingOnInterrupt("rename", "\(path), \(other)") { Glibc.rename(path, other) }
            return true
        } catch  where error.code == EEXIST || error.code == ENOTEMPTY {
            return false
        }
    }
}
