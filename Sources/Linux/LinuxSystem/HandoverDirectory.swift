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

    /// How the names of the copies begin that background sessions make of the files to send.
    private static let uploadPrefix = "upload-"

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

    /// Removes the copies for uploads that nothing will send, because the copy or the app was cut off.
    ///
    /// - Parameters:
    ///   - kept: The names of the files that will be sent.
    ///   - start: Seconds since 1970; files that were written in this second or later stay, because a task of
    ///     the present host may be writing them.
    /// - Returns: The names of the removed files.
    public func sweep(keeping kept: Set<String>, writtenBefore start: Int) -> [String] {
        let folder = directory.rawValue
        let own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0 else { return [] }
        guard let listing = fdopendir(own) else {
            close(own)
            return []
        }
        defer { closedir(listing) }
        var stale: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasPrefix(Self.uploadPrefix), !kept.contains(name) { stale.append(name) }
        }
        return stale.filter { name in
            var status = stat()
            // Unlike the time of the contents, a program can't set this one.
            guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_ctim.tv_sec < start
            else { return false }
            return unlinkat(folder, name, 0) == 0
        }
    }

    private func check(_ name: String) throws(SystemCallError) {
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != ".", name != "..",
            !name.utf8.contains(0)
        else { throw SystemCallError(call: "open", subject: path, code: EINVAL) }
    }
}
