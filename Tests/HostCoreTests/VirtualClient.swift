import Launching
import TaskHostTestSupport
import TaskModel

@testable import HostCore

/// A program that has registered for identifiers; its own launches run in its process.
struct VirtualClient {
    /// A launch that the host gave to the client.
    struct Run {
        let launch: ClientLaunch
        /// The reason of the expiration; `nil` if the host has not asked the client to stop.
        var expiration: Reason?
    }

    let process: Int32
    var runs: [LaunchID: Run] = [:]
    /// Whether the client has closed its connection; the host may not know that yet.
    var hasLeft = false
    /// Whether the client's process ended when the connection closed.
    var isDead = false
}

extension VirtualWorld {
    /// The connected clients, in order.
    var connectedClients: [ClientID] {
        clients.filter { !$0.value.hasLeft }.keys.sorted { $0.rawValue < $1.rawValue }
    }

    /// Registers a process for identifiers.
    mutating func connect(_ patterns: [IdentifierPattern], process: Int32) {
        connecting[call(.connect(patterns, process: process))] = process
    }

    /// Submits a request from a process, which runs it itself if it handles the identifier.
    mutating func submit(_ submission: TaskSubmission, from process: Int32) {
        submitting[call(.submit(submission, from: process))] = process
    }

    /// Reports on a launch from a process. The host must find out whether that process runs the launch.
    mutating func report(_ id: LaunchID, _ report: ClientReport, process: Int32) {
        let number = call(.report(id, report, process: process, processCPU: .milliseconds(20)))
        reports[number] = (id, report, process)
        if case .complete = report {
            for client in clients.keys { clients[client]?.runs[id] = nil }
        }
    }

    /// Closes a client's connection; with `isDead`, its process ends too.
    mutating func leave(_ id: ClientID, isDead: Bool) {
        guard clients[id]?.hasLeft == false else { return }
        clients[id]?.hasLeft = true
        clients[id]?.isDead = isDead
        clients[id]?.runs = [:]
        inputs.append(.clientLeft(id))
    }

    /// Answers the host's question whether the process of a client that left has ended.
    mutating func answerAwait(_ index: Int) {
        let (id, isDead) = awaits.remove(at: index)
        inputs.append(.clientEnded(id, isDead: isDead))
    }

    // MARK: Effects

    mutating func notify(_ id: ClientID, _ call: ClientCall) throws {
        guard let client = clients[id] else {
            throw BrokenPromise("\(id) is notified, and is not connected any more")
        }
        switch call {
        case .registered, .conditions: return
        case .launch(let launch): try give(launch, to: id, client)
        case .expire(let launch, let reason, _):
            guard client.runs[launch]?.expiration == nil else {
                throw BrokenPromise("\(launch) is told twice to stop")
            }
            clients[id]?.runs[launch]?.expiration = reason
        }
    }

    private mutating func give(_ launch: ClientLaunch, to id: ClientID, _ client: VirtualClient) throws {
        let request = launch.request
        guard let record = store.launch(launch.id), record.state != .ended, record.request == request.id
        else {
            throw BrokenPromise("\(launch.id) is given to a client before it is stored")
        }
        try checkAlone(launch.id, request.id, request.identifier)
        if launch.checkpoint != store.checkpoint(of: request.id) {
            throw BrokenPromise("\(launch.id) begins without the newest checkpoint")
        }
        guard submitters[request.id]?.contains(client.process) == true else {
            throw BrokenPromise("\(request.id) runs in process \(client.process), which did not submit it")
        }
        runners[launch.id] = client.process
        if !client.hasLeft { clients[id]?.runs[launch.id] = VirtualClient.Run(launch: launch) }
    }

    mutating func awaitEnd(of id: ClientID) throws {
        guard let client = clients.removeValue(forKey: id), client.hasLeft else {
            throw BrokenPromise("the end of \(id) is awaited, and it did not leave")
        }
        awaits.append((id, client.isDead))
    }

    // MARK: Answers

    /// Checks the promises that an answer to a client's report makes.
    func checkReport(_ id: LaunchID, _ report: ClientReport, process: Int32, _ answer: HostAnswer) throws {
        guard case .done = answer else { return }
        guard runners[id] == process else {
            throw BrokenPromise("process \(process) may report of \(id), which runs elsewhere")
        }
        switch report {
        case .progress, .title: return
        case .checkpoint(let bytes):
            guard saved[id]?.contains(bytes) == true else {
                throw BrokenPromise("a checkpoint of \(id) is acknowledged before it is stored")
            }
        case .complete(let success, _):
            guard let record = store.launch(id), record.state == .ended,
                (record.end?.outcome == .succeeded) == success
            else { throw BrokenPromise("the completion of \(id) is acknowledged before it is stored") }
        }
    }
}
