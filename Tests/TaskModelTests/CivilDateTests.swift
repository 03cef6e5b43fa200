import TaskModel
import Testing

/// The calendar that every text with a date uses.
@Suite struct CivilDateTests {
    @Test(arguments: [
        (0, "1970-01-01", 3), (-1, "1969-12-31", 2), (11_016, "2000-02-29", 1), (11_017, "2000-03-01", 2),
        (-25_509, "1900-02-28", 2), (-25_508, "1900-03-01", 3), (-719_468, "0000-03-01", 2),
        (-719_529, "-0001-12-31", 4), (2_932_896, "9999-12-31", 4), (2_932_897, "10000-01-01", 5),
    ])
    func `a day has one date and one weekday`(day: Int64, text: String, weekday: Int) {
        let date = CivilDate(dayNumber: day)
        #expect(date.description == text)
        #expect(date.dayNumber == day)
        #expect(date.weekday == weekday)
        #expect(date.exists)
    }

    @Test(arguments: [(1_500_000, 1), (1_000_000, 1), (0, 0), (-1, -1), (-1_000_000, -1), (-1_000_001, -2)])
    func `a point in milliseconds is never later, also before 1970`(nanoseconds: Int64, milliseconds: Int64) {
        let point = WallTime(sinceEpoch: .nanoseconds(nanoseconds))
        #expect(point.milliseconds == milliseconds)
        #expect(point.rounded <= point && point.rounded.rounded == point.rounded)
        #expect(WallTime(sinceEpoch: .seconds(Int64.min)).milliseconds == .min)
    }

    @Test func `each day of 800 years follows the day before`() {
        var date = CivilDate(year: 1600, month: 1, day: 1)
        for day in date.dayNumber..<CivilDate(year: 2400, month: 1, day: 1).dayNumber {
            guard CivilDate(dayNumber: day) == date, date.dayNumber == day else {
                Issue.record("day \(day) is \(CivilDate(dayNumber: day)), not \(date)")
                return
            }
            date.day += 1
            if !date.exists { (date.month, date.day) = (date.month + 1, 1) }
            if !date.exists { (date.year, date.month) = (date.year + 1, 1) }
        }
        #expect(date == CivilDate(year: 2400, month: 1, day: 1))
    }

    @Test(arguments: [(2026, 2, 29), (1900, 2, 29), (2026, 4, 31), (2026, 13, 1), (2026, 0, 1), (2026, 1, 0)])
    func `a date that no calendar has does not exist`(year: Int, month: Int, day: Int) {
        #expect(!CivilDate(year: year, month: month, day: day).exists)
    }

    @Test(arguments: [
        (0, "1970-01-01", "00:00:00"), (-1, "1969-12-31", "23:59:59"),
        (1_800_000_000, "2027-01-15", "08:00:00"),
    ])
    func `a second has a date and a time of day`(second: Int64, date: String, clock: String) {
        let time = CivilTime(second: second)
        #expect(time.date.description == date)
        #expect(time.clock == clock)
    }

    @Test(arguments: [(-1001, -2), (-1000, -1), (-1, -1), (0, 0), (999, 0), (1000, 1)])
    func `seconds are whole and rounded down`(milliseconds: Int64, seconds: Int64) {
        #expect(WallTime(milliseconds: milliseconds).wholeSeconds == seconds)
    }
}
