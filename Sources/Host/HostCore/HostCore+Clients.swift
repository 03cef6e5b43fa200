import HandlerRegistry
import Scheduling
import TaskModel

/// A client: a process that registered handlers over a connection, in which the requests that it submits run.
struct ConnectedClient: Sendable {
    let id: ClientID
    /// The process number, which identifies other connections of the same process.
    let processIdentifier: Int32
    let identifiers: [IdentifierPattern]

    /// Whether the client registered a handler for the identifier.
    func handles(_ identifier: TaskIdentifier) -> Bool { identifiers.contains { $0.matches(identifier) } }
}

/// The connected clients, and the clients that left while launches of theirs were under way.
struct ClientBook: Sendable {
    private var connected: [ClientID: ConnectedClient] = [:]
    /// The clients that closed their connection and whose process may still exist, with their launches under
    /// way.
    private(set) var leaving: [ClientID: (client: ConnectedClient, launches: [LaunchID])] = [:]
    private var last = 0

    var ids: [ClientID] { connected.keys.sorted { $0.rawValue < $1.rawValue } }

    subscript(id: ClientID) -> ConnectedClient? { connected[id] }

    /// Finds the newest client of a process that has a handler for an identifier; `nil` if there is none.
    func client(of process: Int32?, for identifier: TaskIdentifier) -> ClientID? {
        guard let process else { return nil }
        return connected.values.filter { $0.processIdentifier == process && $0.handles(identifier) }
            .map(\.id).max { $0.rawValue < $1.rawValue }
    }

    mutating func enter(_ identifiers: [IdentifierPattern], process: Int32) -> ConnectedClient {
        last += 1
        let client = ConnectedClient(
            id: ClientID(rawValue: last), processIdentifier: process, identifiers: identifiers)
        connected[client.id] = client
        return client
    }

    mutating func remove(_ id: ClientID, leaving launches: [LaunchID]) -> ConnectedClient? {
        guard let client = connected.removeValue(forKey: id) else { return nil }
        if !launches.isEmpty { leaving[id] = (client, launches) }
        return client
    }

    mutating func takeLeaving(_ id: ClientID) -> (client: ConnectedClient, launches: [LaunchID])? {
        leaving.removeValue(forKey: id)
    }
}

/// The registration and the departure of clients.
extension HostCore {
    mutating func connect(
        _ patterns: [IdentifierPattern], _ process: Int32, _ call: CallID, _ asked: HostCall,
        _ isRescanned: Bool
    ) {
        guard phase == .serving else { return refuse(call, notServing("process \(process)")) }
        if let refused = patterns.first(where: { !scheduler.permits.permits($0) }) {
            return isRescanned ? refuse(call, notPermitted(refused.base)) : rescan(for: call, asked)
        }
        let client = clients.enter(patterns, process: process)
        log(
            .info,
            "client \(client.id), process \(process), handles "
                + patterns.map(\.description).joined(separator: ", "))
        answer(call, .connected(client.id))
        emit(.notifyClient(client.id, .registered(client.id)))
        emit(.notifyClient(client.id, .conditions(clientConditions)))
    }

    /// Handles the departure of a client: its process ended, or it closed its connection.
    mutating func clientLeft(_ id: ClientID) {
        let open = launches.all.filter { $0.client == id && $0.stage != .ending }.map(\.record.id).sorted()
        guard let client = clients.remove(id, leaving: open) else { return }
        log(.info, "client \(id), process \(client.processIdentifier), is gone")
        requests.forget(id)
        // The kernel closes a process's files shortly before the process ends. So the host waits up to a
        // second, to distinguish a crash from a closed connection.
        emit(open.isEmpty ? .closeClient(id) : .awaitClientEnd(id))
        cancelWithoutClient()
    }

    mutating func clientEnded(_ id: ClientID, isDead: Bool) {
        guard let (client, open) = clients.takeLeaving(id) else { return }
        let subject = "its client, process \(client.processIdentifier),"
        for launch in open {
            let expiration = launches[launch]?.record.expiration
            let end: LaunchEnd
            if let reason = expiration ?? (phase == .serving ? nil : .hostShutdown) {
                end = .stopped(reason, message: "\(subject) \(isDead ? "ended" : "closed its connection")")
            } else if isDead {
                end = LaunchEnd(
                    outcome: .crashed, reason: .exitedWithoutCompleting,
                    message: "\(subject) ended before the launch had completed")
            } else {
                end = LaunchEnd(
                    outcome: .failed, reason: .exitedWithoutCompleting,
                    message: "\(subject) closed its connection before the launch had completed")
            }
            endInClient(launch, end)
        }
    }

    /// Cancels all pending requests that neither a client nor a plugin can run.
    mutating func cancelWithoutClient() {
        let alone = requests.pending.values.filter { handler(for: $0)?.canLaunch($0.identifier) == false }
        for request in alone.sorted(by: { $0.id < $1.id }) { cancelWithoutClient(request) }
    }

    /// Cancels a pending request if neither a client nor a plugin can run it.
    mutating func cancelWithoutClient(_ request: TaskRequest) {
        guard requests.pending[request.id] != nil, requests.clients[request.id] == nil,
            requests.starting[request.id] == nil, !requests.withdrawing.contains(request.id),
            handler(for: request)?.canLaunch(request.identifier) == false
        else { return }
        log(
            .notice, "\(request.id) is cancelled: its client is gone, and no plugin can run it",
            identifier: request.identifier)
        cancel(request.id, .clientGone)
    }
}
