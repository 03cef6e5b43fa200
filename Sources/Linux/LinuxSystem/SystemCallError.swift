import CLinuxShims
public import Glibc

/// A system call that failed, with its subject and the reason.
public struct SystemCallError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The name of the call.
    public let call: String
    /// The path or process on which the call was made.
    public let subject: String
    /// The error number (`errno`).
    public let code: CInt

    /// Creates an error; the caller must read `errno` immediately after the call.
    public init(call: String, subject: String, code: CInt) {
        self.call = call
        self.subject = subject
        self.code = code
    }

    /// A description such as `pidfd_open(pid 4711): No such process (3)`.
    public var description: String { "\(call)(\(subject)): \(Self.text(of: code)) (\(code))" }

    /// Whether the error means that a device cannot be read now, because it sleeps or has no value yet.
    public var isOfSleepingDevice: Bool { code == EAGAIN || code == ENODATA || code == EINVAL }

    /// Whether the system or the user lacks descriptors, processes, memory or disk space at present, so that
    /// the same call can succeed later.
    public var isShortage: Bool { [EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT].contains(code) }

    /// Whether a process that writes to a program keeps others from executing it (`ETXTBSY`).
    public var isBusyProgram: Bool { code == ETXTBSY }

    /// Whether a wait on a socket took longer than its limit.
    public var isTimeout: Bool { code == EAGAIN || code == EWOULDBLOCK }

    /// Whether the file system is full, or the quota of the user is used up.
    public var isFullDisk: Bool { code == ENOSPC || code == EDQUOT }

    /// Whether there is no file with the path (`ENOENT`, `ENOTDIR`).
    public var isOfMissingFile: Bool { code == ENOENT || code == ENOTDIR }

    /// Whether the error means that the reader of a pipe has closed it.
    public var isBrokenPipe: Bool { code == EPIPE }

    /// Whether the error means that the file to create already exists.
    public var isExisting: Bool { code == EEXIST }

    /// Whether a directory is where a file was expected (`EISDIR`).
    public var isOfDirectory: Bool { code == EISDIR }

    /// Whether something else, such as a link that is not followed, was where a directory was expected
    /// (`ENOTDIR`).
    public var isOfNoDirectory: Bool { code == ENOTDIR }

    /// Whether a path or a name in it is longer than the file system permits (`ENAMETOOLONG`).
    public var isOfLongName: Bool { code == ENAMETOOLONG }

    /// Whether directories are nested too deep for a walk, or links lead to links without end (`ELOOP`).
    public var isTooDeep: Bool { code == ELOOP }

    /// Whether ``FileDelivery`` refused a place in the protected directory.
    public var isOfProtectedPlace: Bool { call == Self.protection }

    private static let protection = "protect"

    static func ofProtectedPlace(_ place: String) -> SystemCallError {
        SystemCallError(call: protection, subject: place, code: EPERM)
    }

    /// Whether ``SendingFile`` refused a file because the kernel makes up its contents when they are read,
    /// and so does not tell its size.
    public var isOfMadeUpFile: Bool { call == Self.measurement }

    private static let measurement = "measure"

    static func ofMadeUpFile(_ path: String) -> SystemCallError {
        SystemCallError(call: measurement, subject: path, code: ENODATA)
    }

    /// The error number of a call that the permissions of a file forbid (`EACCES`).
    public static var accessDenied: CInt { EACCES }

    /// The error number of an address that another socket has.
    public static var addressInUse: CInt { EADDRINUSE }

    /// The system's description of an error, such as `No such file or directory`.
    public static func text(of code: POSIXErrorCode) -> String { text(of: code.rawValue) }

    /// The system's description of an error number.
    public static func text(of code: CInt) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard lx_strerror(code, &buffer, buffer.count) == 0 else { return "unknown error" }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Makes a call that returns -1 on failure, and repeats it while it fails with `EINTR`.
///
/// The function is never inlined, because no reference counting may run between the call and the read of
/// `errno`.
@inline(never)
@discardableResult
public func retryingOnInterrupt<Result: FixedWidthInteger>(
    _ call: String, _ subject: @autoclosure () -> String, _ body: () -> Result
) throws(SystemCallError) -> Result {
    while true {
        let result = body()
        let code = errno
        if result != -1 { return result }
        if code == EINTR { continue }
        throw SystemCallError(call: call, subject: subject(), code: code)
    }
}
