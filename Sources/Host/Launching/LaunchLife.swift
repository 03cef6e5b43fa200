import TaskModel

/// The life of one launch as a pure machine: what happened goes in, what is to be done comes out.
///
/// It decides the outcome by the table of semantics, section 3. It reads no clock and does no I/O; its owner
/// performs the actions and feeds back what came of them. Every stage takes every event.
struct LaunchLife: Equatable, Sendable {
    /// Where it is.
    enum Stage: Equatable, Sendable, CaseIterable {
        /// Waits for its template to load.
        case waiting
        /// Asked of the launcher, with what it is to read at its start.
        case spawning
        /// Its process exists and loads.
        case starting
        /// Its handler runs.
        case running
        /// The expire frame was written; grace runs.
        case expiring
        /// It has completed and may still tidy up.
        case completed
        /// A kill was sent; only its end is awaited.
        case killing
        /// Over.
        case ended
    }

    /// What can happen to it.
    enum Event: Equatable, Sendable {
        /// Its template is loaded, or it needs none.
        case templateReady
        /// Its template could not load, or died loading.
        case templateFailed(finding: String, status: ExitStatus?)
        /// Loading took too long.
        case loadDeadlinePassed
        /// Its process exists.
        case spawned
        /// Its process could not be made.
        case spawnFailed(finding: String)
        /// The *ready* frame.
        case ready
        /// The *load failed* frame.
        case loadFailed(finding: String)
        /// The *done* frame.
        case done(success: Bool, message: String?, isUnstarted: Bool, isDeaf: Bool = false)
        /// The *fault* frame.
        case fault(LaunchFault)
        /// The host wants it to stop; the note has the numbers that decided.
        case expire(Reason, note: String? = nil)
        /// The grace period is over.
        case graceEnded
        /// The time after completion is over.
        case tidyingEnded
        /// The host wants it dead.
        case kill(Reason, message: String)
        /// It broke the protocol.
        case violation(finding: String, code: UInt32?)
        /// Its process was reaped, its group is empty and its pipes are read to the end; how the kernel
        /// killed in it for want of memory.
        case exited(ExitStatus, leftovers: Int, outOfMemory: String? = nil)
        /// Its processes do not die.
        case unkillable
        /// The launcher died; its group has been emptied.
        case launcherDied(message: String)
    }

    /// What its owner has to do.
    enum Action: Equatable, Sendable {
        /// Find it a template again.
        case prepare
        /// Ask the launcher for its process.
        case spawn
        /// Hold it to the load deadline.
        case awaitReady
        /// The handler runs: tell, and start the monitors.
        case beginRun
        /// Climb this ladder.
        case climb([LadderStep])
        /// Let it tidy up for a bounded time.
        case awaitExit
        /// Kill everything that it started.
        case kill
        /// It is over.
        case end(LaunchEnd)
    }

    /// Apple's code of a task that was killed after a deadline.
    static let deadlineCode: UInt32 = 0x8bad_f00d
    /// How long a library may take to load, constructors and entry together.
    static let loadDeadline = Duration.seconds(5)
    private static let unstarted = "it had not started yet"

    private(set) var stage = Stage.waiting
    /// The reason of the expiration that was asked for.
    private(set) var expiration: Reason?
    private var expirationNote: String?
    /// Whether *ready* has come; an expiration may come before it.
    private var wasReady = false
    /// How it ends, once that is decided; the exit only adds its status.
    private var verdict: LaunchEnd?
    /// Why it says that it ends itself.
    private var fault: LaunchFault?
    private var isUnkillable = false
    private var hasTriesLeft = true
    private let grace: Duration

    init(grace: Duration) {
        self.grace = grace
    }

    /// Takes an event; returns what to do, in order.
    mutating func handle(_ event: Event) -> [Action] {
        switch stage {
        case .waiting: handleWaiting(event)
        case .spawning: handleSpawning(event)
        case .starting, .running, .expiring: handleAlive(event)
        case .completed, .killing: handleLeaving(event)
        case .ended: []
        }
    }

    // MARK: No process yet

    private mutating func handleWaiting(_ event: Event) -> [Action] {
        switch event {
        case .templateReady:
            stage = .spawning
            return [.spawn]
        case .templateFailed(let finding, let status):
            return end(.failedLoad(finding, status))
        case .loadDeadlinePassed:
            return end(.tooSlowToLoad)
        case .spawnFailed(let finding):
            return end(LaunchEnd(outcome: .failed, reason: .loadFailed, message: finding))
        case .expire(let reason, _):
            return end(.stopped(reason, message: Self.unstarted))
        case .kill(let reason, let message):
            return end(LaunchEnd(outcome: .killed, reason: reason, message: message))
        case .launcherDied(let message):
            return end(LaunchEnd(outcome: .lost, reason: .launcherDied, message: message))
        case .spawned, .ready, .loadFailed, .done, .fault, .graceEnded, .tidyingEnded, .violation, .exited,
            .unkillable:
            return []
        }
    }

    private mutating func handleSpawning(_ event: Event) -> [Action] {
        switch event {
        case .spawned:
            guard let expiration else {
                stage = .starting
                return [.awaitReady]
            }
            stage = .expiring
            return [.awaitReady, .climb(LadderStep.expiration(expiration, grace: grace))]
        case .spawnFailed(let finding):
            if let expiration { return end(.stopped(expiration, message: Self.unstarted)) }
            // Its template may have been killed in the meantime: a new one gets one try.
            guard hasTriesLeft else {
                return end(LaunchEnd(outcome: .failed, reason: .loadFailed, message: finding))
            }
            hasTriesLeft = false
            stage = .waiting
            return [.prepare]
        case .expire(let reason, let note):
            // Its handler may run already, of which the launcher's answer tells: then it is told as any
            // other.
            guard expiration == nil else { return [] }
            expiration = reason
            expirationNote = note
            return []
        case .kill(let reason, let message):
            return kill(LaunchEnd(outcome: .killed, reason: reason, message: message))
        case .exited(let status, let leftovers, let outOfMemory):
            return exited(status, leftovers, outOfMemory)
        case .launcherDied(let message):
            return end(LaunchEnd(outcome: .lost, reason: .launcherDied, message: message))
        case .templateReady, .templateFailed, .loadDeadlinePassed, .ready, .loadFailed, .done, .fault,
            .graceEnded, .tidyingEnded, .violation, .unkillable:
            // The launcher answers the spawn itself, whatever becomes of the template.
            return []
        }
    }

    // MARK: A process that works

    private mutating func handleAlive(_ event: Event) -> [Action] {
        switch event {
        case .ready:
            if wasReady { return violation("it said ready twice", nil) }
            wasReady = true
            if stage == .starting { stage = .running }
            return [.beginRun]
        case .loadFailed(let finding):
            if wasReady { return violation("it said that its load failed after it was ready", nil) }
            verdict = LaunchEnd(outcome: .failed, reason: .loadFailed, message: finding)
            stage = .completed
            return [.awaitExit]
        case .loadDeadlinePassed:
            return wasReady ? [] : kill(.tooSlowToLoad)
        case .done(let success, let message, let isUnstarted, let isDeaf):
            guard wasReady || isUnstarted else { return violation("it completed before it was ready", nil) }
            verdict = completed(success, message, isUnstarted)
            verdict?.completion = isUnstarted ? nil : success
            // Apple's rule: an expiration that nothing listens to completes the task, without success.
            verdict?.neverListened = isUnstarted && isDeaf && wasReady
            stage = .completed
            return [.awaitExit]
        case .fault(let said):
            fault = fault ?? said
            return []
        case .expire(let reason, let note):
            guard stage != .expiring else { return [] }
            expiration = reason
            expirationNote = note
            stage = .expiring
            return [.climb(LadderStep.expiration(reason, grace: grace))]
        case .graceEnded:
            guard stage == .expiring, let expiration else { return [] }
            var end = LaunchEnd(
                outcome: .killed, reason: expiration,
                message: noted("it had not completed \(grace.shortText) after it was asked to stop"))
            end.code = Self.deadlineCode
            return kill(end)
        case .kill(let reason, let message):
            return kill(LaunchEnd(outcome: .killed, reason: reason, message: message))
        case .violation(let finding, let code):
            return violation(finding, code)
        case .exited(let status, let leftovers, let outOfMemory):
            return exited(status, leftovers, outOfMemory)
        case .unkillable:
            isUnkillable = true
            return []
        case .launcherDied(let message):
            return end(LaunchEnd(outcome: .lost, reason: .launcherDied, message: message))
        case .templateReady, .templateFailed, .spawned, .spawnFailed, .tidyingEnded:
            return []
        }
    }

    // MARK: A process that leaves

    private mutating func handleLeaving(_ event: Event) -> [Action] {
        switch event {
        case .exited(let status, let leftovers, let outOfMemory):
            return exited(status, leftovers, outOfMemory)
        case .spawnFailed(let finding):
            // It was to be killed while it was asked for, and never came to be.
            return end(verdict ?? LaunchEnd(outcome: .failed, reason: .loadFailed, message: finding))
        case .tidyingEnded, .kill:
            guard stage == .completed else { return [] }
            // What it said stands; only its remains are removed.
            stage = .killing
            return [.kill]
        case .spawned:
            // The kill was sent before the process existed.
            return stage == .killing ? [.kill] : []
        case .fault(let said):
            if stage == .completed { fault = fault ?? said }
            return []
        case .unkillable:
            isUnkillable = true
            return []
        case .launcherDied(let message):
            if stage == .completed, let verdict { return end(verdict) }
            return end(LaunchEnd(outcome: .lost, reason: .launcherDied, message: message))
        case .templateReady, .templateFailed, .loadDeadlinePassed, .ready, .loadFailed, .done, .expire,
            .graceEnded,
            .violation:
            // After completion its frames no longer matter, and while it is killed neither.
            return []
        }
    }

    // MARK: Ends

    private mutating func violation(_ finding: String, _ code: UInt32?) -> [Action] {
        var end = LaunchEnd(outcome: .killed, reason: .protocolError, message: finding)
        end.code = code
        return kill(end)
    }

    private mutating func kill(_ end: LaunchEnd) -> [Action] {
        verdict = end
        stage = .killing
        return [.kill]
    }

    private mutating func end(_ end: LaunchEnd) -> [Action] {
        stage = .ended
        return [.end(end)]
    }

    private func completed(_ success: Bool, _ message: String?, _ isUnstarted: Bool) -> LaunchEnd {
        if success {
            return LaunchEnd(outcome: .succeeded, reason: expiration, message: message ?? expirationNote)
        }
        guard let expiration else {
            return LaunchEnd(outcome: .failed, reason: .handlerFailed, message: message)
        }
        return .stopped(
            expiration, message: noted(isUnstarted ? message ?? "it has no expiration handler" : message))
    }

    /// The note of the expiration before what else there is to say.
    private func noted(_ message: String?) -> String? {
        let parts = [expirationNote, message].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private mutating func exited(_ status: ExitStatus, _ leftovers: Int, _ outOfMemory: String?) -> [Action] {
        var result = verdict ?? undecided(status, outOfMemory)
        result.signal = result.signal ?? status.signal
        result.exitStatus = result.exitStatus ?? status.code
        result.leftovers = leftovers
        if let fault { result.add(fault) }
        if isUnkillable {
            result.reason = .unkillable
            let note = "its processes were still there 5 s after the kill"
            result.message = result.message.map { "\($0); \(note)" } ?? note
        }
        return end(result)
    }

    /// The end of a process that has neither completed nor been killed by the host.
    private func undecided(_ status: ExitStatus, _ outOfMemory: String?) -> LaunchEnd {
        if let signal = status.signal {
            if signal == ExitStatus.killSignal, let outOfMemory {
                return LaunchEnd(outcome: .killed, reason: .memoryLimit, message: outOfMemory)
            }
            var end = LaunchEnd(
                outcome: .crashed, reason: .signal, message: ExitStatus.name(ofSignal: signal))
            end.phase = wasReady ? .run : .load
            return end
        }
        if status.code == ExitStatus.hostViolation {
            return LaunchEnd(
                outcome: .failed, reason: .protocolError, message: "the runner did not understand the host")
        }
        if let expiration {
            return .stopped(expiration, message: noted("it stopped before it had completed"))
        }
        return LaunchEnd(
            outcome: .failed, reason: .exitedWithoutCompleting,
            message: "it ended with status \(status.code ?? 0) and never completed")
    }
}
