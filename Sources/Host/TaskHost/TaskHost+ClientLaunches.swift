import HandlerRegistry
import Launching
import LinuxSystem
import RequestStore
import Scheduling
import SystemConditions
public import TaskModel

/// Launches that run in a client: the host keeps lease, stall, expiration and record, and never kills.
extension TaskHost {
    /// Hands a launch that is recorded to its client.
    func begin(_ id: LaunchID, in client: ConnectedClient) async {
        guard let launch = running[id] else { return }
        guard clients[client.id] != nil else {
            return await endInClient(
                id,
                LaunchEnd(
                    outcome: .failed, reason: .exitedWithoutCompleting,
                    message: "its client closed its connection before it was launched"))
        }
        var checkpoint: [UInt8]?
        do {
            checkpoint = try await store.checkpoint(of: launch.record.request)
        } catch {
            log.append(.error, "its checkpoint was not read: \(error)", launch: id)
        }
        running[id]?.processIdentifier = client.processIdentifier
        running[id]?.cpuBefore = ProcessUsage.cpuTime(of: [client.processIdentifier])
        client.calls.yield(
            .launch(
                ClientLaunch(
                    id: id, request: launch.request, checkpoint: checkpoint,
                    lease: limits(of: launch.request).lease)))
        await handle(.ready(id, at: moments.now()))
    }

    /// Takes what a client says of its launch; see `HostControl`.
    public func report(
        _ id: LaunchID, _ report: ClientReport, from process: Int32
    ) async throws(SubmissionError) {
        guard let launch = running[id], let client = launch.client else {
            throw SubmissionError(
                code: .notFound, subject: "\(id)", finding: "no such launch runs in a client",
                remedy: "It has ended: see 'bgtask show \(id)'")
        }
        guard clients[client]?.processIdentifier == process else {
            throw SubmissionError(
                code: .notPermitted, subject: "\(id)",
                finding: "it runs in process \(launch.processIdentifier ?? 0), and this came from \(process)",
                remedy: "Report from the process that runs it")
        }
        switch report {
        case .progress(let progress):
            watchCPU(of: id)
            await handle(.progress(id, progress))
        case .checkpoint(let bytes): await handle(.checkpoint(id, bytes))
        case .title(let title, let subtitle):
            await handle(.titleChanged(id, title: title, subtitle: subtitle))
        case .complete(let success, let message):
            var end =
                switch (success, launch.record.expiration) {
                case (true, let reason): LaunchEnd(outcome: .succeeded, reason: reason, message: message)
                case (false, let reason?): LaunchEnd.stoppedInClient(reason, message)
                case (false, nil): LaunchEnd(outcome: .failed, reason: .handlerFailed, message: message)
                }
            end.completion = success
            await endInClient(id, end)
        }
    }

    /// Tells a client to stop a launch, which is over after the grace period in any case.
    func expireInClient(_ id: LaunchID, _ reason: Reason) async {
        guard let launch = running[id], let client = launch.client.flatMap({ clients[$0] }) else { return }
        let grace = limits(of: launch.request).lease.gracePeriod
        client.calls.yield(.expire(id, reason, grace: grace))
        clientDeadlines[id] = moments.now().boot + grace
        armTimer()
        await handle(.expiring(id, reason, at: moments.now()))
    }

    /// Ends the launches whose clients did not stop in time; the clients go on, and the record says so.
    func endOverdueInClients() async {
        let now = moments.now().boot
        for (id, deadline) in clientDeadlines.sorted(by: { $0.key < $1.key }) where deadline <= now {
            guard let launch = running[id], let reason = launch.record.expiration else {
                clientDeadlines[id] = nil
                continue
            }
            let grace = limits(of: launch.request).lease.gracePeriod.inSeconds
            await endInClient(
                id,
                .stoppedInClient(
                    reason,
                    "it had not completed \(grace) s after it was told to stop; the host kills no client, "
                        + "so process \(launch.processIdentifier ?? 0) may still work at it"))
        }
    }

    /// Records the end of a launch in a client, once.
    func endInClient(_ id: LaunchID, _ end: LaunchEnd) async {
        guard running[id]?.client != nil, !endingInClients.contains(id) else { return }
        endingInClients.insert(id)
        defer { endingInClients.remove(id) }
        watchCPU(of: id)
        clientDeadlines[id] = nil
        await handle(
            .ended(
                id, end, cpuTime: running[id]?.record.cpuTime ?? .zero, cpuIsLowerBound: true,
                peakMemory: nil, at: moments.now()))
    }

    /// What the client's process has used since the launch began; other work of the process is in it.
    func cpuInClient(_ id: LaunchID) -> Duration {
        guard let launch = running[id], let process = launch.processIdentifier,
            launch.client.flatMap({ clients[$0] })?.isAlive == true
        else { return running[id]?.record.cpuTime ?? .zero }
        return max(launch.record.cpuTime, ProcessUsage.cpuTime(of: [process]) - launch.cpuBefore)
    }

    /// Says once that a launch uses more than its limit: a client is not stopped for it.
    private func watchCPU(of id: LaunchID) {
        guard let launch = running[id], let readyAt = launch.record.readyAt else { return }
        let used = cpuInClient(id)
        running[id]?.record.cpuTime = used
        let elapsed = moments.now().wall - readyAt
        guard let limit = limits(of: launch.request).cpu, !launch.hasToldCPU, used >= limit.quota,
            used * 100 > elapsed * limit.percent
        else { return }
        running[id]?.hasToldCPU = true
        log.append(
            .warning,
            "\(Int(used.inSeconds)) s CPU over \(Int(elapsed.inSeconds)) s, exceeding \(limit.percent) % over "
                + "\(Int(limit.window.inSeconds)) s; a client is not stopped for it",
            launch: id, identifier: launch.record.identifier)
    }

    /// What clients may know of the machine.
    var clientConditions: HandlerConditions {
        HandlerConditions(sensors.snapshot(), refresh: settings.refresh)
    }

    /// Tells every client what the machine is like now.
    func tellClientsConditions() {
        let conditions = clientConditions
        for client in clients.values { client.calls.yield(.conditions(conditions)) }
    }
}

extension LaunchEnd {
    /// The end of what was told to stop: a cancellation has an outcome of its own.
    static func stoppedInClient(_ reason: Reason, _ message: String?) -> LaunchEnd {
        let isCancelled = reason == .cancelledByUser || reason == .manifestRemoved
        return LaunchEnd(outcome: isCancelled ? .cancelled : .expired, reason: reason, message: message)
    }
}
