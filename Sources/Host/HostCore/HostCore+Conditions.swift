import HostSettings
import Scheduling
import TaskModel

/// Conditions for handlers and clients, the sleep of the machine, and changes of the configuration.
extension HostCore {
    mutating func take(_ conditions: Conditions) {
        if conditions == self.conditions { return }
        self.conditions = conditions
        feed(.conditionsChanged(conditions))
    }

    /// Adds the history from before the start of the host, which was read from the recording.
    mutating func take(_ past: ConditionHistory) {
        history = past.followed(by: history)
        nextOutlook = nil
    }

    /// Gives the scheduler the conditions that the history expects, if the last ones are old.
    ///
    /// This sets no alarm: without an input, no request needs them either.
    mutating func renewOutlook() {
        guard phase == .serving else { return }
        // A date further away was set before the clock was set back.
        if let next = nextOutlook, now.wall < next, next <= now.wall + ConditionOutlook.renewal { return }
        let outlook = ConditionOutlook(history, at: now.wall, localTimeOffset: localTimeOffset ?? .zero)
        nextOutlook = now.wall + (outlook == nil ? .seconds(3600) : ConditionOutlook.renewal)
        guard outlook != nil || hasOutlook else { return }
        hasOutlook = outlook != nil
        feed(.outlookChanged(outlook))
    }

    /// The conditions that handlers of a bundle may read, as they are now.
    func handlerConditions(of bundle: BundleIdentifier) -> HandlerConditions {
        HandlerConditions(conditions, refresh: scheduler.refreshPermission(of: bundle))
    }

    /// The conditions that clients may read, as they are now.
    var clientConditions: HandlerConditions {
        HandlerConditions(conditions, refresh: scheduler.settings.refresh)
    }

    /// Notifies clients and launches of conditions that an event may have changed.
    ///
    /// A launch gets a notification only if its conditions differ from those that it has.
    mutating func notifyConditions(after event: SchedulerEvent) {
        if case .conditionsChanged = event {
            for client in clients.ids { emit(.notifyClient(client, .conditions(clientConditions))) }
        }
        switch event {
        case .conditionsChanged, .settingsChanged, .refreshSwitched:
            for id in launches.ids { notifyConditions(to: id) }
        default: return
        }
    }

    /// Notifies a launch of its conditions, if they differ from those that it has.
    mutating func notifyConditions(to id: LaunchID) {
        guard let launch = launches[id], let before = launch.conditions, launch.stage == .started else {
            return
        }
        var conditions = handlerConditions(of: launch.record.bundle)
        conditions.shouldDefer = launch.shouldDefer
        guard conditions != before else { return }
        launches[id]?.conditions = conditions
        emit(.setConditions(id, conditions))
    }

    /// Asks an activity to stop early because of a veto, or withdraws such a request.
    mutating func askToDefer(_ id: LaunchID, _ isDeferred: Bool) {
        guard launches[id] != nil else { return }
        launches[id]?.shouldDefer = isDeferred
        log(
            .info,
            isDeferred ? "asked to stop early (shouldDefer)" : "may continue (shouldDefer is withdrawn)",
            launch: id)
        notifyConditions(to: id)
    }

    // MARK: Sleep

    /// Stops the deferrable launches before the machine sleeps, so that they can save their state.
    mutating func willSleep() {
        log(.notice, "the machine is about to sleep")
        sleepLimit = now.monotonic + Self.longestSleepPreparation
        emit(.recordSleep(true))
        history.note(nil, at: now.wall)
        feed(.preparingForSleep(true))
    }

    mutating func hasWoken() {
        sleepLimit = nil
        emit(.recordSleep(false))
        history.note(conditions, at: now.wall)
        feed(.preparingForSleep(false))
    }

    /// Ends the preparation for a sleep whose end was not reported in time.
    ///
    /// Otherwise, the host would launch nothing any more if logind failed between its two signals.
    mutating func endOverdueSleep() {
        guard let limit = sleepLimit, limit <= now.monotonic else { return }
        log(
            .warning,
            "a sleep of the machine was announced, but it stayed awake for "
                + "\(Int(Self.longestSleepPreparation.inSeconds)) s, and no end of the sleep was announced; "
                + "launches start again")
        hasWoken()
    }

    /// Lets the machine sleep if no deferrable launch is under way.
    ///
    /// The sensors let it sleep after 5 s in any case.
    mutating func letSleepIfDrained() {
        guard isGoingToSleep, requests.starting.isEmpty, discretionaryLaunches.isEmpty else { return }
        emit(.letSleep)
    }

    private var discretionaryLaunches: [LaunchID] {
        launches.all.filter { $0.request.isDiscretionary }.map(\.record.id).sorted()
    }

    // MARK: Configuration

    /// Applies a new configuration.
    ///
    /// A setting that needs a restart is only logged; ``configuration()`` shows the new value until the
    /// restart.
    mutating func take(_ snapshot: SettingsSnapshot) {
        guard let before = settings, snapshot != before else { return }
        settings = snapshot
        for problem in snapshot.problems where !before.problems.contains(problem) {
            log(problem.logLevel, "\(problem)")
        }
        for file in snapshot.files where !before.files.contains(file) { reportIfWrong(file) }
        for change in Self.changes(from: before.values, to: snapshot.values) { log(.notice, change) }
        if snapshot.effective.scheduler != before.effective.scheduler {
            feed(.settingsChanged(snapshot.effective.scheduler))
        }
    }

    /// Logs the problems of the configuration when the host begins.
    mutating func reportSettings(_ snapshot: SettingsSnapshot) {
        for problem in snapshot.problems { log(problem.logLevel, "\(problem)") }
        for file in snapshot.files { reportIfWrong(file) }
    }

    private mutating func reportIfWrong(_ file: ConfigurationFile) {
        switch file.state {
        case .lastRightVersion:
            log(.error, "\(file.path) has the errors above; its previous values are still used")
        case .leftOut: log(.error, "\(file.path) has the errors above, so none of its values are used")
        case .missing, .inForce: break
        }
    }

    /// Returns a line for the log for each value that changed.
    private static func changes(from before: [ConfiguredValue], to now: [ConfiguredValue]) -> [String] {
        let old = Dictionary(before.map { ($0.key, $0.inForce) }, uniquingKeysWith: { $1 })
        let new = Set(now.map(\.key))
        let changed = now.compactMap { row -> String? in
            guard old[row.key]?.value != row.inForce.value else { return nil }
            let isLater = SettingTable.key(named: row.key)?.needsRestart == true
            let was = old[row.key].map { ", was \($0.value)" } ?? ""
            let when = isLater ? "; it takes effect when the host restarts" : ""
            return "\(row.key) is \(row.inForce.value) (\(row.inForce.source))\(was)\(when)"
        }
        let gone = before.filter { !new.contains($0.key) }.map { "\($0.key) is not configured any more" }
        return changed + gone
    }
}
