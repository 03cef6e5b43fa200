import TaskModel

/// A set of dates and times of day, written like `Mon..Fri 02:00`, `*-*-01`, `2026-12-24 18:00` or `*:0/15`.
///
/// An expression has no time zone; ``next(after:in:)`` takes one. Documentation/Manifest.md describes the
/// grammar.
public struct CalendarExpression: Hashable, Sendable {
    /// The text of the expression.
    public let text: String
    /// The weekdays: 0 is Monday.
    var weekdays: NumberSet
    /// The years; `nil` means every year.
    var years: [Int]?
    var months: NumberSet
    var days: NumberSet
    /// Whether the expression also has the last day of each month.
    var hasLastDay: Bool
    var hours: NumberSet
    var minutes: NumberSet
    var seconds: NumberSet
    /// Whether the hour was written `*`.
    ///
    /// If so, the expression follows elapsed time when clocks change.
    var isEveryHour: Bool

    /// Reads an expression.
    ///
    /// - Throws: ``CalendarExpressionError`` with the column of the mistake, also if no day can match.
    public init(_ text: String) throws(CalendarExpressionError) {
        self = try CalendarExpressionParser(text).expression()
    }

    init(
        text: String, weekdays: NumberSet, date: DatePattern, time: TimePattern
    ) {
        self.text = text
        self.weekdays = weekdays
        years = date.years
        months = date.months
        days = date.days
        hasLastDay = date.hasLastDay
        hours = time.hours
        minutes = time.minutes
        seconds = time.seconds
        isEveryHour = time.isEveryHour
    }

    /// The time between two successive times, if it is always a minute, an hour or a day; `nil` for other
    /// expressions.
    ///
    /// Changes of clocks do not count.
    public var fixedPeriod: Duration? {
        let isDaily =
            years == nil && weekdays == NumberSet(0...6) && months == NumberSet(1...12)
            && days == NumberSet(1...31)
        guard isDaily, seconds.count == 1 else { return nil }
        if hours.count == 24, minutes.count == 60 { return .seconds(60) }
        guard minutes.count == 1 else { return nil }
        return hours.count == 24 ? .seconds(3600) : hours.count == 1 ? .seconds(86_400) : nil
    }

    /// Compares the times of day of the expression with a part of the day.
    ///
    /// - Parameters:
    ///   - start: The first minute of the part, 0 through 1439.
    ///   - end: The minute at which it ends; if it is before the start, the part lasts over midnight.
    ///   - slack: How long before the part a time may be.
    /// - Returns: Whether a time is in the part, or at most `slack` before it.
    public func meets(from start: Int, to end: Int, within slack: Duration) -> Bool {
        (0..<1440).contains { minute in
            guard hours.contains(minute / 60), minutes.contains(minute % 60) else { return false }
            let isInside =
                start < end ? (start..<end).contains(minute) : minute >= start || minute < end
            let wait = (start - minute + 1440) % 1440
            return isInside || .seconds(60 * wait) <= slack
        }
    }

    /// Whether any day matches.
    ///
    /// Without years, 400 years are searched, because they contain every combination of date and weekday.
    var isPossible: Bool {
        let first = years?.first ?? 2000
        let last = years?.last ?? first + 399
        let from = CivilDate(year: first, month: 1, day: 1).dayNumber * CivilDate.secondsPerDay
        let end = CivilDate(year: last + 1, month: 1, day: 1).dayNumber * CivilDate.secondsPerDay
        return firstMatch(from: from, before: end) != nil
    }

    /// The first matching local time in a period; its ends are seconds of local time since 1970-01-01 00:00.
    func firstMatch(from: Int64, before end: Int64) -> Int64? {
        var day = CivilDate(dayNumber: from.floorDivided(by: CivilDate.secondsPerDay))
        var second = Int(from.floorRemainder(by: CivilDate.secondsPerDay))
        while true {
            let start = day.dayNumber * CivilDate.secondsPerDay
            if start + Int64(second) >= end { return nil }
            guard let year = nextYear(from: day.year) else { return nil }
            if year > day.year {
                (day, second) = (CivilDate(year: year, month: 1, day: 1), 0)
                continue
            }
            guard months.contains(day.month) else {
                (day, second) = (Self.monthAfter(day), 0)
                continue
            }
            if matches(day), let found = firstSecond(from: second) {
                return start + Int64(found) < end ? start + Int64(found) : nil
            }
            day.day += 1
            second = 0
            if day.day > CivilDate.daysIn(month: day.month, of: day.year) { day = Self.monthAfter(day) }
        }
    }

    private static func monthAfter(_ day: CivilDate) -> CivilDate {
        day.month == 12
            ? CivilDate(year: day.year + 1, month: 1, day: 1)
            : CivilDate(year: day.year, month: day.month + 1, day: 1)
    }

    private func nextYear(from year: Int) -> Int? {
        guard let years else { return year }
        return years.first { $0 >= year }
    }

    private func matches(_ day: CivilDate) -> Bool {
        let isListed =
            days.contains(day.day)
            || (hasLastDay && day.day == CivilDate.daysIn(month: day.month, of: day.year))
        return isListed && weekdays.contains(day.weekday)
    }

    /// The first matching second of a day, counted from its midnight; `nil` if none is at or after `start`.
    private func firstSecond(from start: Int) -> Int? {
        var (hour, minute, second) = (start / 3600, start / 60 % 60, start % 60)
        while let nextHour = hours.first(from: hour) {
            if nextHour > hour { (minute, second) = (0, 0) }
            while let nextMinute = minutes.first(from: minute) {
                if nextMinute > minute { second = 0 }
                if let nextSecond = seconds.first(from: second) {
                    return nextHour * 3600 + nextMinute * 60 + nextSecond
                }
                (minute, second) = (nextMinute + 1, 0)
            }
            (hour, minute, second) = (nextHour + 1, 0, 0)
        }
        return nil
    }
}

/// The date part of an expression.
struct DatePattern {
    var years: [Int]?
    var months = NumberSet(1...12)
    var days = NumberSet(1...31)
    var hasLastDay = false
}

/// The time part of an expression; midnight if the expression has no time part.
struct TimePattern {
    var hours = NumberSet(0...0)
    var minutes = NumberSet(0...0)
    var seconds = NumberSet(0...0)
    var isEveryHour = false
}

/// A set of numbers from 0 to 63.
struct NumberSet: Hashable, Sendable {
    private var bits: UInt64 = 0

    init() {}

    init(_ range: ClosedRange<Int>) {
        for number in range { insert(number) }
    }

    mutating func insert(_ number: Int) { bits |= 1 << UInt64(number) }

    func contains(_ number: Int) -> Bool { bits >> UInt64(number) & 1 == 1 }

    /// The number of members.
    var count: Int { bits.nonzeroBitCount }

    /// The smallest member that is at least this number; `nil` if there is none.
    func first(from number: Int) -> Int? {
        guard number < 64 else { return nil }
        let rest = bits >> UInt64(number)
        return rest == 0 ? nil : number + rest.trailingZeroBitCount
    }
}
