import Calendars
import TaskModel
import Testing

@Suite struct NextDateTests {
    @Test func `weekdays at night skip the weekend`() throws {
        #expect(
            try Dates.next(3, of: "Mon..Fri 02:00", after: "2026-11-26T12:00", in: "UTC") == [
                "Fri 2026-11-27 02:00:00 UTC (+00:00)", "Mon 2026-11-30 02:00:00 UTC (+00:00)",
                "Tue 2026-12-01 02:00:00 UTC (+00:00)",
            ])
    }

    @Test func `the next date lies after the given one, even if that matches`() throws {
        let expression = try CalendarExpression("02:00")
        let two = Dates.utc("2026-11-26T02:00")
        #expect(expression.next(after: two, in: .utc) == Dates.utc("2026-11-27T02:00"))
        #expect(expression.next(after: two + .milliseconds(-1), in: .utc) == two)
        #expect(expression.next(after: two + .milliseconds(1), in: .utc) == Dates.utc("2026-11-27T02:00"))
        #expect(
            expression.next(after: WallTime(milliseconds: -1), in: .utc) == Dates.utc("1970-01-01T02:00"))
    }

    @Test(arguments: [
        ("hourly", ["Thu 2026-12-31 23:00", "Fri 2027-01-01 00:00"]),
        ("daily", ["Fri 2027-01-01 00:00", "Sat 2027-01-02 00:00"]),
        ("weekly", ["Mon 2027-01-04 00:00", "Mon 2027-01-11 00:00"]),
        ("monthly", ["Fri 2027-01-01 00:00", "Mon 2027-02-01 00:00"]),
        ("yearly", ["Fri 2027-01-01 00:00", "Sat 2028-01-01 00:00"]),
        ("*:0/15", ["Thu 2026-12-31 22:45", "Thu 2026-12-31 23:00"]),
        ("02,14:00", ["Fri 2027-01-01 02:00", "Fri 2027-01-01 14:00"]),
        ("8..18/5:30", ["Fri 2027-01-01 08:30", "Fri 2027-01-01 13:30"]),
        ("*-*-last 12:00", ["Sun 2027-01-31 12:00", "Sun 2027-02-28 12:00"]),
        ("*-02-29", ["Tue 2028-02-29 00:00", "Sun 2032-02-29 00:00"]),
        ("Mon *-02-29", ["Mon 2044-02-29 00:00", "Mon 2072-02-29 00:00"]),
        ("12-24 18:00", ["Fri 2027-12-24 18:00", "Sun 2028-12-24 18:00"]),
        ("Fri *-*-13", ["Fri 2027-08-13 00:00", "Fri 2028-10-13 00:00"]),
        ("Mon *-*-01..07 09:00", ["Mon 2027-01-04 09:00", "Mon 2027-02-01 09:00"]),
        ("sat..MONDAY 6:5", ["Sat 2027-01-02 06:05", "Sun 2027-01-03 06:05"]),
        ("2028,2030-1/6-1", ["Sat 2028-01-01 00:00", "Sat 2028-07-01 00:00"]),
        ("2027-01-01", ["Fri 2027-01-01 00:00"]),
    ])
    func `an expression means these dates`(expression: String, dates: [String]) throws {
        let next = try Dates.next(2, of: expression, after: "2026-12-31T22:30", in: "UTC")
        #expect(next.map { String($0.prefix(20)) } == dates)
    }

    @Test func `seconds count`() throws {
        let dates = try Dates.next(3, of: "02:00:0/20", after: "2026-11-26T12:00", in: "UTC")
        #expect(dates.map { String($0.dropFirst(15).prefix(8)) } == ["02:00:00", "02:00:20", "02:00:40"])
    }

    @Test func `a century that is no leap year has no 29 February`() throws {
        #expect(
            try Dates.next(1, of: "*-02-29", after: "2096-03-01T00:00", in: "UTC") == [
                "Fri 2104-02-29 00:00:00 UTC (+00:00)"
            ])
    }

    @Test func `a date that is over has no next`() throws {
        #expect(
            try Dates.next(1, of: "2020-01-01 00:00", after: "2026-01-01T00:00", in: "Europe/Berlin") == [])
    }
}
