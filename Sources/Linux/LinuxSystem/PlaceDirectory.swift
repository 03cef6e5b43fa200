import Glibc

/// The open directory in which a file is to appear.
///
/// Its path was resolved when the file was requested. Another user who may write a directory on the way could
/// have put a link there meanwhile, which would lead a host of root elsewhere. So no link is followed.
struct PlaceDirectory: ~Copyable {
    private let descriptor: OwnedDescriptor

    /// The number of the descriptor, which is valid as long as this value.
    var number: CInt { descriptor.rawValue }

    /// Opens a directory.
    ///
    /// - Parameter path: An absolute path without links.
    /// - Throws: The `open` that failed; `ELOOP` if there is a link in the path.
    init(_ path: String) throws(SystemCallError) {
        var directory = OwnedDescriptor(taking: try Self.open("/", in: AT_FDCWD, for: path))
        for name in path.split(separator: "/") where name != "." {
            directory = OwnedDescriptor(
                taking: try Self.open(String(name), in: directory.rawValue, for: path))
        }
        descriptor = directory
    }

    private static func open(
        _ name: String, in directory: CInt, for path: String
    ) throws(SystemCallError) -> CInt {
        let number = openat(directory, name, reference | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        let code = errno
        if number >= 0 { return number }
        // For a link, the kernel says that it is no directory.
        let isLink = facts(name, in: directory).map { $0.st_mode & S_IFMT == S_IFLNK } ?? false
        throw SystemCallError(call: "open", subject: path, code: isLink ? ELOOP : code)
    }

    /// `O_PATH`, which Swift does not import: a directory on the way need not be readable.
    private static let reference: CInt = 0o10_000_000

    /// What is in the directory under a name; `nil` for nothing.
    func facts(_ name: String) -> stat? { Self.facts(name, in: number) }

    private static func facts(_ name: String, in directory: CInt) -> stat? {
        var status = stat()
        return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Where the directory is now; `nil` if the kernel does not say so.
    var path: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(number)", &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes a name, if it is there.
    func remove(_ name: String) { _ = unlinkat(number, name, 0) }
}
