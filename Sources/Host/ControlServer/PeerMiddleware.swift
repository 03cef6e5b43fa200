import ControlWire
import Hummingbird
import LinuxSystem
import Logging
import NIOCore
import Synchronization

/// Refuses every connection of a launch, and of other users than the host's own and root, unless a group
/// gives them a power.
///
/// A launch runs as the host's user, but may not use the powers of that user. It submits and cancels through
/// its own pipes, where the host knows which bundle it belongs to.
struct PeerMiddleware: RouterMiddleware {
    typealias Context = ControlContext

    let connections: Connections
    let owner: UInt32
    let access: ControlAccess
    let logger: Logger
    private let logged = LoggedPeers()

    init(connections: Connections, owner: UInt32, access: ControlAccess, logger: Logger) {
        (self.connections, self.owner, self.access, self.logger) = (connections, owner, access, logger)
    }

    func handle(
        _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        let peer = try await connections.peer(of: context.channel)
        var context = context
        do throws(ErrorMessage) {
            context.power = try power(of: peer)
        } catch {
            // One line for each process, so that a process can't fill the log.
            if logged.isNew(peer.credentials.processIdentifier) {
                logger.warning("a request of \(error.subject) was refused: \(error.finding)")
            }
            throw error
        }
        context.peer = peer.credentials.processIdentifier
        return try await next(request, context)
    }

    private func power(of peer: Peer) throws(ErrorMessage) -> ControlPower {
        let credentials = peer.credentials
        func refusal(_ finding: String, _ remedy: String) -> ErrorMessage {
            ErrorMessage(.peerNotAllowed, subject: "\(credentials)", finding: finding, remedy: remedy)
        }
        switch peer.origin {
        case .elsewhere:
            break
        case .launch(let finding):
            throw refusal(
                "this process \(finding), so it belongs to a launch, and launches may not use the control socket",
                "Submit and cancel through the launch's own host: BGTaskScheduler in Swift, or "
                    + "submit and cancel of bgtask_host in C")
        case .ended:
            throw refusal(
                "this process opened the connection and has ended, so the host can't find out whether it belonged to a launch",
                "Keep the process that connects until it has its answer")
        case .unknown(let finding):
            throw refusal(
                "the host can't find out whether this process belongs to a launch: \(finding)",
                "Try again from a shell of your own")
        }
        if credentials.mayControl(hostOf: owner) { return .all }
        guard let power = ControlPower(Set([credentials.group] + peer.groups), in: access) else {
            throw refusal(
                "this host belongs to user \(owner), and only that user and root may control it",
                "Run the command as that user, or start a host of your own")
        }
        return power
    }
}

/// The processes whose refusals were logged last.
private final class LoggedPeers: Sendable {
    private static let limit = 64
    private let numbers = Mutex<[Int32]>([])

    /// Whether the refusal of this process is still to be logged; the call counts it as logged.
    func isNew(_ process: Int32) -> Bool {
        numbers.withLock { numbers in
            if numbers.contains(process) { return false }
            numbers.append(process)
            if numbers.count > Self.limit { numbers.removeFirst() }
            return true
        }
    }
}
