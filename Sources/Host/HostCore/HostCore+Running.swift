import Scheduling
import TaskModel

/// The reports of launches under way.
extension HostCore {
    mutating func take(_ event: LaunchEvent) {
        switch event {
        case .started(let id, let processIdentifier):
            launches[id]?.processIdentifier = processIdentifier
            // The priority may have changed since the order, when there was no process yet.
            if let launch = launches[id], launch.priority != launch.orderedPriority {
                emit(.setPriority(id, launch.priority))
            }
        case .ready(let id, let moment): ready(id, at: moment)
        case .progress(let id, let progress): self.progress(id, progress)
        case .log(let id, let level, let message, let subsystem, let category):
            emit(
                .log(
                    LogLine(
                        at: now.wall, level: level, source: .handler, launch: id,
                        identifier: launches[id]?.record.identifier, message: message, subsystem: subsystem,
                        category: category)))
        case .titleChanged(let id, let title, let subtitle): changeTitle(of: id, to: title, subtitle)
        case .advice(let id, let code, let message):
            if let record = launches[id]?.record { advise(record, code, message) }
        case .neverListened(let id): adviseToListen(id)
        case .faulted(let id, let fault):
            for line in fault.lines { log(.error, line, launch: id) }
        case .output(let id, let stream, let line):
            emit(
                .log(
                    LogLine(
                        at: now.wall, level: .info,
                        source: stream == .stdout ? .standardOutput : .standardError, launch: id,
                        identifier: launches[id]?.record.identifier, message: line)))
        case .checkpoint(let id, let bytes): keepCheckpoint(id, bytes)
        case .submit(let id, let call, let submission):
            submit(submission, for: .handler(id, call: call))
        case .cancel(let id, let call, let identifier): cancel(identifier, of: id, call)
        case .pending(let id, let call):
            let bundle = launches[id]?.record.bundle
            // Of a queue, a handler sees the first request; all of them may be more than a frame can contain.
            let pending = requests.durable.filter { $0.bundle == bundle && !requests.queues.isWaiting($0) }
            emit(.reply(id, call: call, .success(pending.sorted { $0.id < $1.id })))
        case .sessionCall(let id, let call, let question): takeSessionCall(question, of: id, call)
        case .assertionBegan(let id, let assertion, let name):
            launches[id]?.openAssertions.insert(assertion)
            log(.info, "assertion \(assertion) begins: \(name)", launch: id)
        case .assertionEnded(let id, let assertion):
            launches[id]?.openAssertions.remove(assertion)
            log(.info, "assertion \(assertion) ends", launch: id)
        case .expiring(let id, let reason, _): expiring(id, reason)
        case .tracingChanged(let id, let isTraced):
            log(
                .info,
                isTraced
                    ? "the launch's deadlines are paused, because a debugger holds its process"
                    : "the launch's deadlines count again, because no debugger holds its process",
                launch: id)
            feed(.tracingChanged(id, isTraced: isTraced))
        case .cpuWarning(let id, let message): log(.warning, message, launch: id)
        case .ended(let ended): self.ended(ended)
        case .unkillable(let id):
            log(
                .error,
                "its processes have not ended since the kill; it counts as running until they end",
                launch: id)
        case .templateEnded(let bundle, let message):
            log(
                .warning,
                "the process that holds the plugin of \(bundle) has ended, and the next launch starts another: "
                    + message)
        case .launcherUnavailable(let message):
            log(
                .error,
                "the launcher (the process that starts tasks) can't be started; the host tries again every "
                    + "5 s: \(message)")
        case .launcherDied(let message):
            log(.error, "the launcher died and is started again: \(message)")
        }
    }

    mutating func ready(_ id: LaunchID, at moment: Moment) {
        guard let launch = launches[id], launch.stage == .started else { return }
        if launch.record.state == .starting { launches[id]?.record.state = .running }
        launches[id]?.record.readyAt = moment.wall
        launches[id]?.readyAt = moment
        emit(.publish(.launchReady(id, launch.record.request, at: moment.wall)))
        emit(.note(.ready(at: moment.wall), id))
        feed(.launchReady(id))
        answerReadyWaiters(of: id)
    }

    /// Answers the callers that wait until a launch with a debugger has stopped before its handler, or has
    /// ended.
    mutating func answerReadyWaiters(of id: LaunchID) {
        for call in launches.takeReadyWaiters(of: id) {
            if let launch = launches[id], launch.stage != .ending {
                answer(
                    call,
                    .simulated(
                        SimulatedLaunch(
                            record: launch.record, processIdentifier: launch.processIdentifier)))
            } else {
                refuse(
                    call,
                    SubmissionError(
                        code: .unavailable, subject: "\(launches[id]?.record.identifier.rawValue ?? "\(id)")",
                        finding: "\(id) ended before its handler was called",
                        remedy: "See 'bgtask show \(id)'"))
            }
        }
    }

    mutating func progress(_ id: LaunchID, _ progress: TaskProgress) {
        guard let launch = launches[id], launch.stage != .ending else { return }
        launches[id]?.record.progress = progress
        emit(.note(.progress(progress), id))
        emit(.publish(.progress(id, launch.record.request, progress)))
        for event in activities.report(progress, of: id, at: now.monotonic, scheduler.settings) {
            feed(event)
        }
    }

    /// Changes the title of a launch in memory.
    ///
    /// The store gets the title with the launch's end, because the title may change 20 times a second.
    mutating func changeTitle(of id: LaunchID, to title: String, _ subtitle: String) {
        guard let record = launches[id]?.record, record.title != title || record.subtitle != subtitle else {
            return
        }
        launches[id]?.record.title = title
        launches[id]?.record.subtitle = subtitle
        emit(.publish(.titleChanged(id, record.request, title: title, subtitle: subtitle)))
    }

    mutating func keepCheckpoint(_ id: LaunchID, _ bytes: [UInt8], for call: CallID? = nil) {
        // The launch may end before the store answers, so the checkpoint counts from now on.
        if let launch = launches[id], !bytes.isEmpty, bytes != launch.begun.checkpoint {
            launches[id]?.record.hasNewCheckpoint = true
        }
        store(.checkpoint(id, bytes), .checkpoint(id, call))
    }

    mutating func expiring(_ id: LaunchID, _ reason: Reason) {
        guard let launch = launches[id], launch.stage != .ending else { return }
        launches[id]?.record.state = .expiring
        launches[id]?.record.expiration = reason
        emit(.publish(.launchExpiring(id, launch.record.request, reason)))
        log(.info, "expiring: \(reason.rawValue)", launch: id)
        feed(.launchExpiring(id))
        store(
            .markExpiring(id, reason, explanation: text(of: launch.stopExplanation)),
            .markExpiring(id))
    }

    mutating func measured(_ id: LaunchID, _ cpu: Duration) {
        guard let launch = launches[id] else { return }
        feed(.cpuMeasured(id, launch.client == nil ? cpu : cpuInClient(id, ofProcess: cpu)))
    }
}
