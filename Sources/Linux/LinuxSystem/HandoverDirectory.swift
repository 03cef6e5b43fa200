import CLinuxShims
import Glibc

/// The directory in a bundle's data directory through which the host and the bundle exchange the files of
/// transfers.
///
/// The bundle can change it at any time, also replace it by a link. So every step goes by descriptors and
/// follows no link: the host reads only files of the bundle, and writes only where the bundle can write.
public struct HandoverDirectory: ~Copyable {
    /// The name of the directory.
    public static let name = ".transfers"

    private let directory: OwnedDescriptor
    private let path: String
    private let owner: uid_t
    private let group: gid_t

    /// Opens the directory, and creates it if it is missing; it then belongs to the owner of the data
    /// directory.
    ///
    /// - Parameter data: The data directory of the bundle, whose own path only the host can change.
    /// - Throws: The call that failed; `ENOTDIR` or `ELOOP` if the bundle has put something else in its
    ///   place.
    public init(in data: String) throws(SystemCallError) {
        let place = "\(data)/\(Self.name)"
        let parent = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", data) {
                Glibc.open(data, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            })
        let number = parent.rawValue
        var status = stat()
        try retryingOnInterrupt("fstat", data) { fstat(number, &status) }
        // If it exists, or can't be made, the next call says so.
        _ = lx_make_owned_at(number, Self.name, status.st_uid, status.st_gid, 0o700)
        let opened = try retryingOnInterrupt("open", place) {
            openat(number, Self.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        }
        directory = OwnedDescriptor(taking: opened)
        path = place
        (owner, group) = (status.st_uid, status.st_gid)
    }

    /// Puts a complete file into the directory, where it belongs to the owner of the data directory.
    ///
    /// - Parameters:
    ///   - source: A file whose contents are durable, in a directory of the host or of the program that makes
    ///     transfers. It stays, and gets the new owner, too.
    ///   - name: The name of the new file, without `/`; a file that is there is replaced.
    /// - Throws: The call that failed.
    public func put(_ source: String, as name: String) throws(SystemCallError) {
        try check(name)
        let file = try FileDelivery.openOwned(source, owner: owner, group: group, mode: 0o600)
        let folder = directory.rawValue
        let temporary = ".\(name).new"
        _ = unlinkat(folder, temporary, 0)
        do throws(SystemCallError) {
            if !FileDelivery.link(file, in: folder, as: temporary) {
                let copy = OwnedDescriptor(
                    taking: try retryingOnInterrupt("open", path) {
                        openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
                    })
                try FileDelivery.copy(file, named: source, to: copy, named: path)
                let written = copy.rawValue
                if geteuid() == 0 {
                    try retryingOnInterrupt("fchown", path) { fchown(written, owner, group) }
                }
            }
            try retryingOnInterrupt("rename", path) { renameat(folder, temporary, folder, name) }
            // A rename between two names of one file does nothing and keeps both.
            _ = unlinkat(folder, temporary, 0)
        } catch {
            _ = unlinkat(folder, temporary, 0)
            throw error
        }
        try retryingOnInterrupt("fsync", path) { fsync(folder) }
    }

    /// Opens a file to send.
    ///
    /// - Parameter name: The name of a file, without `/`.
    /// - Returns: The open file.
    /// - Throws: The call that failed; `EACCES` for a file that is not the bundle's alone: one of another
    ///   owner, or one with a further name, which could be outside the bundle's directories.
    public func open(_ name: String) throws(SystemCallError) -> SendingFile {
        try check(name)
        let folder = directory.rawValue
        let file = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", "\(path)/\(name)") {
                openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            })
        let number = file.rawValue
        var status = stat()
        try retryingOnInterrupt("fstat", path) { fstat(number, &status) }
        guard status.st_uid == owner, status.st_nlink == 1 else {
            throw SystemCallError(call: "open", subject: "\(path)/\(name)", code: EACCES)
        }
        return try SendingFile(taking: file, at: "\(path)/\(name)")
    }

    /// Removes a file, if it is there.
    public func remove(_ name: String) {
        guard (try? check(name)) != nil else { return }
        _ = unlinkat(directory.rawValue, name, 0)
    }

    private func check(_ name: String) throws(SystemCallError) {
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != ".", name != "..",
            !name.utf8.contains(0)
        else { throw SystemCallError(call: "open", subject: path, code: EINVAL) }
    }
}
