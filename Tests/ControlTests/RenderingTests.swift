import ArgumentParser
import Calendars
import ControlWire
import TaskModel
import Testing

@testable import BgtaskCommands

/// The text that the command line shows for single values.
@Suite struct RenderingTests {
    @Test(arguments: [
        (Int64(0), "0 s"), (850, "850 ms"), (1299, "1.2 s"), (48_000, "48 s"), (200_000, "3 min 20 s"),
        (7_500_000, "2 h 5 min"), (7_200_000, "2 h"), (273_600_000, "3 d 4 h"), (-5, "0 s"),
    ])
    func `a duration has at most two units`(milliseconds: Int64, text: String) {
        #expect(Wording.duration(.milliseconds(milliseconds)) == text)
    }

    @Test(arguments: [
        (Int64(0), "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1_600_000, "1.5 MiB"), (5 << 40, "5120 GiB"),
    ])
    func `a size has a binary unit`(bytes: Int64, text: String) {
        #expect(Wording.bytes(bytes) == text)
    }

    @Test(arguments: [(Int64(-3000), "3.0 s ago"), (20_000, "in 20 s"), (999, "now"), (-999, "now")])
    func `a time is told from now on`(milliseconds: Int64, text: String) {
        let now = ScriptedHost.start
        #expect(Wording.relative(Timestamp(now + .milliseconds(milliseconds)), to: now) == text)
    }

    @Test(arguments: [
        (Int64(-3000), "3.0 s before the start"), (20_000, "20 s after the start"), (999, "the start"),
    ])
    func `the times of a past launch are told from its start`(milliseconds: Int64, text: String) {
        let start = ScriptedHost.start
        #expect(Wording.relative(Timestamp(start + .milliseconds(milliseconds)), to: start, .start) == text)
    }

    @Test func `nothing follows the command that a remedy ends with`() {
        var veto = VerdictMessage(ScriptedHost.veto)
        veto.since = Timestamp(ScriptedHost.start + .seconds(-3))
        #expect(
            Wording.blocking([veto], now: ScriptedHost.start, showsSince: true) == [
                "ExternalPower: External power is not connected (battery at 15 %); it must be connected (since 3.0 s ago). Plug the machine in"
            ])
    }

    @Test(arguments: [
        ("500ms", Int64(500)), ("30s", 30_000), ("5m", 300_000), ("5min", 300_000), ("2h", 7_200_000),
        ("1d", 86_400_000), ("0s", 0), ("1h30m", 5_400_000), ("1d500ms", 86_400_500),
    ])
    func `a time from now has a whole number and a unit`(text: String, milliseconds: Int64) {
        let now = ScriptedHost.start
        #expect((try? BeginDate(text: text))?.time(from: now) == now + .milliseconds(milliseconds))
    }

    @Test func `a date is taken as it is`() {
        let date = try? BeginDate(text: "2027-01-15T09:00+01:00")
        #expect(date?.time(from: ScriptedHost.start) == WallTime(milliseconds: 1_800_000_000_000))
    }

    /// 08:00:00 UTC on 15 January 2027 is 03:00:00 in New York.
    @Test(arguments: [
        ("04:30", "2027-01-15T09:30:00.000Z", "2027-01-14T09:30:00.000Z"),
        ("2:30", "2027-01-16T07:30:00.000Z", "2027-01-15T07:30:00.000Z"),
        ("today 02:30:15", "2027-01-15T07:30:15.000Z", "2027-01-15T07:30:15.000Z"),
        ("tomorrow", "2027-01-16T05:00:00.000Z", "2027-01-16T05:00:00.000Z"),
        ("yesterday 23:00", "2027-01-15T04:00:00.000Z", "2027-01-15T04:00:00.000Z"),
        ("2027-07-01 08:00", "2027-07-01T12:00:00.000Z", "2027-07-01T12:00:00.000Z"),
        ("2027-07-01T08:00", "2027-07-01T12:00:00.000Z", "2027-07-01T12:00:00.000Z"),
        // The clocks go forward at 02:00.
        ("2027-03-14 02:30", "2027-03-14T07:00:00.000Z", "2027-03-14T07:00:00.000Z"),
    ])
    func `a local time is the next or the last one in the zone of the machine`(
        text: String, next: String, last: String
    ) throws {
        var surroundings = Surroundings(now: { ScriptedHost.start }, output: { _ in }, errors: { _ in })
        surroundings.environment["TZ"] = "America/New_York"
        let date = try Surroundings.$current.withValue(surroundings) { try BeginDate(text: text) }
        #expect(Timestamp(date.time(from: ScriptedHost.start)).description == next)
        #expect(Timestamp(date.time(before: ScriptedHost.start)).description == last)
    }

    @Test(arguments: [
        "", "s", "5", "-5s", "5 s", "1.5h", "5w", "99999999999999999999d", "36501d", "36500d1s", "1h30",
        "next week", "25:00", "02:60", "2:3:4:5", "tomorrow 25:00", "2026-02-30 08:00", "2026-11-21 8",
        "today T",
        "02:30 tomorrow", "2026-1-1", ":", "0x:00",
    ])
    func `any other text is refused with the valid forms`(text: String) {
        let error = #expect(throws: ValidationError.self) { try BeginDate(text: text) }
        #expect(error?.message.contains("30s, 5m, 2h or 1h30m") == true)
    }

    @Test func `a log line has the local time, and the date if it is another day`() throws {
        let zone = try ZoneDatabase.machine(variable: "America/New_York").zone(named: nil)
        // 03:00 in New York.
        let clock = LogClock(zone: zone, now: WallTime(milliseconds: 1_800_000_000_123))
        #expect(clock.text(of: clock.now) == "03:00:00.123")
        #expect(clock.text(of: clock.now + .seconds(-4 * 3600)) == "2027-01-14 23:00:00.123")
        #expect(
            LogClock(zone: .utc, now: clock.now).text(of: clock.now + .seconds(-4 * 3600)) == "04:00:00.123")
    }

    @Test func `a table pads every column but the last, and cuts its lines to the terminal`() {
        var table = Table("A", "LONG", "LAST")
        table.add("aaaa", "", "x\u{1B}[2J")
        let plain = Style(isColored: false)
        #expect(table.lines(width: nil, style: plain) == ["A     LONG  LAST", "aaaa  -     x\\u{1b}[2J"])
        #expect(table.lines(width: 14, style: plain) == ["A     LONG  L…", "aaaa  -     x…"])
        let colored = Style(isColored: true)
        #expect(table.lines(width: 14, style: colored)[0] == "\u{1B}[1mA     LONG  L…\u{1B}[0m")
    }

    @Test func `a veto is a sentence, with what would help`() {
        #expect(
            Wording.blocking([VerdictMessage(ScriptedHost.veto)], now: ScriptedHost.start) == [
                "ExternalPower: External power is not connected (battery at 15 %); it must be connected. Plug the machine in"
            ])
    }
}
