import Glibc

/// Puts complete files into their places.
public enum FileDelivery {
    /// Puts a file into its place: durable, and never visible in part.
    ///
    /// The source stays, and gets the mode 0644. A file or link that is there already is replaced. If both
    /// places are on one file system, no byte is copied.
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
        let parent = place.lastIndex(of: "/").map { String(place[..<$0]) } ?? ""
        let directory = parent.isEmpty ? "/" : parent
        guard canPut(at: place) else { throw SystemCallError(call: "rename", subject: place, code: EEXIST) }
        let file = OwnedDescriptor(
            taking: try retryingOnInterrupt("open", source) {
                open(source, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            })
        let number = file.rawValue
        var status = stat()
        try retryingOnInterrupt("fstat", source) { fstat(number, &status) }
        // The mode is set by the descriptor and not by the path: a process that may write the directory could
        // have put a link to another file there meanwhile.
        try retryingOnInterrupt("fchmod", source) { fchmod(number, 0o644) }
        // The inode is part of the name, because another host could deliver a file with the same mark to the
        // same directory.
        let temporary = "\(directory)/.bgtask-\(mark)-\(status.st_ino)"
        // A file with this name was left by a host that died.
        _ = unlink(temporary)
        do throws(SystemCallError) {
            if link(source, temporary) != 0 {
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
        try syncDirectory(directory)
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
