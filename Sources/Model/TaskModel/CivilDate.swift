/// A day of the proleptic Gregorian calendar.
///
/// All results are computed by arithmetic, without a locale or the time zone database, so the layers that
/// make decisions do not need Foundation. Internally, a year begins in March: the leap day is then its last
/// day, and one formula gives the number of days before each month.
public struct CivilDate: Hashable, Sendable, CustomStringConvertible {
    /// The year; 0 is the year before year 1.
    public var year: Int
    /// The month, 1 through 12.
    public var month: Int
    /// The day of the month, 1 through 31.
    public var day: Int

    /// The number of seconds in a day without a leap second.
    public static let secondsPerDay: Int64 = 86_400
    private static let daysPerEra: Int64 = 146_097
    /// The number of days from 1 March of year 0 to 1970-01-01.
    private static let daysBeforeEpoch: Int64 = 719_468

    /// Makes a date from its parts, which are not checked; see ``exists``.
    public init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date that is this many days after 1970-01-01.
    public init(dayNumber: Int64) {
        let sinceMarch = dayNumber + Self.daysBeforeEpoch
        let era = sinceMarch.floorDivided(by: Self.daysPerEra)
        let dayOfEra = sinceMarch.floorRemainder(by: Self.daysPerEra)
        // Subtracts the leap days before this day, so that each year counts 365 days. Counted from 0, days
        // 1,460 and 146,096 are the leap days that end 4 and 400 years; 36,524 days are 100 years.
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // Every five months from March have 153 days.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        year = Int(era * 400 + yearOfEra) + (month <= 2 ? 1 : 0)
    }

    /// The number of days after 1970-01-01; for a date that does not exist, that of a nearby day.
    public var dayNumber: Int64 {
        let shifted = Int64(month <= 2 ? year - 1 : year)
        let era = shifted.floorDivided(by: 400)
        let yearOfEra = shifted.floorRemainder(by: 400)
        let dayOfYear = Int64((153 * ((month + 9) % 12) + 2) / 5 + day - 1)
        return era * Self.daysPerEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - Self.daysBeforeEpoch
    }

    /// The weekday; 0 is Monday.
    public var weekday: Int { Int((dayNumber + 3).floorRemainder(by: 7)) }

    /// Whether the calendar contains this date; it contains no 30 February, for example.
    public var exists: Bool {
        (1...12).contains(month) && day >= 1 && day <= Self.daysIn(month: month, of: year)
    }

    /// Whether a year has a 29 February.
    public static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    /// The number of days in a month, 1 through 12.
    public static func daysIn(month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The date in the form `2026-03-30`.
    public var description: String {
        let digits = String(abs(year))
        let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
        return "\(year < 0 ? "-" : "")\(zeros)\(digits)-\(month.twoDigits)-\(day.twoDigits)"
    }
}

/// A date with a time of day, in a time zone that the value does not contain.
public struct CivilTime: Hashable, Sendable {
    /// The date.
    public var date: CivilDate
    /// Seconds after midnight, 0 through 86,399.
    public var second: Int

    /// Makes the date and time that is this many seconds after 1970-01-01 00:00 in the same time zone.
    public init(second: Int64) {
        date = CivilDate(dayNumber: second.floorDivided(by: CivilDate.secondsPerDay))
        self.second = Int(second.floorRemainder(by: CivilDate.secondsPerDay))
    }

    /// The time of day in the form `02:45:08`.
    public var clock: String {
        "\((second / 3600).twoDigits):\((second / 60 % 60).twoDigits):\((second % 60).twoDigits)"
    }
}

extension Int64 {
    /// The quotient, rounded down instead of towards zero.
    @inlinable
    public func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// The remainder of a division whose quotient is rounded down; never negative if the divisor is positive.
    @inlinable
    public func floorRemainder(by divisor: Int64) -> Int64 {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}

extension Int {
    /// The number with at least two digits, such as `07`.
    public var twoDigits: String { self < 10 ? "0\(self)" : "\(self)" }
}
