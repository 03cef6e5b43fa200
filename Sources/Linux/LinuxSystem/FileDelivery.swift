import Glibc

/// Puts complete files into their places.
public enum FileDelivery {
    /// Puts a file into its place: durable, and never visible in part.
    ///
    /// The source stays, and gets the mode 0644 and this process's user. A file or link that is there already
    /// is replaced. If both places are on one file system, no byte is copied.
    ///
    /// - Parameters:
    ///   - source: A file whose contents are durable.
    ///   - place: The path of the new file; its directory must exist.
    ///   - mark: A name for the temporary file in that directory, which no other delivery uses.
    /// - Throws: The system call that failed; the temporary file is then removed. `EEXIST` if
    ///   there is something else than a file or a link in the place.
    public static func put(
        _ source: String, at place: String, mark: String
    ) throws(SystemCallError) {
        guard let directory = try deliver(source, at: place, mark: mark, mayCopy: true) else { return }
        try syncDirectory(directory)
    }

    /// Does the same as ``put(_:at:mark:)`` without copying; the file is durable after ``sync(_:)``.
    ///
    /// - Returns: The directory to sync; `nil` if the place is on another file system, and nothing was done.
    /// - Throws: As ``put(_:at:mark:)``.
    public static func link(
        _ source: String, at place: String, mark: String
    ) throws(SystemCallError) -> String? {
        try deliver(source, at: place, mark: mark, mayCopy: false)
    }

    /// Makes the names in a directory durable.
    ///
    /// - Throws: The system call that failed.
    public static func sync(_ directory: String) throws(SystemCallError) { try syncDirectory(directory) }

    private static func deliver(
        _ source: String, at place: String, mark: String, mayCopy: Bool
    ) throws(SystemCallError) -> String? {
        let parent = place.lastIndex(of: "/").map { String(place[..<$0]) } ?? ""
        let directory = parent.isEmpty ? "/" : parent
        guard canPut(at: place) else { throw SystemCallError(call: "rename", subject: place, code: EEXIST) }
        let file = try openOwned(source)
        let opened = file.rawValue
        var status = stat()
        try retryingOnInterrupt("fstat", source) { fstat(opened, &status) }
        // The inode is part of the name, because another host could deliver a file with the same mark to the
        // same directory.
        let temporary = "\(directory)/.bgtask-\(mark)-\(status.st_ino)"
        // A file with this name was left by a host that died.
        _ = unlink(temporary)
        // Most often nothing is in the place, and then no other name is needed: the bytes are all here.
        if link(file, in: AT_FDCWD, as: place) { return directory }
        do throws(SystemCallError) {
            if !link(file, in: AT_FDCWD, as: temporary) {
                if !mayCopy { return nil }
                let copied = OwnedDescriptor(
                    taking: try retryingOnInterrupt("open", temporary) {
                        open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
                    })
                try copy(file, named: source, to: copied, named: temporary)
            }
            try retryingOnInterrupt("rename", place) { rename(temporary, place) }
            // A rename between two names of one file does nothing and keeps both.
            _ = unlink(temporary)
        } catch {
            _ = unlink(temporary)
            throw error
        }
        return directory
    }

    /// Opens a complete file of a transfer, and gives it to its new owner.
    ///
    /// - Parameters:
    ///   - source: The path, in a directory that another user may be able to write.
    ///   - owner: The new owner.
    ///   - group: The new group.
    ///   - mode: The new permissions.
    /// - Returns: The file, open to read.
    /// - Throws: The call that failed; `EINVAL` for anything but a regular file, and for one that has another
    ///   owner and a further name.
    static func openOwned(
        _ source: String, owner: uid_t = geteuid(), group: gid_t = getegid(), mode: mode_t = 0o644
    ) throws(SystemCallError) -> OwnedDescriptor {
        let file = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", source) {
                open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            })
        let number = file.rawValue
        var status = stat()
        try retryingOnInterrupt("fstat", source) { fstat(number, &status) }
        // The user of the program that wrote the file could have linked another one here.
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == owner || status.st_nlink == 1 else {
            throw SystemCallError(call: "open", subject: source, code: EINVAL)
        }
        // The owner and the mode are set by the descriptor and not by the path: a process that may write the
        // directory could have put a link to another file there meanwhile.
        if status.st_uid != owner {
            try retryingOnInterrupt("fchown", source) { fchown(number, owner, group) }
        }
        try retryingOnInterrupt("fchmod", source) { fchmod(number, mode) }
        return file
    }

    /// Gives an open file another name, by its descriptor and not by its name, behind which another file
    /// could be by now.
    ///
    /// - Returns: Whether that succeeded.
    static func link(_ file: borrowing OwnedDescriptor, in directory: CInt, as name: String) -> Bool {
        linkat(AT_FDCWD, "/proc/self/fd/\(file.rawValue)", directory, name, AT_SYMLINK_FOLLOW) == 0
    }

    /// Whether a file may appear in this place: nothing is there, or a file or link, which
    /// ``put(_:at:mark:)`` replaces.
    ///
    /// A device, a pipe or a socket is not replaced: root could otherwise replace /dev/null.
    public static func canPut(at place: String) -> Bool {
        var status = stat()
        guard lstat(place, &status) == 0 else { return true }
        return [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT)
    }

    /// Copies all bytes of a file, durably.
    static func copy(
        _ from: borrowing OwnedDescriptor, named source: String, to: borrowing OwnedDescriptor,
        named copy: String
    ) throws(SystemCallError) {
        let (input, output) = (from.rawValue, to.rawValue)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try retryingOnInterrupt("read", source) {
                read(input, buffer.baseAddress, buffer.count)
            }
            if count == 0 { break }
            var written = 0
            while written < count {
                let offset = written
                written += try retryingOnInterrupt("write", copy) {
                    write(output, buffer.baseAddress?.advanced(by: offset), count - offset)
                }
            }
        }
        try retryingOnInterrupt("fsync", copy) { fsync(output) }
    }
}

/// An open file to send.
public final class SendingFile: Sendable {
    let descriptor: OwnedDescriptor
    /// The size when the file was opened, in bytes.
    public let size: Int64

    /// Opens a regular file.
    ///
    /// - Throws: The `open` or `fstat` that failed, such as `ENXIO` for a socket; `EINVAL` for a directory, a
    ///   device or a pipe.
    public convenience init(_ path: String) throws(SystemCallError) {
        let file = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", path) { open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) })
        try self.init(taking: file, at: path)
    }

    /// Takes a descriptor of a regular file; the path is for messages.
    init(taking file: consuming OwnedDescriptor, at path: String) throws(SystemCallError) {
        let number = file.rawValue
        var status = stat()
        try retryingOnInterrupt("fstat", path) { fstat(number, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SystemCallError(call: "open", subject: path, code: EINVAL)
        }
        descriptor = file
        size = Int64(status.st_size)
    }
}
