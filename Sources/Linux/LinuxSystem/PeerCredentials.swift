import Glibc

/// Who is at the other end of a Unix socket, as the kernel noted it when the connection was made.
///
/// Stored as `struct ucred` is laid out (unix(7): pid, uid, gid), so that a network library that reads socket
/// options by size can fill it in.
public struct PeerCredentials: Equatable, Sendable, CustomStringConvertible {
    /// The process, for messages only.
    ///
    /// The number may have a new owner by now; 0 is a process in no PID namespace of ours.
    public let processIdentifier: Int32
    /// The effective user.
    public let user: UInt32
    /// The effective group.
    public let group: UInt32

    /// Makes credentials, for tests of what is decided from them.
    public init(processIdentifier: Int32, user: UInt32, group: UInt32) {
        self.processIdentifier = processIdentifier
        self.user = user
        self.group = group
    }

    /// The number of the socket option at level `SOL_SOCKET`.
    public static var socketOption: CInt { SO_PEERCRED }

    /// The effective user of this process.
    public static var ownUser: UInt32 { geteuid() }

    /// Whether the peer may control a host of that user: the same user, and root.
    public func mayControl(hostOf owner: UInt32) -> Bool {
        user == owner || user == 0
    }

    /// `process 4711 of user 65534 (nobody)`.
    public var description: String {
        let name = Self.name(ofUser: user).map { " (\($0))" } ?? ""
        return "process \(processIdentifier) of user \(user)\(name)"
    }

    /// The user's name; `nil` if no database has it.
    public static func name(ofUser user: UInt32) -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // 16 KiB is what glibc suggests where sysconf(_SC_GETPW_R_SIZE_MAX) has no limit of its own.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer -> String? in
            guard let start = buffer.baseAddress,
                getpwuid_r(user, &entry, start, buffer.count, &found) == 0, found != nil,
                let name = entry.pw_name
            else { return nil }
            return String(cString: name)
        }
    }
}
