import CLinuxShims
import Glibc

/// A reference to one process, which never refers to another process that gets the same number.
public final class ProcessHandle: Sendable {
    private let descriptor: CInt

    /// Refers to a process by its number.
    ///
    /// The process must be a child that was not reaped, or something else must ensure that it is not reaped.
    ///
    /// - Throws: The `pidfd_open` that failed, for example because the process does not exist.
    public init(of pid: Int32) throws(SystemCallError) {
        descriptor = try retryingOnInterrupt("pidfd_open", "pid \(pid)") { lx_pidfd_open(pid, 0) }
    }

    /// Takes ownership of a pidfd from another process.
    public init(taking pidfd: consuming OwnedDescriptor) {
        descriptor = pidfd.release()
    }

    deinit {
        _ = close(descriptor)
    }

    /// A number that no other process gets before the machine starts again; `nil` on kernels before 6.9.
    public var identity: UInt64? {
        // Since 6.9 a pidfd is a file of its own file system, whose inodes are processes. The older kind has
        // one inode for all.
        guard Self.hasIdentities else { return nil }
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    private static let hasIdentities: Bool = {
        guard let own = try? ProcessHandle(of: getpid()) else { return false }
        return lx_is_on_pidfs(own.descriptor)
    }()

    /// Sends a signal; if the process has ended, nothing happens.
    public func signal(_ number: Int32) {
        _ = lx_pidfd_send_signal(descriptor, number)
    }

    /// Sends SIGKILL; if the process has ended, nothing happens.
    public func kill() {
        signal(SIGKILL)
    }

    /// Waits until the process has ended; blocks the thread.
    ///
    /// - Parameter timeout: The longest wait in milliseconds; -1 waits without a limit.
    /// - Returns: Whether the process has ended.
    public func waitForEnd(timeoutMilliseconds timeout: Int32) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let count = poll(&polled, 1, timeout)
            if count < 0 && errno == EINTR { continue }
            return count > 0
        }
    }

    /// What a signal did to a child that goes on to exist.
    public enum Pause: Equatable, Sendable {
        /// A signal such as SIGSTOP stopped it.
        case stopped
        /// SIGCONT continued it.
        case continued
    }

    /// Waits until a signal stops or continues a child of this process; blocks the thread.
    ///
    /// Only one thread may wait for a child in this way. The end of the child is left to ``reap()``. The
    /// kernel reports the stops of a traced child to its tracer instead.
    ///
    /// - Returns: The pause; `nil` if the child has ended.
    public func waitForPause() -> Pause? {
        switch lx_wait_for_pause(descriptor) {
        case 1: .stopped
        case 2: .continued
        default: nil
        }
    }

    /// Waits until a child of this process has ended, and reaps it; blocks the thread.
    ///
    /// - Returns: The wait status, as `waitpid` returns it.
    /// - Throws: The `waitid` that failed, because the process is not a child or was already reaped.
    @discardableResult
    public func reap() throws(SystemCallError) -> Int32 {
        var status: CInt = 0
        let number = descriptor
        try retryingOnInterrupt("waitid", "pidfd") { lx_reap(number, &status) }
        return status
    }
}

/// The number of processor cores.
public enum ProcessorCount {
    /// The number of cores that this process may use, at least 1.
    public static var available: Int { Int(lx_core_count()) }
}
