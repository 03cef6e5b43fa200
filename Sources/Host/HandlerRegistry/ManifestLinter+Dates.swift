import Calendars
import StrictFiles
public import TaskModel

/// The next dates of a task with a calendar schedule.
public struct ScheduledDates: Equatable, Sendable {
    /// The path of the manifest.
    public var file: String
    /// The identifier of the task.
    public var identifier: String
    /// The calendar expression, as in the manifest.
    public var expression: String
    /// The name of the time zone: the manifest's, or else the machine's.
    public var zone: String
    /// The dates in ascending order; fewer than requested if there are no more.
    public var dates: [WallTime]
    /// The jitter of the schedule, which ``dates`` leave out; `nil` if it has none.
    public var jitter: Duration?
    /// The dates in local time, such as `Mon 2026-03-30 02:00:00 CEST (+02:00)`.
    public var texts: [String]
}

extension ManifestLinter {
    /// The next dates of every `at:`, in the order of the files and of their tasks.
    ///
    /// Manifests with errors are skipped.
    public static func dates(
        files: [String], pluginsDirectory: String?, calls search: CallSearch, after time: WallTime,
        count: Int = 3
    ) -> [ScheduledDates] {
        var calls = CallLibraries(search)
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
            dates: dates, jitter: task.schedule?.jitter?.spread, texts: dates.map(rules.text))
    }

    /// Warns of each `at:` whose dates have all passed.
    static func pastSchedules(
        in read: ReadManifest, _ file: String, at now: WallTime
    ) -> [ManifestProblem] {
        zip(read.manifest.tasks, read.schedulePlaces).compactMap { task, place in
            guard let found = dates(of: task, in: file, after: now, count: 1), found.dates.isEmpty else {
                return nil
            }
            let events = task.schedule?.hasEvents == true
            return ManifestProblem(
                severity: .warning, file: file, line: place?.line, column: place?.column,
                finding: "at: '\(found.expression)' has no date from now on, so the schedule "
                    + (events ? "starts the task only after its events" : "never starts the task"),
                remedy: "Write a date in the future, or one that repeats, such as 02:30 or Mon 09:00")
        }
    }
}
