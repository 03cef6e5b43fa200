import ArgumentParser
import Calendars
import ControlWire
import TaskModel

/// The value of an option such as `--earliest` or `--since`: a duration, a date or a time of day.
enum BeginDate: Equatable, Sendable {
    case after(Duration)
    case date(WallTime)
    /// A time of day in the zone of the machine: the next one, or the last one.
    case clock(CalendarExpression, ZoneRules)

    /// Reads a duration (`30s`, `1h30m`), an RFC 3339 date, or a local date or time (`02:30`, `tomorrow
    /// 02:30`, `2026-11-21 08:00`).
    ///
    /// - Throws: `ValidationError`, whose message lists the valid forms.
    init(text: String) throws { try self.init(text, clock: "02:30", day: "tomorrow 02:30") }

    /// Reads the same forms for an option about the past, whose message has examples of the past.
    ///
    /// - Throws: `ValidationError`, whose message lists the valid forms.
    init(past text: String) throws { try self.init(text, clock: "10:20", day: "yesterday 18:00") }

    private init(_ text: String, clock: String, day: String) throws {
        if let duration = Self.duration(text) {
            self = .after(duration)
        } else if let date = Timestamp(text) {
            self = .date(date.time)
        } else if let local = try Self.local(text) {
            self = local
        } else {
            throw ValidationError(
                "Use numbers with units and without spaces, such as 30s, 5m, 2h or 1h30m; a local time, such as "
                    + "\(clock), '\(day)' or '2026-11-21 08:00'; or a date with its zone, such as "
                    + "2026-11-21T08:00Z.")
        }
    }

    /// The date that the option names; a duration counts from `now`, and a time of day is the next one.
    func time(from now: WallTime) -> WallTime {
        switch self {
        case .after(let duration): now + duration
        case .date(let date): date
        case .clock(let clock, let zone): clock.next(after: now, in: zone) ?? now
        }
    }

    /// The date that an option names, if a duration counts back from `now` and a time of day is the last one.
    func time(before now: WallTime) -> WallTime {
        switch self {
        case .after(let duration): return now + (.zero - duration)
        case .date(let date): return date
        case .clock(let clock, let zone):
            // A day has at most 25 hours.
            var last = now + .seconds(-2 * 25 * 3600)
            while let next = clock.next(after: last, in: zone), next <= now { last = next }
            return last
        }
    }

    /// The sum of whole numbers with units; `nil` for any other text, and for more than a hundred years.
    private static func duration(_ text: String) -> Duration? {
        var rest = text[...]
        var sum: Int64 = 0
        repeat {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard let number = Int64(digits), let milliseconds = Self.units[String(unit)] else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(by: milliseconds)
            guard !overflow, product <= Self.longest, sum + product <= Self.longest else { return nil }
            sum += product
        } while !rest.isEmpty
        return .milliseconds(sum)
    }

    /// Milliseconds per unit.
    private static let units: [String: Int64] = [
        "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]
    private static let longest: Int64 = 36_500 * 86_400_000

    /// A local date and time, a date alone (its midnight), or a time alone; `nil` for any other text.
    ///
    /// - Throws: `ValidationError` if the machine's zone can't be read.
    private static func local(_ text: String) throws -> Self? {
        // A date and a time may also be joined as in RFC 3339.
        let isJoined = text.first?.isNumber == true && text.contains("T")
        let parts = text.split(separator: isJoined ? "T" : " ").map(String.init)
        guard let last = parts.last, parts.count <= 2 else { return nil }
        let clock = clock(last)
        guard parts.count == 1 || clock != nil else { return nil }
        if parts.count == 1, let clock {
            guard let expression = try? CalendarExpression(clock) else { return nil }
            return .clock(expression, try zone())
        }
        guard let day = try day(parts[0]), day.exists,
            let expression = try? CalendarExpression("\(day) \(clock ?? "00:00:00")")
        else { return nil }
        // Two days before the date, it has not begun in any zone.
        let before = WallTime(sinceEpoch: .seconds((day.dayNumber - 2) * CivilDate.secondsPerDay))
        return expression.next(after: before, in: try zone()).map { .date($0) }
    }

    /// Completes `2:30` to `02:30:00`; `nil` for a text that is not a time of day.
    private static func clock(_ text: String) -> String? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count),
            parts.allSatisfy({ (1...2).contains($0.count) && $0.allSatisfy { $0.isASCII && $0.isNumber } })
        else { return nil }
        let two = parts.map { $0.count == 1 ? "0\($0)" : String($0) }
        return (two + ["00"]).prefix(3).joined(separator: ":")
    }

    /// `today`, `tomorrow`, `yesterday` or `2026-11-21`.
    private static func day(_ text: String) throws -> CivilDate? {
        if let distance = ["yesterday": Int64(-1), "today": 0, "tomorrow": 1][text] {
            let now = Surroundings.current.now()
            let local = now.wholeSeconds + Int64(try zone().offset(at: now).components.seconds)
            return CivilDate(dayNumber: local.floorDivided(by: CivilDate.secondsPerDay) + distance)
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.map(\.count) == [4, 2, 2] else { return nil }
        let numbers = parts.compactMap { Int($0) }
        guard numbers.count == 3 else { return nil }
        return CivilDate(year: numbers[0], month: numbers[1], day: numbers[2])
    }

    private static func zone() throws -> ZoneRules {
        do {
            return try Surroundings.current.zone()
        } catch {
            throw ValidationError("\(error)")
        }
    }
}
