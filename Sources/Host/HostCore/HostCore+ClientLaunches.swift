import Scheduling
import TaskModel

/// Launches that run in a client process.
///
/// The host keeps their lease, stall limit, expiration and record, but never kills a client.
extension HostCore {
    /// Sends a launch to its client; the store has recorded the launch.
    mutating func beginInClient(_ id: LaunchID) {
        guard let launch = launches[id], let name = launch.client else { return }
        launches[id]?.stage = .started
        guard let client = clients[name] else {
            return endInClient(
                id,
                LaunchEnd(
                    outcome: .failed, reason: .exitedWithoutCompleting,
                    message: "the client that handles the task closed its connection before the launch began")
            )
        }
        launches[id]?.processIdentifier = client.processIdentifier
        emit(.measureClient(id, name))
        emit(
            .notifyClient(
                name,
                .launch(
                    ClientLaunch(
                        id: id, request: launch.request, checkpoint: launch.begun.checkpoint,
                        lease: limits(of: launch.request).lease))))
        ready(id, at: now)
    }

    /// Handles a client's report about its launch.
    ///
    /// `processCPU` is the CPU time of the client's whole process, and `call` is the call to answer.
    mutating func take(
        _ report: ClientReport, of id: LaunchID, from process: Int32, _ processCPU: Duration, _ call: CallID
    ) {
        guard let launch = launches[id], let client = launch.client, launch.stage != .ending else {
            return refuse(
                call,
                SubmissionError(
                    code: .notFound, subject: "\(id)", finding: "no such launch runs in a client",
                    remedy: "If it has ended, see how: bgtask show \(id)"))
        }
        guard clients[client]?.processIdentifier == process else {
            return refuse(
                call,
                SubmissionError(
                    code: .notPermitted, subject: "\(id)",
                    finding:
                        "it runs in process \(launch.processIdentifier ?? 0), and this report came from process \(process)",
                    remedy: "Send the report from the process that runs the launch"))
        }
        watchCPU(of: id, processCPU)
        switch report {
        case .progress(let progress): self.progress(id, progress)
        case .checkpoint(let bytes): return keepCheckpoint(id, bytes, for: call)
        case .title(let title, let subtitle): changeTitle(of: id, to: title, subtitle)
        case .complete(let success, let message):
            var end =
                switch (success, launch.record.expiration) {
                case (true, let reason): LaunchEnd(outcome: .succeeded, reason: reason, message: message)
                case (false, let reason?): LaunchEnd.stopped(reason, message: message)
                case (false, nil): LaunchEnd(outcome: .failed, reason: .handlerFailed, message: message)
                }
            end.completion = success
            launches[id]?.reporter = call
            return endInClient(id, end)
        }
        answer(call, .done)
    }

    /// Asks a client to stop a launch; the host ends the launch if it still runs after the grace period.
    mutating func expireInClient(_ id: LaunchID, _ reason: Reason) {
        guard let launch = launches[id], let name = launch.client, clients[name] != nil else { return }
        let grace = limits(of: launch.request).lease.gracePeriod
        emit(.notifyClient(name, .expire(id, reason, grace: grace)))
        launches.setDeadline(now.boot + grace, of: id)
        expiring(id, reason)
    }

    /// Ends the launches whose clients did not stop them within the grace period.
    ///
    /// The clients keep running, and the record says so.
    mutating func endOverdueInClients() {
        for (id, deadline) in launches.deadlines.sorted(by: { $0.key < $1.key }) where deadline <= now.boot {
            guard let launch = launches[id], let reason = launch.record.expiration else {
                launches.setDeadline(nil, of: id)
                continue
            }
            let grace = limits(of: launch.request).lease.gracePeriod.inSeconds
            endInClient(
                id,
                .stopped(
                    reason,
                    message:
                        "it had not completed \(grace) s after it was asked to stop; the host does not kill clients, "
                        + "so process \(launch.processIdentifier ?? 0) may still work on it"))
        }
    }

    /// Ends a launch in a client; does nothing if it has ended already.
    mutating func endInClient(_ id: LaunchID, _ end: LaunchEnd) {
        guard let launch = launches[id], launch.client != nil, launch.stage != .ending else { return }
        launches.setDeadline(nil, of: id)
        ended(
            EndedLaunch(
                id: id, end: end, at: now, cpuTime: launch.record.cpuTime, cpuIsLowerBound: true))
    }

    /// Returns the CPU time that the client's process has used since the launch began.
    ///
    /// This includes other work of the process. The first measurement of a launch returns zero.
    mutating func cpuInClient(_ id: LaunchID, ofProcess cpu: Duration) -> Duration {
        guard let launch = launches[id] else { return .zero }
        guard let before = launch.cpuBefore else {
            launches[id]?.cpuBefore = cpu
            return .zero
        }
        let used = max(launch.record.cpuTime, cpu - before)
        launches[id]?.record.cpuTime = used
        return used
    }

    /// Logs once that a launch uses more CPU time than its limit; the host does not stop a client for that.
    private mutating func watchCPU(of id: LaunchID, _ processCPU: Duration) {
        guard let launch = launches[id], let readyAt = launch.record.readyAt else { return }
        let used = cpuInClient(id, ofProcess: processCPU)
        let elapsed = now.wall - readyAt
        guard let limit = limits(of: launch.request).cpu, !launch.hasReportedCPU, used >= limit.quota,
            used * 100 > elapsed * limit.percent
        else { return }
        launches[id]?.hasReportedCPU = true
        log(
            .warning,
            "\(Int(used.inSeconds)) s CPU over \(Int(elapsed.inSeconds)) s, exceeding \(limit.percent) % over "
                + "\(Int(limit.window.inSeconds)) s; a client is not stopped for it",
            launch: id)
    }
}
