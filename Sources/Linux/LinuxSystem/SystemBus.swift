import CLinuxShims
import Glibc

/// The system's message bus, followed on a thread of its own.
///
/// The thread sleeps in the kernel. A bus that is missing or goes away is `absent` to every client and is
/// joined as soon as its socket comes into being: seen by inotify, not by asking again and again.
public final class SystemBus: Sendable {
    /// Whether this machine has a library that speaks to a bus.
    public static var isAvailable: Bool { lx_bus_load() == 0 }

    private let stop: CInt
    private let settled: CInt

    /// Starts the thread, which connects.
    ///
    /// - Parameters:
    ///   - address: Such as ``BusAddress/system``.
    ///   - clients: Who wants to know what; kept until ``cancel()``.
    /// - Throws: `eventfd`, where descriptors are exhausted.
    public init(address: String, clients: [any BusClient]) throws(SystemCallError) {
        let stopEvent = OwnedDescriptor(taking: try retryingOnInterrupt("eventfd", "bus") { lx_eventfd() })
        let settledEvent = OwnedDescriptor(
            taking: try retryingOnInterrupt("eventfd", "bus") { lx_eventfd() })
        stop = stopEvent.release()
        settled = settledEvent.release()
        let (stopNumber, settledNumber) = (stop, settled)
        BlockingThread.start(named: "bgtask-bus") {
            let loop = BusLoop(address: address, clients: clients, settled: settledNumber)
            loop.run(until: stopNumber)
        }
    }

    deinit { _ = close(settled) }

    /// Waits until every client has its first answer from its service; blocks its thread.
    ///
    /// - Parameter timeout: In milliseconds; a service that hangs is not waited for longer.
    public func waitUntilSettled(timeoutMilliseconds timeout: Int32) {
        var polled = pollfd(fd: settled, events: Int16(POLLIN), revents: 0)
        while poll(&polled, 1, timeout) < 0 && errno == EINTR {}
    }

    /// Ends the thread and the connection; a client's function that runs is not waited for.
    ///
    /// Call it once.
    public func cancel() { lx_eventfd_signal(stop) }
}
