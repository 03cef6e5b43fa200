import HandlerRegistry
import LinuxSystem
import RequestStore
import Scheduling
import SystemConditions
public import TaskModel

/// A process that registered handlers: requests that it submits run in it.
struct ConnectedClient: Sendable {
    let id: ClientID
    /// Cannot come to mean another process.
    let process: ProcessHandle
    /// To know its other connections by, and for people.
    let processIdentifier: Int32
    let identifiers: [IdentifierPattern]
    let calls: AsyncStream<ClientCall>.Continuation

    /// Whether it has a handler for a task.
    func handles(_ identifier: TaskIdentifier) -> Bool { identifiers.contains { $0.matches(identifier) } }

    /// Whether its process is still there.
    var isAlive: Bool { !process.waitForEnd(timeoutMilliseconds: 0) }
}

/// Who the clients are: registering, submitting, leaving.
extension TaskHost {
    /// Registers a client; see `HostControl`.
    public func connect(
        _ identifiers: [IdentifierPattern], from process: Int32
    ) async throws(SubmissionError) -> AsyncStream<ClientCall> {
        guard phase == .serving else {
            throw SubmissionError(
                code: .unavailable, subject: "process \(process)",
                finding: "the host is \(phase == .draining ? "stopping" : "starting")",
                remedy: "Register again when it serves")
        }
        if !identifiers.allSatisfy(isPermitted) { await rescan() }
        if let refused = identifiers.first(where: { !isPermitted($0) }) { throw notPermitted(refused.base) }
        let handle: ProcessHandle
        do {
            handle = try ProcessHandle(of: process)
        } catch {
            throw SubmissionError(
                code: .unavailable, subject: "process \(process)",
                finding: "it can't be watched: \(error)",
                remedy: "Run it in the same PID namespace as the host")
        }
        lastClient += 1
        let id = ClientID(rawValue: lastClient)
        let (stream, calls) = AsyncStream.makeStream(of: ClientCall.self)
        clients[id] = ConnectedClient(
            id: id, process: handle, processIdentifier: process, identifiers: identifiers, calls: calls)
        calls.onTermination = { [weak self] _ in
            // Not a child of the task that reads: it ends with it.
            Task { await self?.left(id) }
        }
        log.append(
            .info,
            "client \(id), process \(process), handles \(identifiers.map(\.description).joined(separator: ", "))"
        )
        calls.yield(.registered(id))
        calls.yield(.conditions(clientConditions))
        return stream
    }

    /// Submits for a process, which runs it itself where it registered for it; see `HostControl`.
    public func submit(
        _ submission: TaskSubmission, from process: Int32
    ) async throws(SubmissionError) -> TaskRequest {
        let client = clients.values.filter {
            $0.processIdentifier == process && $0.handles(submission.identifier) && $0.isAlive
        }.max { $0.id.rawValue < $1.id.rawValue }
        return try await accept(
            submission, isInClient: client != nil,
            whenStored: { id in if let client { clientOfRequest[id] = client.id } }
        ).request
    }

    /// The client that runs a request; `nil` where a plugin does.
    func client(of request: RequestID) -> ConnectedClient? {
        clientOfRequest[request].flatMap { clients[$0] }
    }

    func noClient(for identifier: TaskIdentifier) -> SubmissionError {
        SubmissionError(
            code: .unavailable, subject: "\(identifier)",
            finding: "it runs in clients alone, and only what a connected client submits itself runs in it",
            remedy: "Start the program that registers for it, or add a 'library' to its manifest")
    }

    /// Whether a manifest permits what a client wants to handle.
    private func isPermitted(_ pattern: IdentifierPattern) -> Bool {
        registered.handlers.contains { handler in
            guard pattern.isWildcard else { return handler.manifest.declaration(for: pattern.base) != nil }
            return handler.manifest.tasks.contains { task in
                task.pattern == pattern || (task.pattern.isWildcard && task.pattern.matches(pattern.base))
            }
        }
    }

    /// Nobody reads any more what a client is told: its process has ended, or it closed the connection.
    private func left(_ id: ClientID) async {
        guard let client = clients.removeValue(forKey: id) else { return }
        log.append(.info, "client \(id), process \(client.processIdentifier), is gone")
        let launches = running.values.filter { $0.client == id }.map(\.record.id).sorted()
        if !launches.isEmpty {
            // The kernel closes a process's files before it is dead: it has a second for the rest of the way.
            let isDead = await withCheckedContinuation { answer in
                BlockingThread.start(named: "bgtask-client") {
                    answer.resume(returning: client.process.waitForEnd(timeoutMilliseconds: 1000))
                }
            }
            for launch in launches { await endInClient(launch, end(isDead: isDead, client, launch)) }
        }
        for (request, owner) in clientOfRequest where owner == id { clientOfRequest[request] = nil }
        await cancelWithoutClient()
    }

    /// Cancels the requests that nothing can run any more.
    func cancelWithoutClient() async {
        let stranded = pending.values.filter { request in
            clientOfRequest[request.id] == nil && !starting.contains(request.id)
                && handler(for: request)?.canLaunch(request.identifier) == false
        }
        for request in stranded.sorted(by: { $0.id < $1.id }) {
            log.append(.notice, "cancelled \(request.id): its client is gone", identifier: request.identifier)
            await cancelRequest(request.id, reason: .clientGone)
            await schedule(.withdrawn(request.id))
        }
    }

    private func end(isDead: Bool, _ client: ConnectedClient, _ id: LaunchID) -> LaunchEnd {
        let subject = "its client, process \(client.processIdentifier),"
        if let reason = running[id]?.record.expiration ?? (phase == .draining ? .hostShutdown : nil) {
            return .stoppedInClient(reason, "\(subject) \(isDead ? "ended" : "closed its connection")")
        }
        return isDead
            ? LaunchEnd(
                outcome: .crashed, reason: .exitedWithoutCompleting,
                message: "\(subject) ended before it had completed")
            : LaunchEnd(
                outcome: .failed, reason: .exitedWithoutCompleting,
                message: "\(subject) closed its connection before it had completed")
    }
}
