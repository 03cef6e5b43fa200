/// A day of the proleptic Gregorian calendar.
struct CivilDay: Equatable {
    var year: Int
    /// 1 to 12.
    var month: Int
    /// 1 to 31.
    var day: Int

    static let secondsPerDay: Int64 = 86_400
    /// The days before each month of a year without a leap day; March first keeps the leap day last.
    private static let daysFromMarch = [306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275]

    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The day with this number of days after 1970-01-01.
    init(number: Int64) {
        // Days since 1 March of year 0, so that a leap day ends its year.
        let sinceMarch = Int(number) + 719_468
        let era = sinceMarch.flooredQuotient(146_097)
        let dayOfEra = sinceMarch - era * 146_097
        // A closed form of "how many leap days lie before": 1,460, 36,524 and 146,096 end 4, 100 and 400
        // years.
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        var month = 2
        for candidate in [2, 1, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3]
        where dayOfYear >= Self.daysFromMarch[candidate - 1] {
            month = candidate
            break
        }
        day = dayOfYear - Self.daysFromMarch[month - 1] + 1
        self.month = month
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// Days after 1970-01-01.
    var number: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.flooredQuotient(400)
        let yearOfEra = shifted - era * 400
        let dayOfEra =
            yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + Self.daysFromMarch[month - 1] + day - 1
        return Int64(era * 146_097 + dayOfEra - 719_468)
    }

    /// From 0 for Monday.
    var weekday: Int { (number + 3).remainder(dividingBy: 7) }

    static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    static func daysIn(month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension BinaryInteger {
    /// The quotient, rounded down.
    func flooredQuotient(_ divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// What is left after the quotient rounded down; never negative.
    func remainder(dividingBy divisor: Self) -> Int {
        Int(self - flooredQuotient(divisor) * divisor)
    }
}
