import Calendars
public import TaskModel

/// The next dates of one calendar schedule.
public struct ScheduledDates: Equatable, Sendable {
    /// The manifest's file.
    public var file: String
    /// The task.
    public var identifier: String
    /// The expression, as it is written.
    public var expression: String
    /// The zone: the manifest's, or the machine's.
    public var zone: String
    /// The dates; fewer than requested if there are no more.
    public var dates: [WallTime]
    /// The dates as the zone's clocks show them: `Mon 2026-03-30 02:00:00 CEST (+02:00)`.
    public var texts: [String]
}

extension ManifestLinter {
    /// The next dates of every `at:` in valid manifests, by file and place; manifests with errors have none.
    public static func dates(
        files: [String], pluginsDirectory: String?, after time: WallTime, count: Int = 3
    ) -> [ScheduledDates] {
        var calls = CallLibraries(pluginsDirectory: pluginsDirectory)
        return files.flatMap { file in
            let tasks =
                ManifestFile.read(file, isInstalled: pluginsDirectory != nil, calls: &calls).0?.manifest.tasks
                ?? []
            return tasks.compactMap { dates(of: $0, in: file, after: time, count: count) }
        }
    }

    private static func dates(
        of task: TaskDeclaration, in file: String, after time: WallTime, count: Int
    ) -> ScheduledDates? {
        guard case .calendar(let text, let zone) = task.schedule?.timing,
            let expression = try? CalendarExpression(text),
            let rules = try? ZoneDatabase.machine.zone(named: zone)
        else { return nil }
        var dates: [WallTime] = []
        while dates.count < count, let next = expression.next(after: dates.last ?? time, in: rules) {
            dates.append(next)
        }
        return ScheduledDates(
            file: file, identifier: task.pattern.description, expression: text, zone: rules.name,
            dates: dates, texts: dates.map(rules.text))
    }
}
