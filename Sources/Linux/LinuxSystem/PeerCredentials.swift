import Glibc

/// The process at the other end of a Unix socket, as the kernel recorded it when the connection was made.
///
/// The layout is that of `struct ucred` (unix(7): pid, uid, gid), so that a network library that reads socket
/// options by their size can fill it in.
public struct PeerCredentials: Equatable, Sendable, CustomStringConvertible {
    /// The number of the process; use it only in messages.
    ///
    /// Another process may have the number by now. It is 0 for a process outside this PID namespace.
    public let processIdentifier: Int32
    /// The id of the effective user.
    public let user: UInt32
    /// The id of the effective group.
    public let group: UInt32

    /// Creates credentials, for tests.
    public init(processIdentifier: Int32, user: UInt32, group: UInt32) {
        self.processIdentifier = processIdentifier
        self.user = user
        self.group = group
    }

    /// The socket option that returns the credentials, at the level `SOL_SOCKET`.
    public static var socketOption: CInt { SO_PEERCRED }

    /// The id of this process's effective user.
    public static var ownUser: UInt32 { geteuid() }

    /// Whether the peer may control a host of this user: only the same user and root may.
    public func mayControl(hostOf owner: UInt32) -> Bool {
        user == owner || user == 0
    }

    /// A description such as `process 4711 of user 65534 (nobody)`.
    public var description: String {
        let name = Self.name(ofUser: user).map { " (\($0))" } ?? ""
        return "process \(processIdentifier) of user \(user)\(name)"
    }

    /// The name of a user; `nil` if it is not known.
    public static func name(ofUser user: UInt32) -> String? { Account.numbered(user)?.name }
}
