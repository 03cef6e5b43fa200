import HandlerRegistry
import HostSettings
import Scheduling
import TaskModel

/// The start of the core: it restores its past from the store, and then serves.
extension HostCore {
    mutating func begin(_ beginning: HostBeginning) {
        // The host was asked to stop before it could begin.
        guard phase == .starting else { return }
        surroundings = beginning.surroundings
        log(.info, "launches are isolated by \(surroundings.isolation.words(for: SandboxDeclaration()))")
        settings = beginning.settings
        firstSettings = beginning.settings
        registered = beginning.registered.placed(onDevice: surroundings.device)
        conditions = beginning.conditions
        launchedApps = beginning.recovery.facts.launchedApps
        lastRequest = beginning.recovery.facts.lastRequest
        lastLaunch = beginning.recovery.facts.lastLaunch
        restoreTransfers(beginning.recovery.facts)
        queueClock = now.wall.sinceEpoch - now.boot
        for (bundle, entry) in beginning.recovery.facts.advice { advice.restore(entry, of: bundle) }
        reportSettings(beginning.settings)
        for problem in registered.problems { log(problem.logLevel, "\(problem)") }
        for sentence in beginning.recovery.facts.unreadable { log(.warning, sentence) }
        for launch in beginning.recovery.lost {
            log(
                .warning, "ended as lost, because the host that started it died", launch: launch.id,
                identifier: launch.identifier)
        }
        removeUnusedCopies()
        emit(.work(.removeApps(keeping: installedBundles)))
        forgetOldAdvice()

        remember(beginning)
        phase = .serving
        log(
            .notice,
            "\(registered.handlers.count.counted("handler", "handlers")), "
                + beginning.recovery.pending.count.counted("pending request", "pending requests"))
        applySchedules()
        feed(.started)
        drainEvents()
        cancelWithoutClient()
        noticeBoot(beginning.boot, before: beginning.recovery.facts.boot)
        launchInstalledApps()
        drainEvents()
        launchForSessions()
    }

    /// Feeds the scheduler the state from before the start; it makes no decisions until the event `started`.
    private mutating func remember(_ beginning: HostBeginning) {
        feed(.settingsChanged(beginning.settings.effective.scheduler))
        for (bundle, state) in beginning.recovery.facts.bundleStates.sorted(by: { $0.key < $1.key }) {
            feed(.bundleRestored(bundle, state))
        }
        if let pause = beginning.recovery.facts.pause, pause.isInForce(at: now.wall) {
            feed(.pauseChanged(pause))
        }
        localTimeOffset = beginning.localTimeOffset
        feed(.localTimeChanged(offset: beginning.localTimeOffset))
        if !beginning.localTimeChanges.isEmpty { feed(.localTimeChanges(beginning.localTimeChanges)) }
        feed(.handlersChanged(registered.handlers.map(\.manifest)))
        feed(.conditionsChanged(conditions))
        drainEvents()
        crashing = Set(
            beginning.recovery.facts.bundleStates.filter { $0.value.crashPause != nil }.keys)
        endPausesOfOldLibraries(changed: { _ in false })
        drainEvents()
        if let end = beginning.earlierHostEnd { scheduler.noteEarlierHost(until: end) }
        // The schedules skip these dates, as they did before the restart.
        for request in beginning.recovery.skipped {
            feed(.submitted(request))
            feed(.withdrawn(request.id))
        }
        drainEvents()
        // There may be a million, so each is not an event and an effect of its own.
        requests.reserve(beginning.recovery.pending.count)
        for request in beginning.recovery.pending {
            requests.insert(request)
            if request.isForScheduler { _ = scheduler.handle(.submitted(request), at: now) }
        }
        emit(.recordPending(beginning.recovery.pending.filter(\.isForScheduler)))
        let plans = Dictionary(schedules.map { ($0.identifier, $0.schedule) }) { first, _ in first }
        for (identifier, time) in beginning.recovery.lastLaunches.sorted(by: { $0.key < $1.key }) {
            let date = beginning.recovery.lastDates[identifier]
            let base = plans[identifier]?.base(of: time, scheduled: date) ?? time
            feed(.lastLaunched(identifier, base))
        }
        drainEvents()
    }

    /// Triggers every `onBoot` schedule, if this is the host's first start since the machine was booted.
    ///
    /// The requests are stored before the boot id. If the host crashes in between, the next start triggers
    /// the schedules a second time; otherwise, they might never be triggered.
    private mutating func noticeBoot(_ boot: String?, before: String?) {
        guard let boot else {
            return log(
                .warning,
                "the host can't detect whether the machine was restarted, because its boot id can't be read")
        }
        if boot == before { return }
        for (identifier, schedule) in schedules where schedule.onBoot {
            log(.info, "the machine was booted", identifier: identifier)
            feed(.scheduleTriggered(identifier))
        }
        drainEvents()
        store(.remember(.boot(boot)), .fact("that the machine was booted"))
    }
}

extension TaskRequest {
    /// Whether the scheduler has the request as soon as it is pending: it waits for no other one, and is not
    /// of a queue.
    fileprivate var isForScheduler: Bool { after == nil && openPredecessors.isEmpty && !isQueued }
}
