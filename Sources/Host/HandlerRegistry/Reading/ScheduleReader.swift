import Calendars
import StrictFiles
import TaskModel

/// Reads `schedule:` and `retry:` of a task.
struct ScheduleReader {
    let pattern: IdentifierPattern
    let kind: TaskKind
    let payload: [String: PayloadType]
    let problems: ProblemList

    private static let keys = [
        "every", "at", "timeZone", "tolerance", "onPower", "onNetwork", "onBoot", "onFileChange", "wake",
        "jitter",
    ]
    private static let year = Duration.seconds(366 * 86_400)

    func schedule(_ node: YAMLNode) -> Schedule? {
        checkUse(at: node.place)
        let found = problems.problems.count
        guard let fields = Fields(node, "schedule", keys: Self.keys, problems) else { return nil }
        if fields["every"] != nil, let at = fields["at"] {
            problems.error(at.place, "a schedule has both 'every' and 'at'", "Keep one")
        }
        let timing = timing(fields)
        var schedule = Schedule(timing: timing, tolerance: tolerance(fields, timing))
        schedule.onPower = event("onPower", fields)
        schedule.onNetwork = event("onNetwork", fields)
        schedule.onBoot = event("onBoot", fields)
        schedule.onFileChange = fields["onFileChange"].flatMap(path)
        schedule.jitter = jitter(fields, timing)
        checkPeriod(fields, schedule)
        schedule.wakesMachine = fields["wake"]?.bool("wake", problems) ?? false
        if fields["every"] == nil, fields["at"] == nil {
            // After another error, the schedule may only look empty, because a key was misspelt.
            let isEmpty = ["onPower", "onNetwork", "onBoot", "onFileChange"].allSatisfy { fields[$0] == nil }
            if isEmpty, problems.problems.count == found {
                problems.error(
                    node.place, "the schedule is empty",
                    "Give 'every', 'at', or an event: onPower, onNetwork, onBoot, onFileChange")
            }
            if let wake = fields["wake"], schedule.wakesMachine {
                problems.error(
                    wake.place, "'wake' needs a date to wake the machine for", "Add 'every' or 'at'")
            }
        }
        return schedule.timing == nil && !schedule.hasEvents ? nil : schedule
    }

    private func checkUse(at place: Place) {
        if ![.appRefresh, .processing, .activity].contains(kind) {
            problems.error(
                place, "kind \(kind.rawValue) can't have a schedule",
                "Only appRefresh, processing and activity can")
        }
        if !payload.isEmpty {
            problems.error(
                place, "'\(pattern)' needs a payload, and a schedule can't supply one",
                "Remove 'schedule', or the payload's keys")
        }
    }

    private func timing(_ fields: Fields) -> Schedule.Timing? {
        let every = fields["every"]?.duration("every", in: .seconds(1)...Self.year, problems)
        if let every, let node = fields["every"] { checkSpacing(every, node) }
        let zone = fields["timeZone"].flatMap(zone)
        guard let node = fields["at"] else {
            if let zone = fields["timeZone"] {
                problems.error(
                    zone.place, "'timeZone' needs 'at'", "Remove it; only calendar dates have a time zone")
            }
            return every.map(Schedule.Timing.every)
        }
        return expression(node).map { .calendar(expression: $0, timeZone: zone) }
    }

    /// Warns of a period that is shorter than the time between two launches.
    ///
    /// The numbers are the standard values of `scheduling.refreshSpacing` and `scheduling.launchSpacing`.
    private func checkSpacing(_ period: Duration, _ node: YAMLNode) {
        let isRefresh = kind == .appRefresh
        let spacing = Duration.seconds(isRefresh ? 900 : 10)
        guard period < spacing else { return }
        let limit = DurationText.format(spacing)
        problems.warning(
            node.place,
            "every: the task starts every \(limit), not every \(DurationText.format(period)), because "
                + (isRefresh ? "refreshes of a bundle" : "launches of a task")
                + " begin at least \(limit) apart "
                + "(scheduling.\(isRefresh ? "refreshSpacing" : "launchSpacing"))",
            "Write \(limit) or more, or change the setting on the hosts")
    }

    /// The text of a calendar expression, if it is valid.
    private func expression(_ node: YAMLNode) -> String? {
        guard let text = node.text("at", problems) else { return nil }
        do {
            _ = try CalendarExpression(text)
            return text
        } catch {
            // The error's column counts from 1 in the expression, which quotation marks shift by one.
            var place = node.place
            if case .scalar(_, let isPlain) = node.value { place.column += error.column - (isPlain ? 1 : 0) }
            problems.error(place, "at: \(error.finding.shortened)", error.remedy)
            return nil
        }
    }

    private func zone(_ node: YAMLNode) -> String? {
        guard let name = node.text("timeZone", problems) else { return nil }
        do {
            _ = try ZoneDatabase.machine.zone(named: name)
            return name
        } catch {
            let advice =
                error.isUnknownName ? Nearest.advice(for: name, in: ZoneDatabase.machine.names) : nil
            // Without a similar name, the advice would list about 600 time zones.
            problems.error(
                node.place, error.finding, advice.flatMap { $0.utf8.count < 100 ? $0 : nil } ?? error.remedy)
            return nil
        }
    }

    private func tolerance(_ fields: Fields, _ timing: Schedule.Timing?) -> Duration {
        // The default is one minute, as for systemd's timers (AccuracySec). It is short, because the host
        // wakes for a date only at the end of its tolerance.
        var (limit, standard) = (Duration.seconds(7 * 86_400), Duration.seconds(60))
        if case .every(let period) = timing {
            // Half the interval is NSBackgroundActivityScheduler's default tolerance.
            (limit, standard) = (period, period / 2)
        } else if fields["every"] != nil {
            limit = Self.year
        }
        return fields["tolerance"]?.duration("tolerance", in: .zero...limit, problems) ?? standard
    }

    /// Warns of a tolerance or jitter that is longer than the time between two dates of the calendar.
    private func checkPeriod(_ fields: Fields, _ schedule: Schedule) {
        guard case .calendar(let text, _) = schedule.timing,
            let period = (try? CalendarExpression(text))?.fixedPeriod
        else { return }
        let limit = DurationText.format(period)
        if let jitter = schedule.jitter, jitter.spread > period {
            problems.warning(
                fields["jitter"]?.place,
                "the jitter of \(DurationText.format(jitter.spread)) is longer than the period of \(limit)",
                "Use at most \(limit), so that no device misses a date")
        }
        if schedule.tolerance > period {
            problems.warning(
                fields["tolerance"]?.place,
                "the tolerance of \(DurationText.format(schedule.tolerance)) is longer than the period of \(limit)",
                "Use at most \(limit), so that no date passes while the one before it waits")
        }
    }

    private func jitter(_ fields: Fields, _ timing: Schedule.Timing?) -> Schedule.Jitter? {
        guard let node = fields["jitter"] else { return nil }
        // With a longer spread, the first launch of a device could be later than the second one of another.
        var limit = Duration.seconds(86_400)
        if case .every(let period) = timing { limit = min(limit, period) }
        if fields["every"] == nil, fields["at"] == nil {
            problems.error(
                node.place, "'jitter' needs dates to spread over the devices", "Add 'every' or 'at'")
            return nil
        }
        return node.duration("jitter", in: .seconds(1)...limit, problems).map { Schedule.Jitter(spread: $0) }
    }

    /// Whether a schedule has a key for an event, such as `onBoot: true`; the value `false` is an error,
    /// because a missing key means the same.
    private func event(_ key: String, _ fields: Fields) -> Bool {
        guard let node = fields[key], let value = node.bool(key, problems) else { return false }
        if !value { problems.error(node.place, "\(key) can't be false", "Leave it out") }
        return value
    }

    private func path(_ node: YAMLNode) -> String? {
        guard let path = node.text("onFileChange", problems) else { return nil }
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard path.hasPrefix("/"), !parts.isEmpty, !parts.contains(".."), path.utf8.count < 4096 else {
            problems.error(
                node.place, "onFileChange must be an absolute path without '..', found '\(path.shortened)'",
                "Give the path of a file or directory from '/' on")
            return nil
        }
        return "/" + parts.filter { $0 != "." }.joined(separator: "/")
    }
}

/// Reads `retry:`.
struct RetryReader {
    let isAtMostOnce: Bool
    let problems: ProblemList

    func retry(_ node: YAMLNode) -> RetryDeclaration? {
        guard let fields = Fields(node, "retry", keys: ["attempts", "backoff"], problems) else { return nil }
        let attempts = fields.required("attempts", "retry", problems)?.integer(
            "attempts", in: 2...100, problems)
        let backOff = fields["backoff"].map {
            $0.duration("backoff", in: .seconds(1)...Duration.seconds(86_400), problems)
        }
        if isAtMostOnce {
            problems.error(
                node.place, "'retry' can't be used with 'delivery: atMostOnce'",
                "Remove one of them; a task that must not run twice is never retried")
        }
        guard let attempts else { return nil }
        return RetryDeclaration(attempts: attempts, backOff: (backOff ?? nil) ?? .seconds(30))
    }
}
