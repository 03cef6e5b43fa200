import HostSettings
import Scheduling
import TaskModel

/// What handlers and clients learn about the machine, and what happens around its sleep.
extension HostCore {
    mutating func take(_ conditions: Conditions) {
        if conditions == self.conditions { return }
        self.conditions = conditions
        feed(.conditionsChanged(conditions))
    }

    /// What was before the host began goes before what it has seen since.
    mutating func take(_ past: ConditionHistory) { history = past.followed(by: history) }

    /// What a handler of a bundle may know now.
    func handlerConditions(of bundle: BundleIdentifier) -> HandlerConditions {
        HandlerConditions(conditions, refresh: scheduler.refreshPermission(of: bundle))
    }

    /// What clients may know of the machine.
    var clientConditions: HandlerConditions {
        HandlerConditions(conditions, refresh: scheduler.settings.refresh)
    }

    /// Notifies clients and what runs, if an event may have changed what they know; only what differs is
    /// sent.
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

    /// Notifies one launch of what it does not know yet.
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

    /// Activities learn of a veto before they are asked to stop.
    mutating func askToDefer(_ id: LaunchID, _ isDeferred: Bool) {
        guard launches[id] != nil else { return }
        launches[id]?.shouldDefer = isDeferred
        log(
            .info,
            isDeferred ? "asked to stop by itself (shouldDefer)" : "may go on (shouldDefer is taken back)",
            launch: id)
        notifyConditions(to: id)
    }

    // MARK: Sleep

    /// Before the machine sleeps, deferrable work stops and saves its place.
    mutating func willSleep() {
        log(.notice, "the machine is about to sleep")
        isGoingToSleep = true
        emit(.recordSleep(true))
        history.note(nil, at: now.wall)
        for id in discretionaryLaunches { feed(.expireRequested(id, .systemSleep)) }
    }

    mutating func hasWoken() {
        isGoingToSleep = false
        emit(.recordSleep(false))
        history.note(conditions, at: now.wall)
        feed(.timePassed)
    }

    /// Lets the machine sleep once nothing deferrable runs; the sensors do after 5 s in any case.
    mutating func letSleepIfDrained() {
        guard isGoingToSleep, requests.starting.isEmpty, discretionaryLaunches.isEmpty else { return }
        emit(.letSleep)
    }

    private var discretionaryLaunches: [LaunchID] {
        launches.all.filter { $0.request.isDiscretionary }.map(\.record.id).sorted()
    }

    // MARK: Configuration

    /// Puts a reading of the configuration's files into force.
    ///
    /// What needs a restart is logged, and shown by ``configuration()``, until that comes.
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

    /// Says what the configuration lacked when the host began.
    mutating func reportSettings(_ snapshot: SettingsSnapshot) {
        for problem in snapshot.problems { log(problem.logLevel, "\(problem)") }
        for file in snapshot.files { reportIfWrong(file) }
    }

    private mutating func reportIfWrong(_ file: ConfigurationFile) {
        switch file.state {
        case .lastRightVersion: log(.error, "\(file.path) has errors; its previous values are still used")
        case .leftOut: log(.error, "\(file.path) has errors, so none of its values are used")
        case .missing, .inForce: break
        }
    }

    /// Lines for the log: each value that is another than before.
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
