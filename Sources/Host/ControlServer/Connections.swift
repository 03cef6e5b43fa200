import ControlWire
import LinuxSystem
import NIOCore
import Synchronization

/// The connections of the control socket: their places, and the process at the other end of each.
final class Connections: Sendable {
    private struct State {
        var book: ConnectionBook<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
        var peers: [ObjectIdentifier: EventLoopFuture<Peer>] = [:]
    }

    let limits: ControlServer.Limits
    private let judge: PeerJudge
    private let state: Mutex<State>

    /// Creates the list for a server without connections.
    init(limits: ControlServer.Limits, judge: PeerJudge) {
        self.limits = limits
        self.judge = judge
        state = Mutex(
            State(book: ConnectionBook(places: limits.connections, followerPlaces: limits.followers)))
    }

    /// Adds a connection, and examines its peer while that process still exists.
    func open(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        let peer = judge.examine(channel)
        update { state in
            state.book.open(key)
            state.channels[key] = channel
            state.peers[key] = peer
        }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.update { state in
                state.book.close(key)
                state.channels[key] = nil
                state.peers[key] = nil
            }
        }
    }

    /// Notes that a complete request has arrived.
    func begin(_ channel: any Channel) { update { $0.book.begin(ObjectIdentifier(channel)) } }

    /// Notes that the last answer has been sent.
    func end(_ channel: any Channel) { update { $0.book.end(ObjectIdentifier(channel)) } }

    /// Notes that an answer takes long.
    func lapse(_ channel: any Channel) { update { $0.book.lapse(ObjectIdentifier(channel)) } }

    /// The process at the other end of a connection.
    ///
    /// - Throws: The error of the system call that reads its credentials.
    func peer(of channel: any Channel) async throws -> Peer {
        guard let peer = state.withLock({ $0.peers[ObjectIdentifier(channel)] }) else {
            throw ChannelError.alreadyClosed
        }
        return try await peer.get()
    }

    /// Gives a connection one of the places of followers.
    ///
    /// - Throws: ``ErrorMessage`` if they are all taken.
    func follow(_ context: ControlContext, subject: String) throws {
        let result = state.withLock { state in
            Result { () throws(ConnectionBook<ObjectIdentifier>.NoPlace) in
                try state.book.follow(ObjectIdentifier(context.channel), process: context.peer)
            }
        }
        guard case .failure(let none) = result else { return }
        throw ErrorMessage(
            .tooManyFollowers, subject: subject,
            finding: "\(none.limit) of \(none.limit) places for clients that follow the host are taken"
                + (none.process > 0 ? "; process \(none.process) has \(none.held) of them" : ""),
            remedy: "End some of these clients, such as 'bgtask logs --follow' and 'bgtask submit --wait'. "
                + "All other commands still work")
    }

    /// Makes the queue for a stream.
    ///
    /// If the queue overflows, the client has some more time to read the rest. Then it loses its connection.
    func queue(for context: ControlContext) -> (queue: FrameQueue, frames: AsyncStream<StreamFrame>) {
        let (channel, seconds) = (context.channel, limits.idleSeconds)
        return FrameQueue.make(limit: limits.waitingEvents) {
            channel.eventLoop.scheduleTask(in: .seconds(seconds)) { channel.close(promise: nil) }
        }
    }

    private func update(_ change: (inout State) -> Void) {
        let closed: (any Channel)? = state.withLock { state in
            change(&state)
            return state.book.relief().flatMap { state.channels[$0] }
        }
        closed?.close(promise: nil)
    }
}
