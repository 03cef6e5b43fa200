import CLinuxShims
import Glibc

/// Queries the kernel's routes.
public enum DefaultRoute {
    /// Whether there is an IPv4 or IPv6 default route over a working link, in the caller's network namespace.
    ///
    /// Only routes in the main tables count. A route over a dead link, or one that rejects packets
    /// (`unreachable`), does not count.
    ///
    /// - Throws: The system call that failed, or the error that the kernel reported.
    public static func exists() throws(SystemCallError) -> Bool { try dump().hasDefaultRoute }

    /// The numbers of the devices that the default routes use; none without such a route.
    ///
    /// - Throws: As ``exists()``.
    public static func devices() throws(SystemCallError) -> Set<UInt32> { try dump().devices }

    private static func dump() throws(SystemCallError) -> RouteDump {
        let socket = OwnedDescriptor(
            taking: try retryingOnInterrupt("socket", "rtnetlink") { lx_netlink_socket(0, 0) })
        // A change during a dump makes it incomplete, so it is repeated; three attempts are enough, because
        // changes are rare.
        for _ in 0..<3 {
            var dump = RouteDump()
            let request = RouteDump.request
            try retryingOnInterrupt("send", "rtnetlink") {
                send(socket.rawValue, request, request.count, 0)
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while !dump.isComplete {
                let count = try retryingOnInterrupt("recv", "rtnetlink") {
                    recv(socket.rawValue, &buffer, buffer.count, 0)
                }
                dump.read(buffer.prefix(count))
                if let code = dump.errorCode {
                    throw SystemCallError(call: "RTM_GETROUTE", subject: "rtnetlink", code: code)
                }
            }
            if !dump.isInterrupted { return dump }
        }
        throw SystemCallError(call: "RTM_GETROUTE", subject: "rtnetlink", code: EAGAIN)
    }
}

/// Decodes the kernel's response to a request for all routes, one datagram at a time (`linux/netlink.h`,
/// `linux/rtnetlink.h`).
struct RouteDump {
    private(set) var isComplete = false
    private(set) var isInterrupted = false
    private(set) var errorCode: CInt?
    private(set) var hasDefaultRoute = false
    /// The numbers of the devices of default routes.
    private(set) var devices: Set<UInt32> = []

    /// The request: RTM_GETROUTE with NLM_F_REQUEST and NLM_F_DUMP for all families, as nlmsghdr and an empty
    /// rtmsg.
    static let request: [UInt8] = {
        var bytes = [UInt8](repeating: 0, count: 28)
        withUnsafeBytes(of: UInt32(28)) { bytes.replaceSubrange(0..<4, with: $0) }
        withUnsafeBytes(of: UInt16(26)) { bytes.replaceSubrange(4..<6, with: $0) }
        withUnsafeBytes(of: UInt16(0x301)) { bytes.replaceSubrange(6..<8, with: $0) }
        return bytes
    }()

    /// Decodes one datagram of the response.
    ///
    /// An invalid length ends decoding with an error.
    mutating func read(_ datagram: ArraySlice<UInt8>) {
        var rest = datagram
        if rest.isEmpty { return fail(EBADMSG) }
        while !rest.isEmpty {
            guard let length = rest.number(at: 0, as: UInt32.self).map(Int.init), length >= 16,
                length <= rest.count,
                let type = rest.number(at: 4, as: UInt16.self),
                let flags = rest.number(at: 6, as: UInt16.self)
            else { return fail(EBADMSG) }
            let body = rest.dropFirst(16).prefix(length - 16)
            // NLM_F_DUMP_INTR. The types below are NLMSG_ERROR, NLMSG_DONE and RTM_NEWROUTE.
            if flags & 0x10 != 0 { isInterrupted = true }
            switch type {
            case 2: return fail(body.number(at: 0, as: Int32.self).map { -$0 } ?? EBADMSG)
            case 3: isComplete = true
            case 24:
                if let found = Self.devicesOfUsableDefault(body) {
                    hasDefaultRoute = true
                    devices.formUnion(found)
                }
            default: break
            }
            rest = rest.dropFirst((length + 3) & ~3)
        }
    }

    private mutating func fail(_ code: CInt) {
        isComplete = true
        errorCode = code
    }

    /// The devices of an rtmsg with its attributes; `nil` unless it is a default route of the main tables
    /// over a working link.
    private static func devicesOfUsableDefault(_ body: ArraySlice<UInt8>) -> Set<UInt32>? {
        guard body.count >= 12, let flags = body.number(at: 8, as: UInt32.self) else { return nil }
        let header = Array(body.prefix(8))
        let (destinationLength, type) = (header[1], header[7])
        guard destinationLength == 0, type == 1, header[0] == 2 || header[0] == 10 else { return nil }
        var table = UInt32(header[4])
        var hasLink = false
        var devices: Set<UInt32> = []
        var workingHops: Set<UInt32>?
        var rest = body.dropFirst(12)
        while let length = rest.number(at: 0, as: UInt16.self).map(Int.init), length >= 4,
            length <= rest.count,
            let attribute = rest.number(at: 2, as: UInt16.self)
        {
            let value = rest.dropFirst(4).prefix(length - 4)
            // RTA_OIF and RTA_NH_ID, RTA_MULTIPATH, and RTA_TABLE.
            switch attribute & 0x3FFF {
            case 4:
                hasLink = true
                if let device = value.number(at: 0, as: UInt32.self) { devices.insert(device) }
            case 30: hasLink = true
            case 9: workingHops = Self.devicesOfWorkingHops(value)
            case 15: table = value.number(at: 0, as: UInt32.self) ?? table
            default: break
            }
            rest = rest.dropFirst((length + 3) & ~3)
        }
        // RT_TABLE_DEFAULT and RT_TABLE_MAIN. A VPN's own table can be ignored, because the main table then
        // has a default route, too.
        guard table == 253 || table == 254 else { return nil }
        if let workingHops { return workingHops.isEmpty ? nil : workingHops }
        return hasLink && flags & deadOrLinkDown == 0 ? devices : nil
    }

    /// The devices of an array of rtnexthop: length, flags, hops and number of the device.
    private static func devicesOfWorkingHops(_ hops: ArraySlice<UInt8>) -> Set<UInt32> {
        var working: Set<UInt32> = []
        var rest = hops
        while let length = rest.number(at: 0, as: UInt16.self).map(Int.init), length >= 8,
            length <= rest.count,
            let flags = rest.number(at: 2, as: UInt8.self), let device = rest.number(at: 4, as: UInt32.self)
        {
            if UInt32(flags) & deadOrLinkDown == 0 { working.insert(device) }
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return working
    }

    /// RTNH_F_DEAD and RTNH_F_LINKDOWN.
    private static let deadOrLinkDown: UInt32 = 1 | 16
}

extension ArraySlice<UInt8> {
    /// Reads a number in the machine's byte order, which netlink uses; `nil` beyond the end.
    func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type) -> Number? {
        let bytes = dropFirst(offset).prefix(MemoryLayout<Number>.size)
        guard bytes.count == MemoryLayout<Number>.size else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: Number.self) }
    }
}
