import Glibc
import Synchronization

/// The file of a control socket, in a checked directory.
///
/// A server binds ``boundPath`` and then calls ``publish()``. A shared socket is bound under another name and
/// renamed, so that it has its mode before another user can find it. Any other is bound under its own name,
/// which tools such as `ss` show for as long as the socket exists.
public struct ControlSocketFile: Sendable {
    /// The path at which clients look for the socket.
    public let path: String
    /// The path to which the server binds.
    public var boundPath: String { isShared ? path + ".new" : path }
    /// Whether other users may connect; the server then checks who they are.
    public let isShared: Bool

    /// The device and inode of the published file, so that ``remove()`` leaves the file of another host in
    /// place.
    private let published = Published()

    private final class Published: Sendable {
        let file = Mutex<(device: UInt, inode: UInt)?>(nil)
    }

    /// The largest number of bytes in the path: `sun_path` has 108 bytes with its terminator (unix(7)), and
    /// the temporary name must also fit.
    public static let maximumLength = 107 - ".new".utf8.count

    /// Prepares a socket file; this does not access the file system.
    ///
    /// - Throws: ``SocketFileError`` if the path is relative or too long.
    public init(path: String, isShared: Bool = false) throws(SocketFileError) {
        self.isShared = isShared
        guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw SocketFileError(
                path: path, finding: "it is not the absolute path of a file",
                remedy: "Give an absolute path that does not end with /")
        }
        guard path.utf8.count <= Self.maximumLength else {
            throw SocketFileError(
                path: path,
                finding:
                    "it has \(path.utf8.count) bytes; the limit for a socket's path is \(Self.maximumLength)",
                remedy: "Choose a shorter directory")
        }
        self.path = path
    }

    /// Creates the directory with mode 0700, or 0711 for a shared socket, if it is missing, and checks that
    /// no other user can replace its contents.
    ///
    /// - Throws: ``SocketFileError`` if it belongs to another user, is a symbolic link or may be written by
    ///   others.
    public func prepareDirectory() throws(SocketFileError) {
        let directory = self.directory
        do {
            try DirectoryTree.make(directory, mode: isShared ? 0o711 : 0o700)
            var status = stat()
            _ = try retryingOnInterrupt("lstat", directory) { lstat(directory, &status) }
            try check(status, of: directory)
        } catch let error as SystemCallError {
            throw SocketFileError(
                path: directory, finding: error.description,
                remedy: "Create the directory, or set 'paths.socket' (--socket) to a path in another one")
        } catch let error as SocketFileError {
            throw error
        } catch {
            throw SocketFileError(
                path: directory, finding: "\(error)",
                remedy: "Set 'paths.socket' (--socket) to a path in another directory")
        }
    }

    /// Whether a host accepts connections on the socket.
    ///
    /// - Throws: ``SocketFileError`` if the path is a file that is not a socket.
    public func isServed() throws(SocketFileError) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SocketFileError(
                path: path, finding: "the file exists and is not a socket",
                remedy: "Remove the file, or set 'paths.socket' (--socket) to another path")
        }
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return false }
        let descriptor = OwnedDescriptor(taking: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor.rawValue, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return connected == 0
    }

    /// Whether other users can reach the socket: everyone may pass through its directory.
    public var isReachable: Bool {
        var status = stat()
        return lstat(directory, &status) == 0 && status.st_mode & 0o001 != 0
    }

    /// Removes what a host that was killed left under ``boundPath``.
    ///
    /// Call it before the bind, if ``isServed()`` says that no host answers.
    public func makeRoom() { _ = unlink(boundPath) }

    /// Sets the mode of the bound socket to 0600, or 0666 for a shared one, which it renames to ``path``.
    ///
    /// - Throws: ``SystemCallError``.
    public func publish() throws(SystemCallError) {
        let bound = boundPath
        try retryingOnInterrupt("chmod", bound) { chmod(bound, isShared ? 0o666 : 0o600) }
        let file = identity(of: bound)
        if bound != path { try retryingOnInterrupt("rename", path) { rename(bound, path) } }
        published.file.withLock { $0 = file }
    }

    /// Removes the socket file, unless another host has replaced it.
    ///
    /// If this fails, an unused file remains, which the next host replaces.
    public func remove() {
        guard let own = published.file.withLock({ $0 }) else {
            // A socket that was not published is removed only under the name that clients don't look for.
            if isShared { _ = unlink(boundPath) }
            return
        }
        if let there = identity(of: path), there == own { _ = unlink(path) }
    }

    private func identity(of path: String) -> (device: UInt, inode: UInt)? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return (UInt(status.st_dev), UInt(status.st_ino))
    }

    private var directory: String {
        let parent = path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)
        return parent.isEmpty ? "/" : String(parent)
    }

    private func check(_ status: stat, of directory: String) throws(SocketFileError) {
        let own = geteuid()
        let finding: String
        if status.st_mode & S_IFMT != S_IFDIR {
            finding = "it is not a directory, or a symbolic link to one"
        } else if status.st_uid != own && status.st_uid != 0 {
            finding = "it belongs to user \(status.st_uid), but the host runs as user \(own)"
        } else if status.st_mode & 0o022 != 0 {
            finding = "other users can write to it (mode \(String(status.st_mode & 0o7777, radix: 8)))"
        } else {
            return
        }
        throw SocketFileError(
            path: directory, finding: finding,
            remedy: "Use a directory that only the host's user can write to; chmod go-w makes it one")
    }
}

/// Why a control socket cannot be created at a path.
public struct SocketFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The path of the socket or of its directory.
    public let path: String
    /// What is wrong, in words.
    public let finding: String
    /// What to do.
    public let remedy: String

    public init(path: String, finding: String, remedy: String) {
        self.path = path
        self.finding = finding
        self.remedy = remedy
    }

    /// The path, the finding and the remedy in one line.
    public var description: String { "\(path): \(finding). \(remedy)" }
}
