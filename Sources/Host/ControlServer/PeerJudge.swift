import LinuxSystem
import NIOCore

/// The process at the other end of a connection, and where it comes from.
struct Peer: Sendable {
    var credentials: PeerCredentials
    var origin: ProcessOrigin
    /// The supplementary groups; they are read only for users that need a group's power.
    var groups: [UInt32] = []
}

/// Examines the process that opened a connection.
struct PeerJudge: Sendable {
    private let host: any HostControl
    private let owner: UInt32
    private let origins = ProcessOrigins()

    /// Examines the clients of a host that belongs to a user.
    init(host: any HostControl, owner: UInt32) { (self.host, self.owner) = (host, owner) }

    /// Examines the process that opened a connection, as soon as the connection is accepted.
    ///
    /// The kernel recorded the process when it connected. So the result does not change if the process passes
    /// the connection to another one.
    func examine(_ channel: any Channel) -> EventLoopFuture<Peer> {
        guard let options = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        // Safe: `PeerCredentials` has the memory layout of `struct ucred`, which the kernel returns for this
        // option, and a pidfd is an `int`.
        let credentials: EventLoopFuture<PeerCredentials> = options.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: PeerCredentials.socketOption))
        let handle: EventLoopFuture<CInt> = options.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: ProcessOrigin.handleOption))
        let opened = handle.map { ProcessHandle(taking: OwnedDescriptor(taking: $0)) as ProcessHandle? }
            .flatMapErrorThrowing { error in
                // Kernels before 6.5 do not have the option.
                if let error = error as? IOError, error.errnoCode == ProcessOrigin.noSuchOption { return nil }
                throw error
            }
        return credentials.flatMap { credentials in
            opened.map { handle in examine(credentials, handle) }
                .flatMapErrorThrowing { _ in Peer(credentials: credentials, origin: .ended) }
        }
    }

    /// Examines a process of which the kernel may have returned a handle.
    private func examine(_ credentials: PeerCredentials, _ handle: ProcessHandle?) -> Peer {
        let pid = credentials.processIdentifier
        var groups: [UInt32] = []
        let origin = origins.origin(of: pid, handle, among: host.launchedProcesses) {
            if pid > 0, !credentials.mayControl(hostOf: owner) { groups = ProcessOrigin.groups(of: pid) }
        }
        return Peer(credentials: credentials, origin: origin, groups: groups)
    }
}
