import CLinuxShims
import Glibc
import Synchronization

/// Tells when pipes can be read, on a thread of its own.
///
/// A program that has a pipe can close its last write end and open the pipe again by `/proc/self/fd`. NIO
/// ends its process when a pipe has ended and then has nothing to read all the same, so the pipes of programs
/// that are not trusted are polled here.
public final class PipePoller: Sendable {
    private let descriptor: OwnedDescriptor
    private let pipes = Mutex(Pipes())

    private struct Pipes {
        var callbacks: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
    }

    /// Creates a poller, with a thread that lives as long as the process.
    ///
    /// - Throws: The `epoll_create1` that failed.
    public init() throws(SystemCallError) {
        descriptor = OwnedDescriptor(
            taking: try retryingOnInterrupt("epoll_create1", "") { lx_poller_create() })
        BlockingThread.start(named: "bgtask-pipes") { [self] in
            while true { wait() }
        }
    }

    private func wait() {
        var numbers = [UInt64](repeating: 0, count: 64)
        let count = lx_poller_wait(descriptor.rawValue, &numbers, CInt(numbers.count))
        for number in numbers.prefix(max(0, Int(count))) {
            let callback = pipes.withLock { $0.callbacks[number] }
            callback?()
        }
    }

    /// Adds a pipe; nothing is told before ``arm(_:_:)``, except once if the pipe has ended already.
    ///
    /// - Parameters:
    ///   - pipe: The read end, which must stay open until ``remove(_:_:)``.
    ///   - callback: Called on the poller's thread, once for each ``arm(_:_:)``, when the pipe can be read or
    ///     has ended.
    /// - Returns: The number of the pipe.
    /// - Throws: The `epoll_ctl` that failed.
    func add(_ pipe: CInt, _ callback: @escaping @Sendable () -> Void) throws(SystemCallError) -> UInt64 {
        let number = pipes.withLock { pipes in
            pipes.last += 1
            pipes.callbacks[pipes.last] = callback
            return pipes.last
        }
        do {
            try retryingOnInterrupt("epoll_ctl", "pipe") { lx_poller_add(descriptor.rawValue, pipe, number) }
        } catch {
            pipes.withLock { $0.callbacks[number] = nil }
            throw error
        }
        return number
    }

    /// Asks for the next time when a pipe can be read or has ended; that can be at once.
    func arm(_ pipe: CInt, _ number: UInt64) {
        // It can't fail: the pipe is open, and was added.
        _ = lx_poller_arm(descriptor.rawValue, pipe, number)
    }

    /// Removes a pipe; a callback that has begun can still run.
    func remove(_ pipe: CInt, _ number: UInt64) {
        pipes.withLock { $0.callbacks[number] = nil }
        _ = lx_poller_remove(descriptor.rawValue, pipe)
    }
}

/// The read end of a pipe, with reads that never wait for a writer.
///
/// Only one thread at a time may use it.
public final class PolledPipe: @unchecked Sendable {
    // Unchecked: the caller makes sure that only one thread uses it.
    private let descriptor: OwnedDescriptor
    private let poller: PipePoller
    private let number: UInt64

    /// What a read found.
    public enum Found: Equatable, Sendable {
        /// So many bytes, at least 1.
        case bytes(Int)
        /// Nothing at present.
        case nothing
        /// There is no writer, or the pipe can't be read. A program that has the pipe can still open it
        /// again.
        case end
    }

    /// Takes ownership of a read end, and makes it non-blocking.
    ///
    /// - Parameters:
    ///   - end: The read end.
    ///   - poller: What tells when it can be read.
    ///   - callback: Called on the poller's thread, once for each ``arm()``, when the pipe can be read or has
    ///     ended.
    /// - Throws: The system call that failed.
    public init(
        taking end: consuming OwnedDescriptor, polledBy poller: PipePoller,
        _ callback: @escaping @Sendable () -> Void
    ) throws(SystemCallError) {
        let raw = end.rawValue
        _ = fcntl(raw, F_SETFL, O_NONBLOCK)
        descriptor = end
        self.poller = poller
        number = try poller.add(raw, callback)
    }

    deinit { poller.remove(descriptor.rawValue, number) }

    /// Asks for the next callback.
    public func arm() { poller.arm(descriptor.rawValue, number) }

    /// Reads at most as many bytes as the buffer has.
    public func read(into buffer: UnsafeMutableRawBufferPointer) -> Found {
        while true {
            let count = Glibc.read(descriptor.rawValue, buffer.baseAddress, buffer.count)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            if errno == EINTR { continue }
            return errno == EAGAIN ? .nothing : .end
        }
    }
}
