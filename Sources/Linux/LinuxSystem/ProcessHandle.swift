import CLinuxShims
import Glibc

/// A hold on one process that cannot come to mean another one.
public final class ProcessHandle: Sendable {
    private let descriptor: CInt

    /// Takes hold of a child that has not been reaped, or of a process that something else keeps from being
    /// reaped.
    ///
    /// - Throws: `pidfd_open`, where there is no such process.
    public init(of pid: Int32) throws(SystemCallError) {
        descriptor = try retryingOnInterrupt("pidfd_open", "pid \(pid)") { lx_pidfd_open(pid, 0) }
    }

    /// Takes over a pidfd that another process passed.
    public init(taking pidfd: consuming OwnedDescriptor) {
        descriptor = pidfd.release()
    }

    deinit {
        _ = close(descriptor)
    }

    /// Sends a signal; it is not an error if the process has ended.
    public func signal(_ number: Int32) {
        _ = lx_pidfd_send_signal(descriptor, number)
    }

    /// Sends SIGKILL; it is not an error if the process has ended.
    public func kill() {
        signal(SIGKILL)
    }

    /// Waits until the process has ended; blocks its thread.
    ///
    /// - Parameter timeout: In milliseconds; -1 waits without a limit.
    /// - Returns: Whether it has ended.
    public func waitForEnd(timeoutMilliseconds timeout: Int32) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let count = poll(&polled, 1, timeout)
            if count < 0 && errno == EINTR { continue }
            return count > 0
        }
    }

    /// Reaps a child of this process, waiting for its end; blocks its thread.
    ///
    /// - Returns: Its wait status, as `waitpid` gives it.
    /// - Throws: `waitid`, where it is not our child or was reaped already.
    @discardableResult
    public func reap() throws(SystemCallError) -> Int32 {
        var status: CInt = 0
        let number = descriptor
        try retryingOnInterrupt("waitid", "pidfd") { lx_reap(number, &status) }
        return status
    }
}

/// Facts of the machine that belong to processes.
public enum ProcessorCount {
    /// The cores that this process may use; 1 at least.
    public static var available: Int { Int(lx_core_count()) }
}
