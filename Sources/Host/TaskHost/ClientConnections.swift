import HostCore
import LinuxSystem
import TaskModel

/// The client processes, and the streams on which the host sends them messages.
struct ClientConnections {
    /// A client's process; the handle refers to the same process even if the kernel uses its number again.
    struct Peer {
        let handle: ProcessHandle
        let number: Int32

        /// Opens a handle to a process.
        ///
        /// - Throws: `unavailable` if the process can't be opened, for example because it is in another PID
        ///   namespace.
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

    /// Stores the process that asks, with this call, to be registered.
    mutating func join(_ peer: Peer, by call: CallID) { joining[call] = peer }

    /// Creates the stream for a process that the core has registered.
    ///
    /// - Parameters:
    ///   - id: The new client's identifier.
    ///   - call: The call that registered it.
    ///   - onLeave: A function that is called, on any thread, when the stream is no longer read or has ended.
    mutating func admit(_ id: ClientID, by call: CallID, onLeave: @escaping @Sendable () -> Void) {
        guard let peer = joining.removeValue(forKey: call) else { return }
        let (stream, calls) = AsyncStream.makeStream(of: ClientCall.self)
        calls.onTermination = { _ in onLeave() }
        clients[id] = (peer, calls)
        streams[call] = stream
    }

    /// Removes and returns the stream for the client that a call registered; `nil` if the call was refused.
    mutating func takeStream(of call: CallID) -> AsyncStream<ClientCall>? {
        joining[call] = nil
        return streams.removeValue(forKey: call)
    }

    /// Sends a message to a client; does nothing if the client has left.
    func notify(_ id: ClientID, _ call: ClientCall) { clients[id]?.calls.yield(call) }

    /// The process of a client; `nil` if the client has left.
    subscript(id: ClientID) -> Peer? { clients[id]?.peer }

    /// Ends a client's stream.
    ///
    /// - Returns: The client's process; `nil` if the stream was closed before.
    @discardableResult
    mutating func close(_ id: ClientID) -> Peer? {
        guard let client = clients.removeValue(forKey: id) else { return nil }
        client.calls.finish()
        return client.peer
    }
}
