/// When a line of a crontab runs, as the schedules of a manifest.
enum CronDates {
    /// Why the dates of a line can't be kept.
    struct Failure: Error {
        let finding: String
    }

    /// Reads a nickname such as `@daily`; `nil` if cron does not know it.
    static func schedule(nickname: some StringProtocol) -> CommandManifest.Timing? {
        switch nickname.lowercased() {
        case "@reboot": CommandManifest.Timing(onBoot: true)
        case "@yearly", "@annually": CommandManifest.Timing(at: "yearly")
        case "@monthly": CommandManifest.Timing(at: "monthly")
        // Cron's week begins on Sunday, and that of 'weekly' on Monday.
        case "@weekly": CommandManifest.Timing(at: "Sun 00:00")
        case "@daily", "@midnight": CommandManifest.Timing(at: "daily")
        case "@hourly": CommandManifest.Timing(at: "hourly")
        default: nil
        }
    }

    /// Reads the five fields: minute, hour, day of the month, month, weekday.
    ///
    /// - Returns: A calendar expression, or two without common dates: if a line limits both the day of the
    ///   month and the weekday, cron runs it on the dates that match one of them, and an expression matches
    ///   both.
    /// - Throws: ``Failure``.
    static func expressions(_ fields: [Substring]) throws(Failure) -> [String] {
        let kinds: [(String, CronField)] = [
            ("minute", .minute), ("hour", .hour), ("day", .day), ("month", .month), ("weekday", .weekday),
        ]
        var numbers: [[Int]] = []
        for (text, (name, field)) in zip(fields, kinds) {
            guard let found = field.numbers(text) else {
                throw Failure(
                    finding: text.contains("~")
                        ? "the \(name) '\(text)' is a random number; write a number, and 'jitter' in the manifest"
                        : "not a valid \(name): '\(text)'")
            }
            numbers.append(found)
        }
        let time = "\(text(numbers[1], .hour)):\(text(numbers[0], .minute))"
        var days = numbers[2].count == 31 ? nil : numbers[2]
        let months = numbers[3]
        var weekdays = weekdayText(numbers[4])
        func date(_ days: [Int]?) -> String? {
            if days == nil, months.count == 12 { return nil }
            return "*-\(text(months, .month))-\(days.map { text($0, .day) } ?? "*")"
        }
        // A field that begins with * never counts as a limit, even */2. Without one, a date need only match
        // one of the fields, so all dates match if one of them, such as 1-31, has all its numbers.
        let needsOne = !fields[2].hasPrefix("*") && !fields[4].hasPrefix("*")
        if needsOne, days == nil || weekdays == nil { (days, weekdays) = (nil, nil) }
        let isEither = needsOne && days != nil
        // The second expression leaves out the days of the first, so that no date has two launches.
        let others = (1...31).filter { !numbers[2].contains($0) }
        var parts = isEither ? [[nil, date(days)], [weekdays, date(others)]] : [[weekdays, date(days)]]
        if let days, !months.contains(where: { month in days.contains { $0 <= longest[month - 1] } }) {
            guard isEither else {
                throw Failure(
                    finding: "no year has day '\(fields[2])' in month '\(fields[3])', so cron never runs it")
            }
            parts.removeFirst()
        }
        return parts.map { ($0.compactMap(\.self) + [time]).joined(separator: " ") }
    }

    /// The lengths of the months, in a leap year.
    private static let longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

    /// Numbers as a field of a calendar expression: `*`, `0/15`, `8..18`, `1,15`.
    private static func text(_ numbers: [Int], _ field: CronField) -> String {
        let range = field.range
        if numbers.count == range.count { return "*" }
        if numbers.count > 2 {
            let step = numbers[1] - numbers[0]
            let isEven = zip(numbers, numbers.dropFirst()).allSatisfy { $1 - $0 == step }
            if isEven, let last = numbers.last, step > 1, last + step > range.upperBound {
                return "\(twoDigits(numbers[0]))/\(step)"
            }
        }
        return runs(numbers).map { run in
            let ends = (twoDigits(run.lowerBound), twoDigits(run.upperBound))
            return run.count == 1 ? ends.0 : run.count == 2 ? "\(ends.0),\(ends.1)" : "\(ends.0)..\(ends.1)"
        }.joined(separator: ",")
    }

    /// The weekdays of an expression, from Monday; `nil` for all.
    private static func weekdayText(_ numbers: [Int]) -> String? {
        let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        let days = Set(numbers.map { ($0 + 6) % 7 }).sorted()
        if days.count == 7 { return nil }
        return runs(days).map { run in
            let ends = (names[run.lowerBound], names[run.upperBound])
            return run.count == 1 ? ends.0 : run.count == 2 ? "\(ends.0),\(ends.1)" : "\(ends.0)..\(ends.1)"
        }.joined(separator: ",")
    }

    /// Ascending numbers as ranges without gaps.
    private static func runs(_ numbers: [Int]) -> [ClosedRange<Int>] {
        var runs: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = runs.last, last.upperBound + 1 == number {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
        return runs
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
