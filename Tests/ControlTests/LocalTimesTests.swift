import Calendars
import ControlWire
import TaskModel
import Testing

@testable import BgtaskCommands

/// Dates in texts for people are local, each with its zone.
@Suite struct LocalTimesTests {
    private static func times(_ zone: String) throws -> LocalTimes {
        LocalTimes(zone: try ZoneDatabase.machine.zone(named: zone))
    }

    @Test(arguments: [
        (
            "It is 2 h too early; the request may begin at 2026-11-23T16:03:00Z or later",
            "It is 2 h too early; the request may begin at 2026-11-23 17:03:00 CET or later"
        ),
        (
            "2026-07-01T22:30:00.250Z, 2026-11-23T16:03:00Z.",
            "2026-07-02 00:30:00 CEST, 2026-11-23 17:03:00 CET."
        ),
        ("version 1.2.3, 5 of 10, 2026-11-23, T12Z, 99", "version 1.2.3, 5 of 10, 2026-11-23, T12Z, 99"),
        ("2026-99-99T99:99:99Z", "2026-99-99T99:99:99Z"), ("", ""),
    ])
    func `each date of UTC in a text becomes a local one`(text: String, expected: String) throws {
        #expect(try Self.times("Europe/Berlin").text(text) == expected)
    }

    @Test func `the zone without a name of its own is told as its offset, and UTC as UTC`() throws {
        let time = try #require(Timestamp("2026-11-23T16:03:00Z"))
        #expect(try Self.times("Asia/Kathmandu").date(time) == "2026-11-23 21:48:00 +0545")
        #expect(LocalTimes(zone: .utc).date(time) == "2026-11-23 16:03:00 UTC")
    }
}
