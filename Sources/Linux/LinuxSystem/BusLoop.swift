import CLinuxShims
import Glibc
import TaskModel

/// The state of the bus thread: the connection, a mirror of each service, and the calls that wait for a
/// reply.
///
/// Only the bus thread may use it.
final class BusLoop {
    /// The names of the bus itself, which is also a service, and of the interface for properties.
    static let busName = "org.freedesktop.DBus"
    static let bus = BusObject(path: "/org/freedesktop/DBus", interface: busName)
    static let properties = "org.freedesktop.DBus.Properties"
    /// The shortest time between two reads of a service's properties, even if it sends signals continuously.
    static let refreshInterval = Duration.milliseconds(50)
    /// Pauses in ms between attempts to connect.
    ///
    /// After them, the thread waits for a change of the socket's directory, or repeats the last pause if that
    /// directory cannot be watched.
    private static let pauses: [CInt] = [0, 50, 100, 200, 400, 800, 60_000]

    private let address: String
    private let settled: CInt
    private var connection: OpaquePointer?
    private var attempts = 0
    private var lastReply: UInt64 = 0
    private var replies: [UInt64: ([BusValue]?) -> Void] = [:]
    private var mirrors: [ServiceMirror] = []
    private var isSettled = false

    init(address: String, clients: [any BusClient], settled: CInt) {
        self.address = address
        self.settled = settled
        mirrors = clients.map { ServiceMirror($0, loop: self) }
        if mirrors.isEmpty { settle() }
    }

    /// Follows the bus until the event `stop` is signalled, then closes `stop`.
    func run(until stop: CInt) {
        var sockets = BusSocketWatch(address: address)
        while true {
            if connection == nil { connect(&sockets) }
            guard let isSocketNews = wait(stop, sockets.descriptor) else { break }
            if isSocketNews {
                sockets.drain()
                if connection == nil { attempts = 0 }
            }
            process()
            let now = SystemClocks().now().monotonic
            for mirror in mirrors { mirror.timePassed(now) }
        }
        disconnect()
        for mirror in mirrors { mirror.loop = nil }
        _ = close(stop)
    }

    private func connect(_ sockets: inout BusSocketWatch) {
        // The watch comes before the attempt, so that a socket that appears in between is not missed.
        sockets.rewatch()
        let isLastPause = attempts == Self.pauses.count - 1
        if !sockets.mayExist || lx_bus_load() < 0 {
            attempts = Self.pauses.count - 1
        } else {
            let context = Unmanaged.passUnretained(self).toOpaque()
            let code = lx_bus_open(address, Self.onMessage, context, &connection)
            if code < 0 { connection = nil }
            if !isLastPause { attempts += 1 }
        }
        guard connection != nil else {
            for mirror in mirrors { mirror.ownerChanged(to: nil) }
            return
        }
        for mirror in mirrors { mirror.introduce() }
    }

    private func disconnect() {
        guard let old = connection else { return }
        connection = nil
        lx_bus_close(old)
        let due = replies.values
        replies = [:]
        for reply in due { reply(nil) }
        for mirror in mirrors { mirror.ownerChanged(to: nil) }
    }

    /// Waits until there is something to do.
    ///
    /// - Returns: Whether the socket's directory changed; `nil` if the thread must stop.
    private func wait(_ stop: CInt, _ sockets: CInt) -> Bool? {
        var entries = [
            pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
            pollfd(fd: connection == nil ? sockets : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: -1, events: 0, revents: 0),
        ]
        var timeout: CInt = -1
        if let connection {
            var (descriptor, events): (CInt, CShort) = (-1, 0)
            if lx_bus_poll(connection, &descriptor, &events, &timeout) < 0 {
                disconnect()
                return false
            }
            entries[2] = pollfd(fd: descriptor, events: events, revents: 0)
        } else if attempts < Self.pauses.count - 1 || (sockets < 0 && SystemBus.isAvailable) {
            timeout = Self.pauses[attempts]
        }
        let now = SystemClocks().now().monotonic
        for due in mirrors.compactMap(\.refreshAt) {
            let left = CInt(clamping: max(0, (due - now).wholeMilliseconds + 1))
            timeout = timeout < 0 ? left : min(timeout, left)
        }
        if poll(&entries, nfds_t(entries.count), timeout) < 0 { return false }
        return entries[0].revents != 0 ? nil : entries[1].revents != 0
    }

    private func process() {
        while let connection {
            let code = lx_bus_process(connection)
            if code < 0 { return disconnect() }
            if code == 0 { return }
        }
    }

    private static let onMessage: lx_bus_handler = { context, message, reply, code in
        guard let context, let message else { return }
        let loop = Unmanaged<BusLoop>.fromOpaque(context).takeUnretainedValue()
        if reply == 0 { loop.received(message) } else { loop.answered(reply, message, code) }
    }

    private func answered(_ number: UInt64, _ message: OpaquePointer, _ code: CInt) {
        // The bus answered, so the next loss of the connection begins with short pauses again.
        attempts = 0
        guard let reply = replies.removeValue(forKey: number) else { return }
        reply(code == 0 ? BusReader(message: message).arguments() : nil)
    }

    private func received(_ message: OpaquePointer) {
        guard let sender = lx_bus_sender(message).map({ String(cString: $0) }),
            let path = lx_bus_path(message).map({ String(cString: $0) }),
            let interface = lx_bus_interface(message).map({ String(cString: $0) }),
            let member = lx_bus_member(message).map({ String(cString: $0) })
        else { return }
        let signal = BusSignal(
            sender: sender, object: BusObject(path: path, interface: interface), member: member)
        guard mirrors.contains(where: { $0.wants(signal) }) else { return }
        let arguments = BusReader(message: message).arguments() ?? []
        for mirror in mirrors where mirror.wants(signal) { mirror.received(signal, arguments) }
    }

    /// Sends a call; `reply` is called later, with `nil` after an error.
    func call(
        _ service: String, _ object: BusObject, _ member: String, _ arguments: [String],
        _ reply: @escaping ([BusValue]?) -> Void
    ) {
        guard let connection else { return reply(nil) }
        lastReply += 1
        let number = lastReply
        var pointers = arguments.map { UnsafePointer<CChar>(strdup($0)) }
        defer { for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) } }
        let code = lx_bus_call(
            connection, service, object.path, object.interface, member, &pointers, CInt(arguments.count),
            number)
        if code < 0 { reply(nil) } else { replies[number] = reply }
    }

    /// Once every client knows the state of its service, signals the event for waiting callers.
    func told() {
        if mirrors.allSatisfy({ $0.hasSpoken }) { settle() }
    }

    private func settle() {
        if !isSettled { lx_eventfd_signal(settled) }
        isSettled = true
    }
}

/// The header of a signal.
struct BusSignal {
    let sender: String
    let object: BusObject
    let member: String
}
