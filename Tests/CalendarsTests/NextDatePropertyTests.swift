import Calendars
import Foundation
import TaskModel
import Testing

/// Random expressions, compared with a scan of every minute that uses Foundation's offsets.
@Suite struct NextDatePropertyTests {
    static let zones = [
        "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu",
        "America/St_Johns", "Pacific/Apia", "Africa/Cairo", "America/Havana", "Pacific/Chatham",
    ]

    /// An expression as text, and as plain numbers for the scan.
    struct Sample {
        var weekdays: Set<Int>?
        var days: Set<Int>?
        var hours: Set<Int>?
        var minutes: Set<Int>

        init(_ random: inout SplitMix) {
            func some(_ range: ClosedRange<Int>, _ count: Int) -> Set<Int> {
                Set((0..<count).map { _ in range.lowerBound + random.below(range.count) })
            }
            if random.below(3) == 0 { weekdays = some(0...6, 1 + random.below(4)) }
            if random.below(4) == 0 { days = some(1...31, 6) }
            if random.below(3) != 0 { hours = some(0...5, 1 + random.below(3)) }
            minutes = some(0...59, 1 + random.below(3))
        }

        var text: String {
            func list(_ numbers: Set<Int>) -> String {
                numbers.sorted().map(String.init).joined(separator: ",")
            }
            let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
            let week = weekdays.map { $0.sorted().map { names[$0] }.joined(separator: ",") + " " } ?? ""
            let date = days.map { "*-*-\(list($0)) " } ?? ""
            return "\(week)\(date)\(hours.map(list) ?? "*"):\(list(minutes))"
        }

        /// Whether the expression matches a minute of local time, counted from 1970-01-01 00:00.
        func matches(_ minute: Int) -> Bool {
            let day = minute >= 0 ? minute / 1440 : (minute - 1439) / 1440
            let ofDay = minute - day * 1440
            guard minutes.contains(ofDay % 60), hours?.contains(ofDay / 60) ?? true else { return false }
            if let weekdays, !weekdays.contains((day + 3) % 7) { return false }
            guard let days else { return true }
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            return days.contains(
                calendar.component(.day, from: Date(timeIntervalSince1970: Double(day) * 86_400)))
        }
    }

    /// The first matching minute after `start`, by a test of every minute; `nil` if there is none before
    /// `end`.
    static func scan(_ sample: Sample, after start: Int, before end: Int, in zone: TimeZone) -> Int? {
        func local(_ minute: Int) -> Int {
            minute + zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(minute) * 60)) / 60
        }
        // The scan assumes that clocks have shown every local time of the two days before.
        var furthest = (start - 2880...start).map(local).max() ?? 0
        for minute in (start + 1)..<end {
            let now = local(minute)
            if sample.hours == nil {
                if sample.matches(now) { return minute }
            } else if now > furthest {
                // A step of more than one minute is a gap. This minute counts for all minutes of the gap.
                if (furthest + 1...now).contains(where: sample.matches) { return minute }
            }
            furthest = max(furthest, now)
        }
        return nil
    }

    @Test(arguments: zones)
    func `the next date is what a scan of every minute finds`(name: String) throws {
        let seed = UInt64(bitPattern: Int64(name.utf8.reduce(17) { $0 &* 31 &+ Int($1) }))
        var random = SplitMix(seed: seed)
        let rules = try ZoneDatabase.machine.zone(named: name)
        let zone = try #require(TimeZone(identifier: name))
        // In zones whose clocks change, half of the samples lie within three days before a change, in the
        // years 2010 to 2026.
        let first = 1_262_304_000
        for round in 0..<60 {
            let sample = Sample(&random)
            let expression = try CalendarExpression(sample.text)
            var start = (first + random.below(500_000_000)) / 60
            if round.isMultiple(of: 2),
                let change = zone.nextDaylightSavingTimeTransition(
                    after: Date(timeIntervalSince1970: Double(start) * 60))
            {
                start = Int(change.timeIntervalSince1970) / 60 - random.below(4320)
            }
            let end = start + 6 * 1440
            let expected = Self.scan(sample, after: start, before: end, in: zone)
            let next = expression.next(after: WallTime(sinceEpoch: .seconds(start * 60)), in: rules)
            let found = next.map { Int($0.milliseconds / 60_000) }.flatMap { $0 < end ? $0 : nil }
            #expect(
                found == expected,
                "'\(sample.text)' in \(name) after minute \(start), seed \(seed), round \(round)")
        }
    }

    @Test(arguments: zones)
    func `dates go forward, and a later start never gives an earlier date`(name: String) throws {
        let seed = UInt64(bitPattern: Int64(name.utf8.reduce(3) { $0 &* 33 &+ Int($1) }))
        var random = SplitMix(seed: seed)
        let rules = try ZoneDatabase.machine.zone(named: name)
        for _ in 0..<200 {
            let expression = try CalendarExpression(Sample(&random).text)
            let start = WallTime(milliseconds: Int64(random.below(4_000_000_000)) * 1000 - 500)
            let later = start + .seconds(random.below(400_000))
            let next = try #require(expression.next(after: start, in: rules))
            let afterLater = try #require(expression.next(after: later, in: rules))
            #expect(
                next > start && afterLater > later && next <= afterLater, "\(expression.text), seed \(seed)")
            #expect(next > later ? next == afterLater : true, "\(expression.text), seed \(seed)")
        }
    }
}
