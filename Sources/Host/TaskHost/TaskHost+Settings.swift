import HandlerRegistry
import HostSettings
import Scheduling
public import TaskModel

/// The host's own configuration while it runs.
extension TaskHost {
    /// Puts the newest reading of the files into force.
    ///
    /// What needs a restart is said, and shown by ``configuration()``, until that comes.
    func takeSettings() async {
        let (snapshot, before) = (settingsFiles.latest, currentSettings)
        if snapshot == before { return }
        currentSettings = snapshot
        for problem in snapshot.problems where !before.problems.contains(problem) {
            log.append(problem.logLevel, "\(problem)")
        }
        for file in snapshot.files where !before.files.contains(file) { tellIfWrong(file) }
        for change in Self.changes(from: before.values, to: snapshot.values) { log.append(.notice, change) }
        let settings = snapshot.effective.scheduler
        if settings != before.effective.scheduler { await schedule(.settingsChanged(settings)) }
    }

    /// Says what the configuration lacked when the host began.
    func tellFirstSettings() {
        for problem in firstSettings.problems { log.append(problem.logLevel, "\(problem)") }
        for file in firstSettings.files { tellIfWrong(file) }
    }

    private func tellIfWrong(_ file: ConfigurationFile) {
        switch file.state {
        case .lastRightVersion: log.append(.error, "\(file.path) is wrong; what it said before is in force")
        case .leftOut: log.append(.error, "\(file.path) is wrong, and nothing of it is in force")
        case .missing, .inForce: break
        }
    }

    /// Every value in force with its origin, what users told of bundles included.
    ///
    /// Reads the files first: whoever wrote one a moment ago may ask before inotify told of it.
    public func configuration() async throws(SubmissionError) -> ConfigurationListing {
        settingsFiles.reread()
        await takeSettings()
        var values = currentSettings.values.map { row in
            guard SettingTable.key(named: row.key)?.needsRestart == true,
                let first = firstSettings.values.first(where: { $0.key == row.key }),
                first.inForce.value != row.inForce.value
            else { return row }
            return ConfiguredValue(
                key: row.key, inForce: first.inForce, overridden: first.overridden, afterRestart: row.inForce)
        }
        for bundle in scheduler.knownBundles { addChosen(of: bundle, to: &values) }
        return ConfigurationListing(
            values: values, files: currentSettings.files, problems: currentSettings.problems)
    }

    /// Lines for the log: each value that is another than before.
    private static func changes(from before: [ConfiguredValue], to now: [ConfiguredValue]) -> [String] {
        let old = Dictionary(before.map { ($0.key, $0.inForce) }, uniquingKeysWith: { $1 })
        let new = Set(now.map(\.key))
        let changed = now.compactMap { row -> String? in
            guard old[row.key]?.value != row.inForce.value else { return nil }
            let isLater = SettingTable.key(named: row.key)?.needsRestart == true
            let was = old[row.key].map { ", was \($0.value)" } ?? ""
            let when = isLater ? "; in force when the host starts anew" : ""
            return "\(row.key) is \(row.inForce.value) (\(row.inForce.source))\(was)\(when)"
        }
        let gone = before.filter { !new.contains($0.key) }.map { "\($0.key) is not configured any more" }
        return changed + gone
    }

    /// Shows what `bgtask settings` changed, which stands above what is configured unless that is a restriction.
    private func addChosen(of bundle: BundleIdentifier, to values: inout [ConfiguredValue]) {
        let state = scheduler.bundleState(bundle)
        func add(_ key: String, _ value: String, above standard: ConfiguredValue.Origin?) {
            let chosen = ConfiguredValue.Origin(value: value, source: "bgtask settings")
            values.append(
                ConfiguredValue(
                    key: "bundles.\(bundle).\(key)", inForce: chosen,
                    overridden: standard.map { [$0] } ?? []))
        }
        func origin(_ key: String) -> ConfiguredValue.Origin? {
            values.first { $0.key == key }?.inForce
        }
        if state.refreshChangedAt != nil {
            let chosen = ConfiguredValue.Origin(value: state.refresh.rawValue, source: "bgtask settings")
            let key = "bundles.\(bundle).refresh"
            if let index = values.firstIndex(where: { $0.key == key }) {
                let configured = values[index].inForce
                if configured.value == RefreshPermission.restricted.rawValue {
                    values[index].overridden.insert(chosen, at: 0)
                } else {
                    values[index].inForce = chosen
                    values[index].overridden.insert(configured, at: 0)
                }
            } else {
                values.append(ConfiguredValue(key: key, inForce: chosen, overridden: []))
            }
        }
        if let launches = state.budget.launchLimit {
            add("refreshLaunchesPerDay", "\(launches)", above: origin("scheduling.refreshLaunchesPerDay"))
        }
        if let cpu = state.budget.cpuLimit {
            add("cpuPerDay", DurationText.format(cpu), above: origin("scheduling.cpuPerDay"))
        }
    }
}
