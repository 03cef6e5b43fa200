import TaskModel

/// The changes of a zone's clocks in every year, as `TZ` and the end of a zone's file give them:
/// `CET-1CEST,M3.5.0,M10.5.0/3`.
struct PosixRule: Equatable, Sendable {
    /// A day of each year, and a number of seconds after its midnight.
    struct YearlyTime: Equatable, Sendable {
        enum Day: Equatable, Sendable {
            /// The day of the year from 1 to 365; 29 February is not counted.
            case julian(Int)
            /// The day of the year from 0 to 365; 29 February is counted.
            case ordinal(Int)
            /// Month 1 to 12, week 1 to 5 (5 is the last of the month), weekday 0 to 6 (0 is Sunday).
            case weekday(month: Int, week: Int, weekday: Int)
        }

        var day: Day
        var seconds: Int

        /// The local time in a year, in seconds since 1970-01-01 00:00, on the clock before the change.
        func local(in year: Int) -> Int64 {
            let first = CivilDate(year: year, month: 1, day: 1).dayNumber
            let number: Int64
            switch day {
            case .julian(let day):
                let isPastLeapDay = CivilDate.isLeap(year) && day > 59
                number = first + Int64(day - 1 + (isPastLeapDay ? 1 : 0))
            case .ordinal(let day): number = first + Int64(day)
            case .weekday(let month, let week, let weekday):
                let start = CivilDate(year: year, month: month, day: 1)
                // The calendar counts weekdays from Monday, and the rule counts them from Sunday.
                var day = 1 + (weekday + 6 - start.weekday) % 7 + (week - 1) * 7
                while day > CivilDate.daysIn(month: month, of: year) { day -= 7 }
                number = CivilDate(year: year, month: month, day: day).dayNumber
            }
            return number * CivilDate.secondsPerDay + Int64(seconds)
        }
    }

    var standard: ZoneRules.LocalType
    /// Summer time, with its yearly beginning and end; `nil` if the clocks do not change.
    var summer: (type: ZoneRules.LocalType, begin: YearlyTime, end: YearlyTime)?

    static func == (left: Self, right: Self) -> Bool {
        left.standard == right.standard && left.summer?.type == right.summer?.type
            && left.summer?.begin == right.summer?.begin && left.summer?.end == right.summer?.end
    }

    /// The changes of the clocks in these years, in order of time.
    func transitions(in years: ClosedRange<Int>) -> [ZoneRules.Transition] {
        guard let summer else { return [] }
        let all = years.flatMap { year in
            [
                ZoneRules.Transition(
                    at: summer.end.local(in: year) - Int64(summer.type.offset), type: standard),
                ZoneRules.Transition(
                    at: summer.begin.local(in: year) - Int64(standard.offset), type: summer.type),
            ]
        }
        // With summer time all year, its end and its next beginning fall in the same second; the beginning
        // must be last.
        return all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(
            \.element)
    }

    /// Reads the format of POSIX, with hours from -167 to 167 as in RFC 8536; `nil` for any other text.
    init?(_ text: String) {
        var reader = PosixRuleReader(rest: text[...])
        guard let name = reader.name(), let west = reader.offset(hours: 24) else { return nil }
        standard = ZoneRules.LocalType(offset: -west, abbreviation: name)
        if reader.rest.isEmpty { return }
        guard let summerName = reader.name() else { return nil }
        var summerOffset = standard.offset + 3600
        if reader.rest.first != "," {
            guard let west = reader.offset(hours: 24) else { return nil }
            summerOffset = -west
        }
        guard reader.skip(","), let begin = reader.yearlyTime(), reader.skip(","),
            let end = reader.yearlyTime(), reader.rest.isEmpty
        else { return nil }
        summer = (ZoneRules.LocalType(offset: summerOffset, abbreviation: summerName), begin, end)
    }
}

/// Reads the parts of a rule in order; each read part is removed from `rest`.
private struct PosixRuleReader {
    var rest: Substring

    mutating func skip(_ character: Character) -> Bool {
        guard rest.first == character else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func name() -> String? {
        if skip("<") {
            guard let end = rest.firstIndex(of: ">") else { return nil }
            defer { rest = rest[end...].dropFirst() }
            return String(rest[..<end])
        }
        let name = rest.prefix { $0.isASCII && $0.isLetter }
        rest = rest.dropFirst(name.count)
        return name.count >= 3 ? String(name) : nil
    }

    mutating func number(upTo limit: Int) -> Int? {
        let digits = rest.prefix { ("0"..."9").contains($0) }
        guard (1...3).contains(digits.count), let number = Int(digits), number <= limit else { return nil }
        rest = rest.dropFirst(digits.count)
        return number
    }

    /// Reads `[+-]hh[:mm[:ss]]` and returns it in seconds.
    mutating func offset(hours limit: Int) -> Int? {
        let sign = skip("-") ? -1 : 1
        if sign == 1 { _ = skip("+") }
        guard let hours = number(upTo: limit) else { return nil }
        var seconds = hours * 3600
        for unit in [60, 1] where skip(":") {
            guard let part = number(upTo: 59) else { return nil }
            seconds += part * unit
        }
        return sign * seconds
    }

    mutating func yearlyTime() -> PosixRule.YearlyTime? {
        let day: PosixRule.YearlyTime.Day
        if skip("M") {
            guard let month = number(upTo: 12), month >= 1, skip("."), let week = number(upTo: 5), week >= 1,
                skip("."), let weekday = number(upTo: 6)
            else { return nil }
            day = .weekday(month: month, week: week, weekday: weekday)
        } else if skip("J") {
            guard let number = number(upTo: 365), number >= 1 else { return nil }
            day = .julian(number)
        } else {
            guard let number = number(upTo: 365) else { return nil }
            day = .ordinal(number)
        }
        guard skip("/") else { return PosixRule.YearlyTime(day: day, seconds: 7200) }
        return offset(hours: 167).map { PosixRule.YearlyTime(day: day, seconds: $0) }
    }
}
