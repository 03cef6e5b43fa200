import TaskModel

/// The state machine of one launch: events go in, and the actions to perform come out.
///
/// It decides the outcome as Documentation/Outcomes.md describes. It reads no clock and performs no I/O: its
/// owner performs the actions and reports their results as events. It accepts every event in every stage.
struct LaunchLife: Equatable, Sendable {
    /// The stage of the launch.
    enum Stage: Equatable, Sendable, CaseIterable {
        /// The launch waits until its template has loaded.
        case waiting
        /// The launcher was asked for a process; the frames for its start have been sent.
        case spawning
        /// The process exists, and gets ready to call the handler.
        case starting
        /// The handler runs.
        case running
        /// The *expire* frame was sent, and the grace period runs.
        case expiring
        /// The task has completed, and may still clean up.
        case completed
        /// A kill was sent, and the end of the processes is awaited.
        case killing
        /// The launch has ended.
        case ended
    }

    /// An event in the life of a launch.
    enum Event: Equatable, Sendable {
        /// The template is loaded.
        case templateReady
        /// The template could not be set up, could not load its library, or has ended.
        case templateFailed(finding: String, status: ExitStatus?, isShortage: Bool = false)
        /// The library did not load in time.
        case loadDeadlinePassed
        /// The process exists.
        case spawned
        /// The launcher could not create the process; with a shortage, a later attempt may succeed.
        case spawnFailed(finding: String, isShortage: Bool = false)
        /// The task sent the *ready* frame.
        case ready
        /// The task sent the *load failed* frame.
        case loadFailed(finding: String, isShortage: Bool = false)
        /// The task sent the *done* frame; the flags are those of `DoneMessage`.
        case done(
            success: Bool, message: String?, isUnstarted: Bool, isDeaf: Bool = false, exitStatus: Int32? = nil
        )
        /// The task sent the *fault* frame.
        case fault(LaunchFault)
        /// The host wants the launch to stop; the note contains the numbers behind the reason.
        case expire(Reason, note: String? = nil)
        /// The grace period is over.
        case graceEnded
        /// The time for cleaning up after completion is over.
        case tidyingEnded
        /// The host wants the launch to be killed.
        case kill(Reason, message: String)
        /// The launch is beyond a limit that the host measures; `isFar` if it is too far to be asked to stop.
        case limitPassed(Reason, note: String, isFar: Bool = false)
        /// The task violated the protocol.
        case violation(finding: String, code: UInt32?)
        /// The process ended, its group is empty, and its pipes were read to the end.
        ///
        /// `outOfMemory` explains the kill if the kernel killed a process for lack of memory.
        case exited(ExitStatus, leftovers: Int, outOfMemory: String? = nil)
        /// Processes of the launch still exist 5 s after the kill.
        case unkillable
        /// The launcher died, and the launch's group was emptied.
        case launcherDied(message: String)
    }

    /// An action that the owner must perform.
    enum Action: Equatable, Sendable {
        /// Find a template for the launch again.
        case prepare
        /// Ask the launcher for a process.
        case spawn
        /// Start the load deadline.
        case awaitReady
        /// The handler starts: report the begin, and start to monitor CPU time and memory.
        case beginRun
        /// Perform these steps in order.
        case climb([LadderStep])
        /// Start the time limit for cleaning up after completion.
        case awaitExit
        /// Kill all processes of the launch.
        case kill
        /// The launch has ended; report it.
        case end(LaunchEnd)
    }

    /// Apple's exception code for a task that was killed at a deadline.
    static let deadlineCode: UInt32 = 0x8bad_f00d
    /// The time limit for loading a library, including its constructors and entry function.
    static let loadDeadline = Duration.seconds(5)
    private static let unstarted = "it had not started yet"

    private(set) var stage = Stage.waiting
    /// The reason of the present expiration; `nil` if there is none.
    private(set) var expiration: Reason?
    private var expirationNote: String?
    /// Whether *ready* was received; an expiration can be requested before that.
    private var wasReady = false
    /// How the launch ends, once that is decided; the exit only adds its status.
    private var verdict: LaunchEnd?
    /// The fault that the task reported before it ended itself.
    private var fault: LaunchFault?
    /// What the task did when a fatal signal arrived, in words; `nil` if it did not say.
    var activity: String?
    /// Whether the verdict is the task's own.
    private var hasCompleted = false
    /// Why its processes were killed when the task had completed; `nil` if they were not, or only because the
    /// time for cleaning up was over.
    private var lateKill: String?
    /// The limit for which they were killed.
    private(set) var lateLimit: Reason?
    private var isUnkillable = false
    private var hasTriesLeft = true
    private let grace: Duration
    /// Whether the exit status of the process says nothing: of a `command:`, it is that of the runner.
    private let hidesExitStatus: Bool

    init(grace: Duration, hidesExitStatus: Bool = false) {
        (self.grace, self.hidesExitStatus) = (grace, hidesExitStatus)
    }

    /// Handles an event; returns the actions to perform, in order.
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
        case .templateFailed(let finding, let status, let isShortage):
            return end(isShortage ? .unstarted(finding, isShortage: true) : .failedLoad(finding, status))
        case .loadDeadlinePassed:
            return end(.tooSlowToLoad)
        case .spawnFailed(let finding, let isShortage):
            return end(.unstarted(finding, isShortage: isShortage))
        case .expire(let reason, _):
            return end(.stopped(reason, message: Self.unstarted))
        case .kill(let reason, let message):
            return end(LaunchEnd(outcome: .killed, reason: reason, message: message))
        case .launcherDied(let message):
            return end(LaunchEnd(outcome: .lost, reason: .launcherDied, message: message))
        case .spawned, .ready, .loadFailed, .done, .fault, .graceEnded, .tidyingEnded, .limitPassed,
            .violation, .exited, .unkillable:
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
        case .spawnFailed(let finding, let isShortage):
            if let expiration { return end(.stopped(expiration, message: Self.unstarted)) }
            // The template may have been killed in the meantime, so the launch tries once more with a new
            // one.
            guard hasTriesLeft else { return end(.unstarted(finding, isShortage: isShortage)) }
            hasTriesLeft = false
            stage = .waiting
            return [.prepare]
        case .expire(let reason, let note):
            // The handler may be running already; this becomes known with the launcher's answer. Then the
            // expiration is sent to the task as usual.
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
            .graceEnded, .tidyingEnded, .limitPassed, .violation, .unkillable:
            // The launcher answers the spawn request in any case, even if the template has ended.
            return []
        }
    }

    // MARK: A process that works

    private mutating func handleAlive(_ event: Event) -> [Action] {
        switch event {
        case .ready:
            if wasReady { return violation("its process sent 'ready' twice", nil) }
            wasReady = true
            if stage == .starting { stage = .running }
            return [.beginRun]
        case .loadFailed(let finding, let isShortage):
            if wasReady { return violation("its process sent 'load failed' after 'ready'", nil) }
            verdict = .unstarted(finding, isShortage: isShortage)
            stage = .completed
            return [.awaitExit]
        case .loadDeadlinePassed:
            return wasReady ? [] : kill(.tooSlowToLoad)
        case .done(let success, let message, let isUnstarted, let isDeaf, let exitStatus):
            guard wasReady || isUnstarted else {
                return violation("it completed before its handler was called", nil)
            }
            verdict = completed(success, message, isUnstarted)
            verdict?.completion = isUnstarted ? nil : success
            // Other tasks are their own processes.
            verdict?.exitStatus = hidesExitStatus ? exitStatus : nil
            // Apple's rule: if a task does not listen for its expiration, the expiration completes it
            // unsuccessfully.
            verdict?.neverListened = isUnstarted && isDeaf && wasReady
            stage = .completed
            hasCompleted = true
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
        case .limitPassed(let reason, let note, let isFar):
            if isFar { return kill(LaunchEnd(outcome: .killed, reason: reason, message: note)) }
            return handleAlive(.expire(reason, note: note))
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
        case .spawnFailed(let finding, let isShortage):
            // The launch was killed while it was being spawned, and its process was never created.
            return end(verdict ?? .unstarted(finding, isShortage: isShortage))
        case .tidyingEnded:
            return killRemaining()
        case .kill(_, let message):
            return killRemaining(because: message)
        case .limitPassed(let reason, let note, _):
            return killRemaining(because: note, reason)
        case .spawned:
            // The kill was sent before the process existed, so it is sent again.
            return stage == .killing ? [.kill] : []
        case .fault(let said):
            if stage == .completed { fault = fault ?? said }
            return []
        case .unkillable:
            isUnkillable = true
            return []
        case .launcherDied(let message):
            // What the task has reported is known without the launcher, also when it left processes behind.
            if hasCompleted, let verdict { return end(verdict) }
            return end(LaunchEnd(outcome: .lost, reason: .launcherDied, message: message))
        case .templateReady, .templateFailed, .loadDeadlinePassed, .ready, .loadFailed, .done, .expire,
            .graceEnded,
            .violation:
            // After completion or during a kill, these events have no effect.
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

    /// Kills what is left of a task that has completed, and keeps its outcome.
    private mutating func killRemaining(because message: String? = nil, _ limit: Reason? = nil) -> [Action] {
        guard stage == .completed else { return [] }
        if hasCompleted { (lateKill, lateLimit) = (message, limit) }
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

    /// The note of the expiration, followed by the message.
    private func noted(_ message: String?) -> String? {
        let parts = [expirationNote, message].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private mutating func exited(_ status: ExitStatus, _ leftovers: Int, _ outOfMemory: String?) -> [Action] {
        var result = verdict ?? undecided(status, outOfMemory)
        result.signal = result.signal ?? status.signal
        if !hidesExitStatus { result.exitStatus = result.exitStatus ?? status.code }
        result.leftovers = leftovers
        if let fault { result.add(fault) }
        if let lateKill {
            let note = "after it had completed, its processes were killed: \(lateKill)"
            result.message = result.message.map { "\($0); \(note)" } ?? note
        }
        if isUnkillable {
            result.reason = .unkillable
            let note = "its processes were still there 5 s after the kill"
            result.message = result.message.map { "\($0); \(note)" } ?? note
        }
        return end(result)
    }

    /// The end of a process that had not completed and that the host had not killed.
    private func undecided(_ status: ExitStatus, _ outOfMemory: String?) -> LaunchEnd {
        if let signal = status.signal {
            if signal == ExitStatus.killSignal, let outOfMemory {
                return LaunchEnd(outcome: .killed, reason: .memoryLimit, message: outOfMemory)
            }
            let name = ExitStatus.name(ofSignal: signal)
            var end = LaunchEnd(
                outcome: .crashed, reason: .signal, message: activity.map { "\(name) in \($0)" } ?? name)
            end.phase = wasReady ? .run : .load
            return end
        }
        if status.code == ExitStatus.hostViolation {
            return LaunchEnd(
                outcome: .failed, reason: .protocolError,
                message:
                    "its process exited with status 70: bgtask-runner did not understand a message of bgtaskd "
                    + "(install both from one version), had no memory, or could not send a report for 2 s; or "
                    + "the handler itself exited with 70")
        }
        if let expiration {
            return .stopped(expiration, message: noted("it stopped before it had completed"))
        }
        return LaunchEnd(
            outcome: .failed, reason: .exitedWithoutCompleting,
            message: "its process exited with status \(status.code ?? 0) and never completed")
    }
}
