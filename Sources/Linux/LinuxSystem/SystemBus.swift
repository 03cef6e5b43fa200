import CLinuxShims
import Glibc

/// A connection to the system's message bus, on its own thread.
///
/// While there is no bus, every client's service is `absent`. The thread then waits with inotify for the
/// bus's socket, and connects as soon as it appears.
public final class SystemBus: Sendable {
    /// Whether this machine has a library for message buses (libsystemd or elogind).
    public static var isAvailable: Bool { lx_bus_load() == 0 }

    private let stop: CInt
    private let settled: CInt

    /// Starts the thread, which connects to the bus.
    ///
    /// - Parameters:
    ///   - address: The address of the bus, such as ``BusAddress/system``.
    ///   - clients: The clients that follow services; retained until ``cancel()``.
    /// - Throws: The `eventfd` that failed, for example because too many descriptors are open.
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

    /// Waits until every client has received the first state of its service; blocks the thread.
    ///
    /// - Parameter timeout: The longest wait in milliseconds, in case a service does not answer.
    public func waitUntilSettled(timeoutMilliseconds timeout: Int32) {
        var polled = pollfd(fd: settled, events: Int16(POLLIN), revents: 0)
        while poll(&polled, 1, timeout) < 0 && errno == EINTR {}
    }

    /// Ends the thread and the connection, without waiting for a running method of a client.
    ///
    /// Call this only once.
    public func cancel() { lx_eventfd_signal(stop) }
}
