public import TaskModel

/// A point in time as JSON contains it: `2026-11-21T02:45:08.123Z`, always in UTC and with milliseconds.
public struct Timestamp: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The time.
    public let time: WallTime

    /// Wraps a time, rounded towards 1970 to a whole millisecond.
    public init(_ time: WallTime) {
        self.time = WallTime(milliseconds: time.milliseconds)
    }

    /// Parses an RFC 3339 time: a date, `T`, a time with or without seconds and a fraction, then `Z` or an
    /// offset.
    ///
    /// A date alone means midnight UTC. The result is `nil` for any other text, and for dates that do not
    /// exist.
    public init?(_ text: String) {
        var scanner = DateScanner(text)
        guard let time = scanner.scan() else { return nil }
        self.init(time)
    }

    /// Decodes the text.
    public init(from decoder: any Decoder) throws {
        let text = try String(from: decoder)
        guard let value = Self(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "'\(text)' is not an RFC 3339 time"))
        }
        self = value
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        try description.encode(to: encoder)
    }

    /// The form `2026-11-21T02:45:08.123Z`.
    public var description: String {
        let (day, millisecond) = time.milliseconds.flooredDivision(by: 86_400_000)
        let (year, month, dayOfMonth) = CivilDate.civil(ofDay: day)
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
        let (hour, minute, second) =
            (millisecond / 3_600_000, millisecond / 60_000 % 60, millisecond / 1000 % 60)
        let clock = "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))"
        return "\(date)T\(clock).\(padded(millisecond % 1000, 3))Z"
    }
}

/// Gregorian dates by arithmetic, independent of locales and time zones.
///
/// Years begin in March, so that a leap day is the last day of its year. 400 years have 146,097 days.
enum CivilDate {
    /// Days from 1970-01-01 to an existing date.
    static func day(year: Int64, month: Int64, dayOfMonth: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shifted.flooredDivision(by: 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + dayOfMonth - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date of a day, given as days since 1970-01-01.
    static func civil(ofDay day: Int64) -> (year: Int64, month: Int64, dayOfMonth: Int64) {
        let (era, dayOfEra) = (day + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension Int64 {
    /// The quotient, rounded down, and the remainder, which is never negative.
    func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

private func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
