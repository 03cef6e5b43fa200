import CLinuxShims
import Glibc

/// Generic netlink: families of messages by name (`linux/genetlink.h`).
enum NetlinkFamily {
    /// Makes a socket that receives the messages of one multicast group of a family.
    ///
    /// - Throws: The system call that failed; `ENOENT` if the kernel does not have the family or group.
    static func join(family: String, group: String) throws(SystemCallError) -> OwnedDescriptor {
        let socket = OwnedDescriptor(
            taking: try retryingOnInterrupt("socket", "generic netlink") { lx_netlink_socket(16, 0) })
        let request = request(for: family)
        try retryingOnInterrupt("send", "generic netlink") {
            send(socket.rawValue, request, request.count, 0)
        }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = try retryingOnInterrupt("recv", "generic netlink") {
            recv(socket.rawValue, &buffer, buffer.count, 0)
        }
        let answer = buffer.prefix(count)
        let type = answer.number(at: 4, as: UInt16.self)
        // NLMSG_ERROR: a negative error number follows the header.
        if type == 2, let code = answer.number(at: 16, as: Int32.self) {
            throw SystemCallError(call: "CTRL_CMD_GETFAMILY", subject: family, code: -code)
        }
        guard var number = groupNumber(group, in: answer.dropFirst(20)) else {
            throw SystemCallError(call: "CTRL_CMD_GETFAMILY", subject: "\(family) \(group)", code: ENOENT)
        }
        // SOL_NETLINK, NETLINK_ADD_MEMBERSHIP
        try retryingOnInterrupt("setsockopt", "\(family) \(group)") {
            setsockopt(socket.rawValue, 270, 1, &number, socklen_t(MemoryLayout<UInt32>.size))
        }
        return socket
    }

    /// The request CTRL_CMD_GETFAMILY to `nlctrl` (16): nlmsghdr, genlmsghdr and CTRL_ATTR_FAMILY_NAME.
    private static func request(for family: String) -> [UInt8] {
        let name = Array(family.utf8) + [0]
        let padding = [UInt8](repeating: 0, count: (4 - name.count % 4) % 4)
        var bytes: [UInt8] = []
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
        }
        append(UInt32(24 + name.count + padding.count))
        append(UInt16(16))
        append(UInt16(1))  // NLM_F_REQUEST
        append(UInt32(1))
        append(UInt32(0))
        bytes += [3, 1, 0, 0]
        append(UInt16(4 + name.count))
        append(UInt16(2))
        return bytes + name + padding
    }

    /// Finds a group's number in CTRL_ATTR_MCAST_GROUPS (7), a list of groups with CTRL_ATTR_MCAST_GRP_NAME
    /// (1) and _ID (2).
    private static func groupNumber(_ name: String, in attributes: ArraySlice<UInt8>) -> UInt32? {
        let wanted = Array(name.utf8) + [0]
        for groups in self.attributes(attributes) where groups.type == 7 {
            for group in self.attributes(groups.value) {
                let fields = self.attributes(group.value)
                guard fields.contains(where: { $0.type == 1 && $0.value.elementsEqual(wanted) }) else {
                    continue
                }
                return fields.first { $0.type == 2 }?.value.number(at: 0, as: UInt32.self)
            }
        }
        return nil
    }

    private static func attributes(_ bytes: ArraySlice<UInt8>) -> [(type: UInt16, value: ArraySlice<UInt8>)] {
        var found: [(UInt16, ArraySlice<UInt8>)] = []
        var rest = bytes
        while let length = rest.number(at: 0, as: UInt16.self).map(Int.init), length >= 4,
            length <= rest.count, let type = rest.number(at: 2, as: UInt16.self)
        {
            found.append((type & 0x3FFF, rest.dropFirst(4).prefix(length - 4)))
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return found
    }
}
