import CLinuxShims
import Glibc

/// A report from the kernel that something changed; the receiver then reads the state again.
public enum KernelNotice: Equatable, Sendable {
    /// Something changed, or notices were lost.
    case changed
    /// No notices will come any more.
    case failed(SystemCallError)
}

/// A thread that waits for the kernel's broadcasts on a netlink socket.
///
/// An overflow of the socket counts as a change. ``cancel()`` ends the thread.
public final class KernelNotices: Sendable {
    private let stop: CInt

    /// Reports changes of links and routes in the caller's network namespace (rtnetlink).
    ///
    /// - Parameter handler: Called on the thread for each change; after ``KernelNotice/failed(_:)``, it is
    ///   not called any more.
    /// - Returns: The object that ends the thread.
    /// - Throws: The system call that failed.
    public static func routes(
        _ handler: @escaping @Sendable (KernelNotice) -> Void
    ) throws(SystemCallError) -> KernelNotices {
        // RTMGRP_LINK, RTMGRP_IPV4_ROUTE and RTMGRP_IPV6_ROUTE; the loss of the carrier is reported only for
        // the link.
        try KernelNotices(
            socket(0, groups: 0x1 | 0x40 | 0x400), name: "bgtask-routes", matching: nil, handler)
    }

    /// Reports that a thermal zone crossed a trip point (the kernel's generic netlink family `thermal`).
    ///
    /// - Parameter handler: Called on the thread, as for ``routes(_:)``.
    /// - Returns: The object that ends the thread.
    /// - Throws: The system call that failed; `ENOENT` if the kernel does not have this family (before Linux
    ///   5.9).
    public static func thermal(
        _ handler: @escaping @Sendable (KernelNotice) -> Void
    ) throws(SystemCallError) -> KernelNotices {
        let joined = try NetlinkFamily.join(family: "thermal", group: "event")
        return try KernelNotices(joined, name: "bgtask-thermal", matching: nil, handler)
    }

    /// Reports changes of the devices of one kernel subsystem, such as `power_supply`.
    ///
    /// - Parameters:
    ///   - subsystem: The name of the subsystem under `/sys/class`.
    ///   - handler: Called on the thread, as for ``routes(_:)``.
    /// - Returns: The object that ends the thread.
    /// - Throws: The system call that failed.
    public static func devices(
        of subsystem: String, _ handler: @escaping @Sendable (KernelNotice) -> Void
    ) throws(SystemCallError) -> KernelNotices {
        try KernelNotices(
            socket(15, groups: 1), name: "bgtask-uevents", matching: "SUBSYSTEM=\(subsystem)", handler)
    }

    private static func socket(_ number: CInt, groups: UInt32) throws(SystemCallError) -> OwnedDescriptor {
        OwnedDescriptor(
            taking: try retryingOnInterrupt("socket", "netlink \(number)") {
                lx_netlink_socket(number, groups)
            })
    }

    private init(
        _ socket: consuming OwnedDescriptor, name: String, matching field: String?,
        _ handler: @escaping @Sendable (KernelNotice) -> Void
    ) throws(SystemCallError) {
        let event = OwnedDescriptor(taking: try retryingOnInterrupt("eventfd", name) { lx_eventfd() })
        stop = event.release()
        let (socketDescriptor, stopDescriptor) = (socket.release(), stop)
        BlockingThread.start(named: name) {
            Self.watch(socket: socketDescriptor, stop: stopDescriptor, matching: field, handler)
        }
    }

    /// Ends the thread, without waiting for a running call of the handler; must be called only once.
    public func cancel() { lx_eventfd_signal(stop) }

    /// Waits on both descriptors until the stop event or an error, then closes them.
    private static func watch(
        socket: CInt, stop: CInt, matching field: String?, _ handler: (KernelNotice) -> Void
    ) {
        defer { _ = close(socket) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var polled = [socket, stop].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            if poll(&polled, 2, -1) < 0 {
                if errno == EINTR { continue }
                handler(.failed(SystemCallError(call: "poll", subject: "netlink", code: errno)))
                break
            }
            if polled[1].revents != 0 { break }
            let count = recv(socket, &buffer, buffer.count, CInt(MSG_DONTWAIT))
            let code = errno
            if count >= 0 {
                if field.map({ Self.contains($0, in: buffer.prefix(count)) }) ?? true { handler(.changed) }
            } else if code == ENOBUFS {
                handler(.changed)
            } else if code != EINTR && code != EAGAIN {
                handler(.failed(SystemCallError(call: "recv", subject: "netlink", code: code)))
                break
            }
        }
        // The stop event stays open until `cancel` was called; otherwise, `cancel` could write to a reused
        // descriptor.
        while poll(&polled[1], 1, -1) < 0 && errno == EINTR {}
        _ = close(stop)
    }

    /// Whether a message contains a string; each string in the message ends with a zero byte.
    static func contains(_ field: String, in message: ArraySlice<UInt8>) -> Bool {
        message.split(separator: 0).contains { $0.elementsEqual(field.utf8) }
    }
}
