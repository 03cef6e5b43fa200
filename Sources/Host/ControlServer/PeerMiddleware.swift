import ControlWire
import Hummingbird
import LinuxSystem
import Logging
import NIOCore

/// Refuses every connection that is not from the host's own user or root.
struct PeerMiddleware: RouterMiddleware {
    typealias Context = ControlContext

    let owner: UInt32
    let logger: Logger

    func handle(
        _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        let peer = try await credentials(of: context.channel)
        guard peer.mayControl(hostOf: owner) else {
            logger.warning("a request of \(peer) was refused: only user \(owner) and root control this host")
            throw ErrorMessage(
                .peerNotAllowed, subject: "\(peer)",
                finding: "this host belongs to user \(owner), and only that user and root may control it",
                remedy: "Run the command as that user, or start a host of your own")
        }
        var context = context
        context.peer = peer.processIdentifier
        return try await next(request, context)
    }

    /// Reads the credentials of the connected process.
    ///
    /// They do not change during a connection. Nevertheless, they are read for each request, because this
    /// takes only one system call.
    private func credentials(of channel: any Channel) async throws -> PeerCredentials {
        guard let options = channel as? any SocketOptionProvider else {
            throw ErrorMessage(
                .internalError, subject: "the connection", finding: "it does not report which user opened it",
                remedy: "Report this as a fault of bgtaskd")
        }
        // Safe: `PeerCredentials` has the memory layout of `struct ucred`, which the kernel returns for this
        // option.
        return try await options.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: PeerCredentials.socketOption)
        ).get()
    }
}
