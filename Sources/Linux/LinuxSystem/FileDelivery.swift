import Glibc

/// Puts complete files into their places.
public enum FileDelivery {
    /// Puts a file into its place: durable, and never visible in part.
    ///
    /// The source stays, and gets the access of the new file: that of the file which it replaces, or else
    /// 0644 without the umask, and this process's user. A link is replaced itself. If both places are on one
    /// file system, no byte is copied.
    ///
    /// - Parameters:
    ///   - source: A file whose contents are durable.
    ///   - place: The path of the new file; its directory must exist, without links in its path.
    ///   - protected: A directory, without links in its path, in which no file may appear; `nil` for none.
    ///   - mark: A name for the temporary file in that directory, which no other delivery uses.
    /// - Throws: The system call that failed; the temporary file is then removed. `EEXIST` if
    ///   there is something else than a file or a link in the place, `ELOOP` for a link in the path of its
    ///   directory, ``SystemCallError/isOfProtectedPlace`` for a
    ///   place in the protected directory.
    public static func put(
        _ source: String, at place: String, outside protected: String? = nil, mark: String
    ) throws(SystemCallError) {
        let (path, name) = split(place)
        let directory = try PlaceDirectory(path)
        try check(directory, outside: protected, for: place)
        _ = try deliver(source, into: directory, as: name, at: place, mark: mark, mayCopy: true)
        try syncDirectory(path)
    }

    /// The directory of a place, and the name in it.
    static func split(_ place: String) -> (directory: String, name: String) {
        let bytes = place.utf8
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return ("/", place) }
        let name = String(place[bytes.index(after: slash)...])
        return (slash == bytes.startIndex ? "/" : String(place[..<slash]), name)
    }

    static func check(
        _ directory: borrowing PlaceDirectory, outside protected: String?, for place: String
    ) throws(SystemCallError) {
        if let root = protected, let found = directory.path, PathWalk.isInside(found, root) {
            throw .ofProtectedPlace(place)
        }
    }

    /// Puts a file into an open directory; it is durable after a sync of that.
    ///
    /// - Returns: Whether the file is in its place; false if it would have to be copied, and may not.
    static func deliver(
        _ source: String, into directory: borrowing PlaceDirectory, as name: String, at place: String,
        mark: String, mayCopy: Bool
    ) throws(SystemCallError) -> Bool {
        let folder = directory.number
        guard directory.facts(name).map(isReplaceable) ?? true else {
            throw SystemCallError(call: "rename", subject: place, code: EEXIST)
        }
        let access = FileAccess(replacing: name, in: directory)
        let file = try openOwned(source, owner: access.owner, group: access.group, mode: access.mode)
        let opened = file.rawValue
        var status = stat()
        try retryingOnInterrupt("fstat", source) { fstat(opened, &status) }
        // The inode is part of the name, because another host could deliver a file with the same mark to the
        // same directory.
        let temporary = ".bgtask-\(mark)-\(status.st_ino)"
        // A file with this name was left by a host that died.
        directory.remove(temporary)
        // Most often nothing is in the place, and then no other name is needed: the bytes are all here.
        if link(file, in: folder, as: name) { return true }
        do throws(SystemCallError) {
            if !link(file, in: folder, as: temporary) {
                if !mayCopy { return false }
                let copied = OwnedDescriptor(
                    taking: try retryingOnInterrupt("open", place) {
                        openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
                    })
                let number = copied.rawValue
                try copy(file, named: source, to: copied, named: place)
                if access.owner != geteuid() || access.group != getegid() {
                    try retryingOnInterrupt("fchown", place) { fchown(number, access.owner, access.group) }
                }
                try retryingOnInterrupt("fchmod", place) { fchmod(number, access.mode) }
            }
            try retryingOnInterrupt("rename", place) { renameat(folder, temporary, folder, name) }
            // A rename between two names of one file does nothing and keeps both.
            directory.remove(temporary)
        } catch {
            directory.remove(temporary)
            throw error
        }
        return true
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
    /// ``put(_:at:outside:mark:)`` replaces.
    ///
    /// A device, a pipe or a socket is not replaced: root could otherwise replace /dev/null.
    public static func canPut(at place: String) -> Bool {
        var status = stat()
        return lstat(place, &status) != 0 || isReplaceable(status)
    }

    private static func isReplaceable(_ status: stat) -> Bool {
        [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT)
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
    ///   device or a pipe; ``SystemCallError/isOfMadeUpFile`` for a file whose size the kernel does not tell.
    public convenience init(_ path: String) throws(SystemCallError) {
        let file = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", path) { open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) })
        try self.init(taking: file, at: path)
    }

    /// Opens a regular file by a path whose links were resolved before.
    ///
    /// Another user could have put a link there meanwhile, which would lead a host of root elsewhere.
    ///
    /// - Throws: As the other initializer does; `ELOOP` if there is a link in the path.
    public convenience init(withoutLinks path: String) throws(SystemCallError) {
        let (directory, name) = FileDelivery.split(path)
        let folder = try PlaceDirectory(directory)
        let number = folder.number
        let file = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", path) {
                openat(number, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
            })
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
        // Files of /proc say that they are empty, and are not. A file that was written meanwhile has a size.
        if status.st_size == 0 {
            var byte: UInt8 = 0
            let count = try retryingOnInterrupt("read", path) { pread(number, &byte, 1, 0) }
            try retryingOnInterrupt("fstat", path) { fstat(number, &status) }
            if count > 0, status.st_size == 0 { throw .ofMadeUpFile(path) }
        }
        descriptor = file
        size = Int64(status.st_size)
    }
}
