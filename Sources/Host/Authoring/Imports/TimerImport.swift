import Calendars
import TaskModel

/// Makes manifests of a timer of systemd and of the service that it starts.
///
/// Our reading of systemd.timer(5), systemd.service(5) and systemd.exec(5).
public struct TimerImport {
    /// Settings that the manifest keeps, or that say nothing about what the job does.
    private static let ignored: Set<String> = [
        "Unit.Description", "Unit.Documentation", "Unit.After", "Unit.Wants", "Unit.Requires",
        "Unit.ConditionACPower", "Unit.DefaultDependencies", "Unit.Before",
        "Timer.OnCalendar", "Timer.OnBootSec", "Timer.OnStartupSec", "Timer.OnActiveSec",
        "Timer.OnUnitActiveSec", "Timer.OnUnitInactiveSec", "Timer.AccuracySec", "Timer.RandomizedDelaySec",
        "Timer.WakeSystem", "Timer.Unit", "Timer.Persistent", "Timer.FixedRandomDelay",
        "Service.Type", "Service.ExecStart", "Service.ExecStartPre", "Service.ExecStartPost", "Service.User",
        "Service.Group", "Service.WorkingDirectory", "Service.Environment", "Service.EnvironmentFile",
        "Service.SuccessExitStatus",
        "Service.KillSignal", "Service.TimeoutStartSec", "Service.RuntimeMaxSec", "Service.ReadWritePaths",
        "Service.ReadOnlyPaths", "Service.RemainAfterExit",
    ]

    private let timer: UnitFile
    private let service: UnitFile
    private let names: (timer: String, service: String)
    private var notes: [String] = []
    /// What `%h` means; `nil` if it is not known.
    private var home: String?

    /// Reads a timer and its service.
    ///
    /// - Parameters:
    ///   - name: The name of the timer, or the path of its file.
    ///   - home: The user's home directory; `nil` if it is not known.
    ///   - jobName: The name of the job; `nil` derives it from the timer's.
    /// - Returns: A manifest with a task for each `OnCalendar=`, and one for all other settings.
    /// - Throws: ``AuthoringError`` if a file can't be read, or if it starts nothing.
    public static func jobs(
        of name: String, home: String?, named jobName: String? = nil
    ) throws(AuthoringError) -> ImportedJobs {
        if name.hasSuffix(".service") {
            throw AuthoringError(
                name, "this is a service, not a timer",
                "Give the timer that starts it: bgtask import timer backup")
        }
        let finder = UnitFinder(home: home)
        let name = name.contains("/") || name.hasSuffix(".timer") ? name : name + ".timer"
        let (timer, path) = try finder.unit(name)
        let given = UnitName(name)
        if given.instance == "" {
            throw AuthoringError(
                name, "this is a template, which only its instances start",
                "Give an instance: bgtask import timer \(given.prefix)@NAME.timer")
        }
        let unit = UnitName(
            (timer.last("Timer", "Unit") ?? "\(given.base).service").replacing(
                "%i", with: given.instance ?? ""))
        let (service, servicePath) = try finder.unit(unit.file, beside: path)
        var reader = TimerImport(timer: timer, service: service, names: (path, servicePath))
        // The user of a system's unit is root, whatever its User= says.
        reader.home = servicePath.contains("/systemd/system/") ? "/root" : home
        return try reader.jobs(named: given.base.replacing("@", with: "-"), unit, jobName)
    }

    private init(timer: UnitFile, service: UnitFile, names: (timer: String, service: String)) {
        (self.timer, self.service, self.names) = (timer, service, names)
    }

    private mutating func jobs(
        named name: String, _ unit: UnitName, _ jobName: String?
    ) throws(AuthoringError) -> ImportedJobs {
        let commands = UnitCommands(service, unit: unit, home: home)
        guard let action = commands.action else {
            throw AuthoringError(
                names.service, "it has no ExecStart=, or one that can't be read",
                "Give a timer of another service")
        }
        var result = ImportedJobs(name: jobName)
        let timings = timings().filter { timing in
            guard let at = timing.at else { return true }
            do {
                _ = try CalendarExpression(at)
                return true
            } catch {
                result.failures.append("\(names.timer): OnCalendar=: the host can't keep '\(at)': \(error)")
                return false
            }
        }
        notes += commands.notes
        noteSettings()
        if timings.isEmpty {
            result.failures.append("\(names.timer): the timer has no dates that a manifest can keep")
            return result
        }
        result.add(
            action, named: name,
            from: ["Made by 'bgtask import timer' from \(names.timer) and \(names.service)."],
            notes: notes
        ) {
            $0.timings = timings
            configure(&$0, commands)
        }
        return result
    }

    // MARK: Dates

    private mutating func timings() -> [CommandManifest.Timing] {
        var timings = timer.all("Timer", "OnCalendar").map { text in
            // The zone is the last word.
            let words = text.split(separator: " ")
            let hasZone =
                words.count > 1
                && words.last.map { $0 == "UTC" || $0.contains("/") && $0.first?.isLetter == true } == true
            var timing = CommandManifest.Timing(at: Self.expression(words.dropLast(hasZone ? 1 : 0)))
            if hasZone { timing.timeZone = words.last.map(String.init) }
            return timing
        }
        let period = timer.last("Timer", "OnUnitActiveSec") ?? timer.last("Timer", "OnUnitInactiveSec")
        let hasBoot = ["OnBootSec", "OnStartupSec", "OnActiveSec"].contains { timer.last("Timer", $0) != nil }
        if let period = period.flatMap(UnitFile.span), period >= .seconds(1) {
            timings.append(CommandManifest.Timing(every: DurationText.format(period), onBoot: false))
        } else if hasBoot {
            timings.append(CommandManifest.Timing(onBoot: true))
        }
        if hasBoot { notes.append("The first launch comes when the host starts, and not some time later.") }
        let accuracy = timer.last("Timer", "AccuracySec").flatMap(UnitFile.span)
        let spread = timer.last("Timer", "RandomizedDelaySec").flatMap(UnitFile.span)
        for index in timings.indices where timings[index].at != nil || timings[index].every != nil {
            timings[index].wake = timer.isOn("Timer", "WakeSystem") == true
            // systemd's own accuracy is a minute, and so is the default of a date here.
            let isDate = timings[index].at != nil
            // Neither may be longer than the period, or a week for dates.
            let longest = isDate ? Duration.seconds(7 * 86_400) : period.flatMap(UnitFile.span) ?? .zero
            timings[index].tolerance =
                accuracy.map { min($0, longest) } ?? (isDate ? nil : min(.seconds(60), longest))
            if let spread, spread >= .seconds(1) {
                timings[index].jitter = min(spread, isDate ? .seconds(86_400) : longest)
            }
        }
        if let spread, spread > .seconds(86_400) {
            notes.append("The random delay is at most a day, not \(DurationText.format(spread)).")
        }
        if timings.count > 1 {
            notes.append(
                "Each date setting is a task of its own, so at a date of two of them, both run, one after the other."
            )
        }
        if spread != nil {
            notes.append("The random delay is the same each time, for this device ('jitter').")
        }
        if timer.isOn("Timer", "Persistent") != true, timings.contains(where: { $0.at != nil }) {
            notes.append("A date that passes while the host does not run is made up for, once.")
        }
        return timings
    }

    /// An expression without those words of systemd that the host does not know.
    private static func expression(_ words: ArraySlice<Substring>) -> String {
        let text = words.joined(separator: " ")
        return switch text.lowercased() {
        case "annually": "yearly"
        case "quarterly": "*-1,4,7,10-1"
        case "semiannually": "*-1,7-1"
        default: text.replacing("~01", with: "-last").replacing("~1", with: "-last")
        }
    }

    // MARK: The service

    private func configure(_ manifest: inout CommandManifest, _ commands: UnitCommands) {
        let waitsForNetwork = [timer, service].contains { unit in
            (unit.all("Unit", "After") + unit.all("Unit", "Wants") + unit.all("Unit", "Requires"))
                .contains { $0.contains("network-online.target") }
        }
        manifest.requiresNetwork = waitsForNetwork
        manifest.usesNetwork = waitsForNetwork && service.isOn("Service", "PrivateNetwork") != true
        manifest.requiresExternalPower = [timer, service].contains {
            $0.isOn("Unit", "ConditionACPower") == true
        }
        manifest.environment = commands.environment
        if let directory = commands.directory { manifest.directory = directory }
        manifest.read = commands.read
        manifest.write = commands.write
        let codes = service.all("Service", "SuccessExitStatus").flatMap { $0.split(separator: " ") }
            .compactMap { Int($0) }.filter { (0...255).contains($0) }
        if !codes.isEmpty { manifest.success = Set([0] + codes).sorted() }
        if let signal = service.last("Service", "KillSignal") {
            manifest.stopSignal = Self.stopSignal(signal)
        }
        // A longer one would be at most an hour, and the standard run time can be renewed for up to 8 h.
        if let limit, limit < .seconds(600) { manifest.runtime = max(limit, .seconds(1)) }
    }

    /// The name of a signal for `stop:`, if that knows it and it is not the default.
    private static func stopSignal(_ text: String) -> String? {
        let name = text.hasPrefix("SIG") ? String(text.dropFirst(3)) : text
        return ["INT", "HUP", "QUIT", "USR1", "USR2"].contains(name) ? name : nil
    }

    /// The time after which systemd would end the service; `nil` if it never would.
    private var limit: Duration? {
        let text = service.last("Service", "RuntimeMaxSec") ?? service.last("Service", "TimeoutStartSec")
        return text.flatMap(UnitFile.span).flatMap { $0 > .zero ? $0 : nil }
    }

    private mutating func noteSettings() {
        if let limit, limit >= .seconds(600) {
            notes.append(
                "A launch has 10 minutes, and more on external power while it works, not \(DurationText.format(limit))."
            )
        }
        if let user = service.last("Service", "User") {
            notes.append(
                "The service runs as \(user); the job runs as the user of its bundle, or as the host's user.")
        }
        let known = Self.ignored
        let statuses = service.all("Service", "SuccessExitStatus").flatMap { $0.split(separator: " ") }
        if statuses.contains(where: { Int($0) == nil }) {
            notes.append("Of SuccessExitStatus=, only numbers are kept.")
        }
        if let path = service.last("Service", "WorkingDirectory"), path != "~" || home == nil,
            !path.drop(while: { $0 == "-" }).hasPrefix("/")
        {
            notes.append(
                "WorkingDirectory=\(path) is not kept: the directory is the data directory of the bundle.")
        }
        if let signal = service.last("Service", "KillSignal"), Self.stopSignal(signal) == nil,
            !signal.hasSuffix("TERM")
        {
            notes.append("KillSignal=\(signal) is not kept: the job gets SIGTERM.")
        }
        let others = (timer.settings + service.settings)
            .filter { $0.section != "Install" && !known.contains("\($0.section).\($0.key)") }
            .map { $0.key + "=" }
        if !others.isEmpty {
            notes.append(
                "Not kept: \(others.uniqued().joined(separator: ", ")). The sandbox of the manifest and the priorities of the host apply."
            )
        }
    }
}

extension [String] {
    /// The elements without repetitions, in their order.
    func uniqued() -> [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
