import Testing

/// Local times on the days on which clocks change.
@Suite struct ClockChangeTests {
    @Test func `a time that does not exist in spring runs once, at the first instant after the gap`() throws {
        #expect(
            try Dates.next(3, of: "02:30", after: "2026-03-28T00:00", in: "Europe/Berlin") == [
                "Sat 2026-03-28 02:30:00 CET (+01:00)", "Sun 2026-03-29 03:00:00 CEST (+02:00)",
                "Mon 2026-03-30 02:30:00 CEST (+02:00)",
            ])
    }

    @Test func `several times of one gap run once`() throws {
        #expect(
            try Dates.next(3, of: "1..4:00,30", after: "2026-03-29T00:15", in: "Europe/Berlin") == [
                "Sun 2026-03-29 01:30:00 CET (+01:00)", "Sun 2026-03-29 03:00:00 CEST (+02:00)",
                "Sun 2026-03-29 03:30:00 CEST (+02:00)",
            ])
    }

    @Test func `a time that exists twice in autumn runs at its first occurrence only`() throws {
        #expect(
            try Dates.next(3, of: "02:30", after: "2026-10-24T12:00", in: "Europe/Berlin") == [
                "Sun 2026-10-25 02:30:00 CEST (+02:00)", "Mon 2026-10-26 02:30:00 CET (+01:00)",
                "Tue 2026-10-27 02:30:00 CET (+01:00)",
            ])
    }

    @Test func `every hour goes on in both passes of a repeated hour`() throws {
        #expect(
            try Dates.next(4, of: "hourly", after: "2026-10-24T23:30", in: "Europe/Berlin") == [
                "Sun 2026-10-25 02:00:00 CEST (+02:00)", "Sun 2026-10-25 02:00:00 CET (+01:00)",
                "Sun 2026-10-25 03:00:00 CET (+01:00)", "Sun 2026-10-25 04:00:00 CET (+01:00)",
            ])
    }

    @Test func `every quarter of an hour is not crowded after a gap`() throws {
        #expect(
            try Dates.next(3, of: "*:0/15", after: "2026-03-29T00:40", in: "Europe/Berlin") == [
                "Sun 2026-03-29 01:45:00 CET (+01:00)", "Sun 2026-03-29 03:00:00 CEST (+02:00)",
                "Sun 2026-03-29 03:15:00 CEST (+02:00)",
            ])
    }

    @Test func `every second hour names its hours, so a repeated one counts once`() throws {
        #expect(
            try Dates.next(2, of: "0/2:00", after: "2026-10-24T23:30", in: "Europe/Berlin") == [
                "Sun 2026-10-25 02:00:00 CEST (+02:00)", "Sun 2026-10-25 04:00:00 CET (+01:00)",
            ])
    }

    @Test func `midnight that does not exist is the first instant of the day`() throws {
        // Havana's clocks go forward at midnight.
        #expect(
            try Dates.next(1, of: "daily", after: "2024-03-09T12:00", in: "America/Havana") == [
                "Sun 2024-03-10 01:00:00 CDT (-04:00)"
            ])
    }

    @Test func `Lord Howe Island changes by half an hour`() throws {
        #expect(
            try Dates.next(2, of: "02:15", after: "2026-10-02T18:00", in: "Australia/Lord_Howe") == [
                "Sun 2026-10-04 02:30:00 +11:00", "Mon 2026-10-05 02:15:00 +11:00",
            ])
        #expect(
            try Dates.next(2, of: "01:45", after: "2026-04-03T18:00", in: "Australia/Lord_Howe") == [
                "Sun 2026-04-05 01:45:00 +11:00", "Mon 2026-04-06 01:45:00 +10:30",
            ])
    }

    @Test func `a day that Samoa skipped runs at the first instant of the next, once`() throws {
        #expect(
            try Dates.next(3, of: "02:00", after: "2011-12-29T10:00", in: "Pacific/Apia") == [
                "Thu 2011-12-29 02:00:00 -10:00", "Sat 2011-12-31 00:00:00 +14:00",
                "Sat 2011-12-31 02:00:00 +14:00",
            ])
        #expect(
            try Dates.next(1, of: "2011-12-30 12:00", after: "2011-12-01T00:00", in: "Pacific/Apia") == [
                "Sat 2011-12-31 00:00:00 +14:00"
            ])
    }

    @Test func `a day that Kwajalein skipped is made up for by the first instant of the next`() throws {
        #expect(
            try Dates.next(2, of: "12:00", after: "1993-08-21T01:00", in: "Pacific/Kwajalein") == [
                "Sun 1993-08-22 00:00:00 +12:00", "Sun 1993-08-22 12:00:00 +12:00",
            ])
    }

    @Test(arguments: [
        ("Asia/Kathmandu", "Fri 2026-11-27 02:00:00 +05:45"),
        ("Asia/Kabul", "Fri 2026-11-27 02:00:00 +04:30"),
        ("Pacific/Chatham", "Fri 2026-11-27 02:00:00 +13:45"),
        ("Pacific/Kiritimati", "Fri 2026-11-27 02:00:00 +14:00"),
        ("Pacific/Pago_Pago", "Fri 2026-11-27 02:00:00 SST (-11:00)"),
    ])
    func `offsets of 30 and 45 minutes, and the furthest ones`(zone: String, date: String) throws {
        #expect(try Dates.next(1, of: "2026-11-27 02:00", after: "2026-01-01T00:00", in: zone) == [date])
    }

    @Test func `the rule of a zone goes on for centuries`() throws {
        #expect(
            try Dates.next(2, of: "Sun *-03-25..31 02:30", after: "2199-01-01T00:00", in: "Europe/Berlin")
                == [
                    "Sun 2199-03-31 03:00:00 CEST (+02:00)", "Sun 2200-03-30 03:00:00 CEST (+02:00)",
                ])
    }
}
