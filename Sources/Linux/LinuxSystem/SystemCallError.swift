import CLinuxShims
import Glibc

/// A system call that failed: which, on what, and the kernel's reason.
public struct SystemCallError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The call's name.
    public let call: String
    /// What it was called on: a path, a process.
    public let subject: String
    /// `errno`.
    public let code: CInt

    /// Makes an error; `code` is read by the caller on the line after the call.
    public init(call: String, subject: String, code: CInt) {
        self.call = call
        self.subject = subject
        self.code = code
    }

    /// `pidfd_open(pid 4711): No such process (3)`.
    public var description: String { "\(call)(\(subject)): \(Self.text(of: code)) (\(code))" }

    /// Whether a device's driver reports that it can't be read just now: it sleeps, or has no value yet.
    public var isOfSleepingDevice: Bool { code == EAGAIN || code == ENODATA || code == EINVAL }

    /// Whether what was to be made is there already.
    public var isExisting: Bool { code == EEXIST }

    /// The kernel's sentence for an `errno`.
    public static func text(of code: CInt) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard lx_strerror(code, &buffer, buffer.count) == 0 else { return "unknown error" }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Makes a call that reports failure as -1, again after every `EINTR`.
///
/// Never inlined: no reference counting may run between the call and the read of `errno`.
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
