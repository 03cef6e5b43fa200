import Glibc

/// A lock on a file that the kernel releases when its process ends for any reason.
///
/// The file contains a text about the owner, for people. The lock belongs to an open file description
/// (flock), which is closed on exec. Any thread may hold the value. A file that an ended process left behind
/// does not prevent a new lock.
public struct FileLock: ~Copyable, Sendable {
    /// Why the lock was not taken.
    public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// Another open file holds the lock; `owner` is its owner's text, empty if none was written yet.
        case held(path: String, owner: String)
        /// The file cannot be opened or locked.
        case system(SystemCallError)

        /// The failure as a sentence.
        public var description: String {
            switch self {
            case .held(let path, let owner): "\(path) is held by \(owner.isEmpty ? "another process" : owner)"
            case .system(let error): error.description
            }
        }
    }

    /// The largest number of bytes of an owner text that is read.
    private static let maximumOwnerLength = 1024

    private let descriptor: OwnedDescriptor

    /// Takes the lock, or fails immediately.
    ///
    /// - Parameters:
    ///   - path: The file, which is created with mode 0600 if it does not exist. Symbolic links are refused.
    ///   - owner: The text to write into the file after the lock was taken; see ``ownerText(details:)``.
    /// - Throws: ``Failure``; then the lock is not held.
    public init(path: String, owner: String) throws(Failure) {
        let file = OwnedDescriptor(taking: try Self.open(path))
        try Self.lock(file.rawValue, path: path)
        try Self.write(owner, into: file.rawValue, path: path)
        descriptor = file
    }

    private static func open(_ path: String) throws(Failure) -> CInt {
        do throws(SystemCallError) {
            return try retryingOnInterrupt("open", path) {
                Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            }
        } catch {
            throw .system(error)
        }
    }

    private static func lock(_ descriptor: CInt, path: String) throws(Failure) {
        do throws(SystemCallError) {
            try retryingOnInterrupt("flock", path) { flock(descriptor, LOCK_EX | LOCK_NB) }
        } catch {
            if error.code == EWOULDBLOCK { throw .held(path: path, owner: readOwner(descriptor)) }
            throw .system(error)
        }
    }

    private static func write(_ owner: String, into descriptor: CInt, path: String) throws(Failure) {
        do throws(SystemCallError) {
            try retryingOnInterrupt("ftruncate", path) { ftruncate(descriptor, 0) }
            let text = Array((owner + "\n").utf8)
            try retryingOnInterrupt("pwrite", path) { pwrite(descriptor, text, text.count, 0) }
        } catch {
            // The text is only for people, so a full disk must not prevent the host from starting.
            if error.code != ENOSPC && error.code != EDQUOT { throw .system(error) }
        }
    }

    /// The number of the process that holds the lock on a file; `nil` if none does, or it can't be seen here.
    ///
    /// The process may end at any time, and its number can then belong to another one.
    public static func holder(of path: String) -> Int32? {
        var status = stat()
        guard lstat(path, &status) == 0, let locks = try? SmallFile.read("/proc/locks") else { return nil }
        // 8: FLOCK  ADVISORY  WRITE 4711 fe:00:16261986 0 EOF
        for line in locks.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 5, fields[1] == "FLOCK", fields[3] == "WRITE",
                fields[5].split(separator: ":").last == "\(status.st_ino)"[...]
            else { continue }
            return Int32(fields[4]).flatMap { $0 > 0 ? $0 : nil }
        }
        return nil
    }

    /// An owner text for this process: `pid 4711 (started 123456 clock ticks after boot), DETAILS`.
    public static func ownerText(details: String) -> String {
        let pid = getpid()
        let start = startTicks().map { " (started \($0) clock ticks after boot)" } ?? ""
        return "pid \(pid)\(start), \(details)"
    }

    private static func readOwner(_ descriptor: CInt) -> String {
        var bytes = [UInt8](repeating: 0, count: maximumOwnerLength)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return "" }
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        // Another user who can write the file must not be able to send control characters to a terminal that
        // shows the text.
        return String(
            text.prefix { $0 != "\n" }.map { $0.isASCII && ($0.asciiValue ?? 0) >= 0x20 ? $0 : "?" })
    }

    /// The start time of this process in clock ticks: field 22 of /proc/self/stat.
    ///
    /// The process number and the start time together identify the process, because numbers are reused.
    private static func startTicks() -> String? {
        let descriptor = Glibc.open("/proc/self/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let owned = OwnedDescriptor(taking: descriptor)
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(owned.rawValue, &bytes, bytes.count)
        // The name in parentheses may contain spaces, so count the fields after the last parenthesis, where
        // field 3 begins.
        guard count > 0, let end = bytes.prefix(count).lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[(end + 1)..<count].split(separator: UInt8(ascii: " "))
        guard fields.count > 19 else { return nil }
        return String(decoding: fields[19], as: UTF8.self)
    }
}
