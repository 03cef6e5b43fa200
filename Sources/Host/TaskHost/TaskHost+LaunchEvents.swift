import Launching
import LinuxSystem
import RequestStore
import Scheduling
import TaskModel

/// A launch's end that the store could not take when it came.
struct UnsavedEnd: Sendable {
    var launch: RunningLaunch
    var end: LaunchEnd
    var at: WallTime

    /// The launch as it ended.
    var record: LaunchRecord {
        var record = launch.record
        record.state = .ended
        record.endedAt = at
        record.end = end
        return record
    }
}

/// What launches tell.
extension TaskHost {
    func handle(_ event: LaunchEvent) async {
        switch event {
        case .started(let id, let processIdentifier):
            running[id]?.processIdentifier = processIdentifier
            if let launch = running[id] { launcher.setPriority(id, launch.priority) }
        case .ready(let id, let moment):
            await ready(id, at: moment)
        case .progress(let id, let progress):
            guard let launch = running[id] else { return }
            running[id]?.record.progress = progress
            store.recordProgress(id, progress, at: moments.now())
            happenings.send(.progress(id, launch.record.request, progress))
            await schedule(.progressed(id, progress))
        case .log(let id, let level, let message, let subsystem, let category):
            log.append(
                LogLine(
                    at: moments.now().wall, level: level, source: .handler, launch: id,
                    identifier: running[id]?.record.identifier, message: message, subsystem: subsystem,
                    category: category))
        case .titleChanged(let id, let title, let subtitle):
            changeTitle(of: id, to: title, subtitle)
        case .advice(let id, let code, let message):
            if let record = running[id]?.record { advise(record, code, message) }
        case .neverListened(let id):
            adviseToListen(id)
        case .faulted(let id, let fault):
            for line in fault.lines { note(.error, line, of: id) }
        case .output(let id, let stream, let line):
            log.append(
                LogLine(
                    at: moments.now().wall, level: .info,
                    source: stream == .stdout ? .standardOutput : .standardError, launch: id,
                    identifier: running[id]?.record.identifier, message: line))
        case .checkpoint(let id, let bytes):
            await saveCheckpoint(id, bytes)
        case .submit(let id, let call, let submission):
            launcher.reply(id, call: call, await answerSubmit(submission, from: id))
        case .cancel(let id, let call, let identifier):
            launcher.reply(id, call: call, await answerCancel(identifier, from: id))
        case .pending(let id, let call):
            launcher.reply(id, call: call, answerPending(from: id))
        case .assertionBegan(let id, let assertion, let name):
            running[id]?.openAssertions.insert(assertion)
            note(.info, "assertion \(assertion) begins: \(name)", of: id)
        case .assertionEnded(let id, let assertion):
            running[id]?.openAssertions.remove(assertion)
            note(.info, "assertion \(assertion) ends", of: id)
        case .expiring(let id, let reason, _):
            await expiring(id, reason)
        case .tracingChanged(let id, let isTraced):
            note(.info, isTraced ? "held for a debugger" : "no debugger holds it any more", of: id)
            await schedule(.tracingChanged(id, isTraced: isTraced))
        case .cpuWarning(let id, let message):
            note(.warning, message, of: id)
        case .ended(let id, let end, let cpuTime, let cpuIsLowerBound, let peakMemory, let moment):
            guard var launch = running[id] else { return }
            launch.record.cpuTime = cpuTime
            launch.record.cpuIsLowerBound = cpuIsLowerBound
            launch.record.peakMemory = peakMemory
            await ended(launch, end, at: moment.wall)
        case .unkillable(let id):
            note(.error, "the kernel can't kill it yet; its slot stays taken", of: id)
        case .launcherUnavailable(let message):
            log.append(.error, "the launcher can't be started: \(message)")
        case .launcherDied(let message):
            log.append(.error, "the launcher died and is started again: \(message)")
        }
    }

    private func note(_ level: LogLine.Level, _ message: String, of id: LaunchID) {
        log.append(level, message, launch: id, identifier: running[id]?.record.identifier)
    }

    /// Shown from now on; stored with the launch's end, as it may change 20 times a second.
    private func changeTitle(of id: LaunchID, to title: String, _ subtitle: String) {
        guard let record = running[id]?.record, record.title != title || record.subtitle != subtitle else {
            return
        }
        running[id]?.record.title = title
        running[id]?.record.subtitle = subtitle
        happenings.send(.titleChanged(id, record.request, title: title, subtitle: subtitle))
    }

    private func ready(_ id: LaunchID, at moment: Moment) async {
        guard let launch = running[id] else { return }
        running[id]?.record.state = .running
        running[id]?.record.readyAt = moment.wall
        happenings.send(.launchReady(id, launch.record.request, at: moment.wall))
        await schedule(.launchReady(id))
        resumeReadyWaiters(of: id)
        do {
            try await store.markReady(id, at: moment.wall)
        } catch {
            note(.error, "its begin was not stored: \(error)", of: id)
        }
    }

    private func resumeReadyWaiters(of id: LaunchID) {
        for waiter in readyWaiters.removeValue(forKey: id) ?? [] { waiter.resume() }
    }

    private func saveCheckpoint(_ id: LaunchID, _ bytes: [UInt8]) async {
        do {
            try await store.saveCheckpoint(id, bytes)
            await schedule(.launchActive(id))
        } catch {
            note(.error, "its checkpoint was not stored: \(error)", of: id)
        }
    }

    private func expiring(_ id: LaunchID, _ reason: Reason) async {
        guard let launch = running[id] else { return }
        running[id]?.record.state = .expiring
        running[id]?.record.expiration = reason
        happenings.send(.launchExpiring(id, launch.record.request, reason))
        note(.info, "expiring: \(reason.rawValue)", of: id)
        await schedule(.launchExpiring(id))
        do {
            try await store.markExpiring(
                id, reason: reason, explanation: ExplanationText.encode(running[id]?.stopExplanation))
        } catch {
            note(.error, "its expiration was not stored: \(error)", of: id)
        }
    }

    private func ended(_ launch: RunningLaunch, _ end: LaunchEnd, at time: WallTime) async {
        let id = launch.record.id
        do {
            try directories.removeTemporary(of: id)
        } catch {
            note(.warning, "its temporary directory stays: \(error)", of: id)
        }
        let unsaved = UnsavedEnd(launch: launch, end: end, at: time)
        do {
            let putBack = try await save(unsaved)
            await finish(unsaved, putBack: putBack)
        } catch {
            // The launch is over; its result stays in memory until the store can take it. Its slot is free, its
            // request is not: the store still has it as launched.
            note(.error, "its end was not stored yet: \(error)", of: id)
            unsavedEnds.append(unsaved)
            await finish(unsaved, putBack: nil)
            armTimer()
        }
    }

    /// Stores an end and, by the rule, puts its request back.
    private func save(_ unsaved: UnsavedEnd) async throws -> TaskRequest? {
        let record = unsaved.launch.record
        let putBack = putBack(of: unsaved)
        return try await store.endLaunch(
            record.id, unsaved.end, at: unsaved.at, cpuTime: record.cpuTime,
            cpuIsLowerBound: record.cpuIsLowerBound, peakMemory: record.peakMemory,
            progress: record.progress,
            title: LaunchTitle(title: record.title, subtitle: record.subtitle), putBack: putBack)
    }

    /// Whether and when the request of a launch that ended is tried again.
    private func putBack(of unsaved: UnsavedEnd) -> PutBack? {
        let (record, request) = (unsaved.launch.record, unsaved.launch.request)
        let outcome = unsaved.end.outcome
        if PutBackRule.applies(
            kind: record.kind, outcome: outcome, completed: unsaved.end.completion != nil,
            expiration: record.expiration,
            isAtMostOnce: unsaved.launch.isAtMostOnce)
        {
            // An expiration is no failure of the handler: its next attempt waits for conditions, not for a back-off.
            guard outcome == .lost else { return PutBack(notBefore: nil) }
            return PutBack(notBefore: unsaved.at + settings.backOff(afterAttempt: record.attempt))
        }
        let declaration = handler(for: request)?.manifest.declaration(for: request.identifier)
        return PutBackRule.retryDelay(
            outcome: outcome, expiration: record.expiration, retry: declaration?.retry,
            failures: request.failures
        ).map { PutBack(notBefore: unsaved.at + $0, isRetry: true) }
    }

    private func finish(_ unsaved: UnsavedEnd, putBack: TaskRequest?) async {
        let record = unsaved.record
        running[record.id] = nil
        clientDeadlines[record.id] = nil
        if putBack == nil { clientOfRequest[record.request] = nil }
        removeCopies(after: unsaved.launch)
        if let putBack { pending[putBack.id] = putBack }
        log.append(
            unsaved.end.outcome == .succeeded ? .info : .notice, unsaved.end.summary(putBack: putBack),
            launch: record.id, identifier: record.identifier)
        advise(after: unsaved.end, of: unsaved.launch, putBack: putBack)
        happenings.send(.launchEnded(record, putBack: putBack))
        // One that died with an assertion open did not leak it: only who has completed should have ended them.
        let leaks = unsaved.end.completion == nil ? 0 : unsaved.launch.openAssertions.count
        let ending = LaunchEnding(
            outcome: unsaved.end.outcome, cpuTime: record.cpuTime, leakedAssertions: leaks)
        await schedule(.launchEnded(record.id, putBack: putBack, ending: ending))
        resumeReadyWaiters(of: record.id)
        finishIfDrained()
        letSleepIfDrained()
    }

    /// Tries again to store the ends that it could not take.
    func saveEnds() async {
        while let unsaved = unsavedEnds.first {
            do {
                if let putBack = try await save(unsaved) {
                    pending[putBack.id] = putBack
                    await schedule(.submitted(putBack))
                }
                unsavedEnds.removeFirst()
                log.append(
                    .notice, "its end is stored now", launch: unsaved.launch.record.id,
                    identifier: unsaved.launch.record.identifier)
            } catch {
                break
            }
        }
        armTimer()
    }
}

extension LaunchEnd {
    /// One line: `expired, leaseEnded; put back as attempt 2`.
    func summary(putBack: TaskRequest?) -> String {
        var text = outcome.rawValue
        if let reason { text += ", \(reason.rawValue)" }
        if let message { text += ": \(message)" }
        if leftovers > 0 { text += "; \(leftovers) processes outlived it and were killed" }
        if let putBack { text += "; put back as attempt \(putBack.attempt)" }
        return text
    }
}
