import CLinuxShims
import Glibc
import TaskModel

/// The state of the thread of a ``BusService``; only that thread uses it.
final class BusServiceLoop {
    /// Pauses in ms between attempts to connect; the last one repeats.
    private static let pauses: [CInt] = [100, 400, 1600, 60_000]
    /// The most calls that may wait for their reply; more are refused.
    private static let mostCalls = 256

    private let address, name, namespace: String
    private let servant: any BusServant
    private var connection: OpaquePointer?
    private var attempts = 0
    private var lastNumber: UInt64 = 0
    private var replies: [UInt64: ([BusValue]?) -> Void] = [:]
    private var calls: [UInt64: OpaquePointer] = [:]
    var isOver = false

    init(address: String, name: String, namespace: String, servant: any BusServant) {
        (self.address, self.name, self.namespace, self.servant) = (address, name, namespace, servant)
    }

    func run(wake: CInt, work: () -> [BusService.Work]) {
        var sockets = BusSocketWatch(address: address)
        while !isOver {
            if connection == nil { connect(&sockets) }
            wait(wake, &sockets)
            for body in work() { body(self) }
            process()
        }
        disconnect()
        _ = close(wake)
    }

    private func connect(_ sockets: inout BusSocketWatch) {
        sockets.rewatch()
        guard sockets.mayExist, lx_bus_load() == 0,
            lx_bus_open(address, Self.onMessage, Unmanaged.passUnretained(self).toOpaque(), &connection) == 0,
            let connection
        else {
            connection = nil
            return
        }
        lx_bus_serve(connection, Self.onCall)
        let match =
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0namespace='\(namespace)'"
        call(BusLoop.busName, BusLoop.bus, "AddMatch", .texts([match])) { _ in }
        // The flag 4: fail at once if another process has the name.
        request(BusLoop.busName, BusLoop.bus, "RequestName", "su", [name, "4"]) { [weak self] answer in
            // 1: the name is owned now. 4: it was already.
            guard let self else { return }
            attempts = 0
            if answer == [.integer(1)] || answer == [.integer(4)] { servant.joined() } else { servant.left() }
        }
    }

    private func disconnect() {
        guard let old = connection else { return }
        connection = nil
        for message in calls.values { lx_bus_release(message) }
        calls = [:]
        lx_bus_close(old)
        let due = replies.values
        replies = [:]
        for reply in due { reply(nil) }
        servant.left()
    }

    private func wait(_ wake: CInt, _ sockets: inout BusSocketWatch) {
        var entries = [
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            pollfd(fd: connection == nil ? sockets.descriptor : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: -1, events: 0, revents: 0),
        ]
        var timeout: CInt = -1
        if let connection {
            var (descriptor, events): (CInt, CShort) = (-1, 0)
            if lx_bus_poll(connection, &descriptor, &events, &timeout) < 0 { return disconnect() }
            entries[2] = pollfd(fd: descriptor, events: events, revents: 0)
        } else if sockets.mayExist {
            timeout = Self.pauses[min(attempts, Self.pauses.count - 1)]
            attempts += 1
        }
        guard poll(&entries, nfds_t(entries.count), timeout) >= 0 else { return }
        if entries[0].revents != 0 {
            var count: UInt64 = 0
            _ = read(wake, &count, MemoryLayout<UInt64>.size)
        }
        if entries[1].revents != 0 {
            sockets.drain()
            attempts = 0
        }
    }

    private func process() {
        while let connection {
            let code = lx_bus_process(connection)
            if code < 0 { return disconnect() }
            if code == 0 { return }
        }
    }

    // MARK: Calls that the service makes

    func call(
        _ service: String, _ object: BusObject, _ member: String, _ arguments: BusArguments,
        _ reply: @escaping ([BusValue]?) -> Void
    ) {
        switch arguments {
        case .texts(let texts):
            request(service, object, member, String(repeating: "s", count: texts.count), texts, reply)
        case .dictionary(let entries):
            request(
                service, object, member, "D",
                entries.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] },
                reply)
        case .values(let values):
            let arguments = values.map(\.argument)
            request(
                service, object, member, arguments.map(\.letter).joined(), arguments.map(\.text), reply)
        }
    }

    private func request(
        _ service: String, _ object: BusObject, _ member: String, _ types: String, _ arguments: [String],
        _ reply: @escaping ([BusValue]?) -> Void
    ) {
        guard let connection else { return reply(nil) }
        lastNumber += 1
        var pointers = arguments.map { UnsafePointer<CChar>(strdup($0)) }
        defer { for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) } }
        let code = lx_bus_request(
            connection, service, object.path, object.interface, member, types, &pointers,
            CInt(arguments.count), lastNumber)
        if code < 0 { reply(nil) } else { replies[lastNumber] = reply }
    }

    private static let onMessage: lx_bus_handler = { context, message, reply, code in
        guard let context, let message else { return }
        let loop = Unmanaged<BusServiceLoop>.fromOpaque(context).takeUnretainedValue()
        if reply != 0 {
            guard let waiting = loop.replies.removeValue(forKey: reply) else { return }
            waiting(code == 0 ? BusReader(message: message).arguments() : nil)
        } else if lx_bus_member(message).map({ String(cString: $0) }) == "NameOwnerChanged",
            lx_bus_sender(message).map({ String(cString: $0) }) == BusLoop.busName,
            case .some(let values) = BusReader(message: message).arguments(), values.count == 3,
            case .text(let name) = values[0], case .text(let owner) = values[2]
        {
            loop.servant.ownerChanged(of: name, isOwned: !owner.isEmpty)
        }
    }

    // MARK: Calls that the service receives

    private static let onCall: lx_bus_server = { context, message in
        guard let context, let message else { return 0 }
        return Unmanaged<BusServiceLoop>.fromOpaque(context).takeUnretainedValue().received(message)
    }

    private func received(_ message: OpaquePointer) -> CInt {
        guard calls.count < Self.mostCalls, let path = lx_bus_path(message).map({ String(cString: $0) }),
            let interface = lx_bus_interface(message).map({ String(cString: $0) }),
            let member = lx_bus_member(message).map({ String(cString: $0) }),
            let arguments = BusReader(message: message).arguments()
        else { return 0 }
        lastNumber += 1
        let call = BusCall(
            number: lastNumber, object: BusObject(path: path, interface: interface), member: member,
            arguments: arguments)
        guard servant.called(call) else { return 0 }
        calls[call.number] = lx_bus_keep(message)
        return 1
    }

    func reply(to number: UInt64, withDictionary: Bool) {
        guard let message = calls.removeValue(forKey: number) else { return }
        if let connection { _ = lx_bus_reply(connection, message, withDictionary ? 1 : 0) }
        lx_bus_release(message)
    }

    func refuse(_ number: UInt64, _ name: String, _ text: String) {
        guard let message = calls.removeValue(forKey: number) else { return }
        if let connection { _ = lx_bus_refuse(connection, message, name, text) }
        lx_bus_release(message)
    }
}
