import HandlerRegistry
import Scheduling
import TaskModel

/// A process that registered handlers: requests that it submits run in it.
struct ConnectedClient: Sendable {
    let id: ClientID
    /// To know its other connections by, and for people.
    let processIdentifier: Int32
    let identifiers: [IdentifierPattern]

    /// Whether it has a handler for a task.
    func handles(_ identifier: TaskIdentifier) -> Bool { identifiers.contains { $0.matches(identifier) } }
}

/// The clients that are connected, and those that have left with launches of theirs open.
struct ClientBook: Sendable {
    private var connected: [ClientID: ConnectedClient] = [:]
    /// Launches of clients that have closed their connections and may not have ended.
    private(set) var leaving: [ClientID: (client: ConnectedClient, launches: [LaunchID])] = [:]
    private var last = 0

    var ids: [ClientID] { connected.keys.sorted { $0.rawValue < $1.rawValue } }

    subscript(id: ClientID) -> ConnectedClient? { connected[id] }

    /// The newest client of a process that handles an identifier.
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

/// Who the clients are: registering and leaving.
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

    /// A client gets no more events: its process has ended, or it closed the connection.
    mutating func clientLeft(_ id: ClientID) {
        let open = launches.all.filter { $0.client == id && $0.stage != .ending }.map(\.record.id).sorted()
        guard let client = clients.remove(id, leaving: open) else { return }
        log(.info, "client \(id), process \(client.processIdentifier), is gone")
        requests.forget(id)
        // The kernel closes a process's files before it is dead: it has a second for the rest of the way.
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
                    message: "\(subject) ended before it had completed")
            } else {
                end = LaunchEnd(
                    outcome: .failed, reason: .exitedWithoutCompleting,
                    message: "\(subject) closed its connection before it had completed")
            }
            endInClient(launch, end)
        }
    }

    /// Cancels the requests that nothing can run any more.
    mutating func cancelWithoutClient() {
        for request in requests.pending.values.sorted(by: { $0.id < $1.id }) { cancelWithoutClient(request) }
    }

    /// Cancels a request if nothing can run it any more.
    mutating func cancelWithoutClient(_ request: TaskRequest) {
        guard requests.pending[request.id] != nil, requests.clients[request.id] == nil,
            requests.starting[request.id] == nil, !requests.withdrawing.contains(request.id),
            handler(for: request)?.canLaunch(request.identifier) == false
        else { return }
        log(.notice, "\(request.id) is cancelled: its client is gone", identifier: request.identifier)
        cancel(request.id, .clientGone)
    }
}
