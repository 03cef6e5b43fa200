import HostCore
import LinuxSystem
import TaskModel

/// The processes that run handlers themselves, and the streams on which the host calls them.
struct ClientConnections {
    /// A process that registers; its handle cannot come to mean another process.
    struct Peer {
        let handle: ProcessHandle
        let number: Int32

        /// Takes hold of a process.
        ///
        /// - Throws: `unavailable` if the kernel knows no such process here.
        init(of process: Int32) throws(SubmissionError) {
            do {
                handle = try ProcessHandle(of: process)
            } catch {
                throw SubmissionError(
                    code: .unavailable, subject: "process \(process)",
                    finding: "it can't be watched: \(error)",
                    remedy: "Run it in the same PID namespace as the host")
            }
            number = process
        }
    }

    private var joining: [CallID: Peer] = [:]
    private var streams: [CallID: AsyncStream<ClientCall>] = [:]
    private var clients: [ClientID: (peer: Peer, calls: AsyncStream<ClientCall>.Continuation)] = [:]

    /// Takes note of a process that asks to be registered by this call.
    mutating func join(_ peer: Peer, by call: CallID) { joining[call] = peer }

    /// Makes the stream of a process that the core has registered.
    ///
    /// - Parameters:
    ///   - id: Who it is now.
    ///   - call: The call that registered it.
    ///   - onLeave: Called on any thread when nothing reads the stream any more.
    mutating func admit(_ id: ClientID, by call: CallID, onLeave: @escaping @Sendable () -> Void) {
        guard let peer = joining.removeValue(forKey: call) else { return }
        let (stream, calls) = AsyncStream.makeStream(of: ClientCall.self)
        calls.onTermination = { _ in onLeave() }
        clients[id] = (peer, calls)
        streams[call] = stream
    }

    /// The stream that a call was registered with; forgets the call.
    mutating func takeStream(of call: CallID) -> AsyncStream<ClientCall>? {
        joining[call] = nil
        return streams.removeValue(forKey: call)
    }

    /// Calls a client.
    func notify(_ id: ClientID, _ call: ClientCall) { clients[id]?.calls.yield(call) }

    /// The process of a client that has not left.
    subscript(id: ClientID) -> Peer? { clients[id]?.peer }

    /// Ends a client's stream.
    ///
    /// - Returns: Its process; `nil` if it was closed before.
    @discardableResult
    mutating func close(_ id: ClientID) -> Peer? {
        guard let client = clients.removeValue(forKey: id) else { return nil }
        client.calls.finish()
        return client.peer
    }
}
