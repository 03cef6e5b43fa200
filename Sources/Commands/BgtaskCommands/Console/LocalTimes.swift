import Calendars
import ControlWire
import TaskModel

/// Dates in texts for people: local time, with the short name of its zone.
///
/// Programs get UTC (`--json`).
struct LocalTimes {
    /// The zone of the dates.
    let zone: ZoneRules

    /// A text of the host with local time in place of each date in UTC: `2026-11-23T16:03:00Z` becomes
    /// `2026-11-23 17:03:00 CET`.
    func text(_ text: String) -> String {
        var (result, rest) = ("", Substring(text))
        while let start = rest.firstIndex(where: \.isASCIIDigit) {
            result += rest[..<start]
            let word = rest[start...].prefix { $0.isASCIIDigit || "-:.TZ".contains($0) }
            let date = word.prefix(through: word.firstIndex(of: "Z") ?? word.startIndex)
            if date.count >= 20, let time = Timestamp(String(date)) {
                result += self.date(time)
                rest = rest[date.endIndex...]
            } else {
                result += word
                rest = rest[word.endIndex...]
            }
        }
        return result + rest
    }

    /// A date with its zone: `2026-11-23 17:03:00 CET`.
    func date(_ time: Timestamp) -> String {
        let local = CivilTime(second: (time.time + zone.offset(at: time.time)).wholeSeconds)
        return "\(local.date) \(local.clock) \(zone.abbreviation(at: time.time))"
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}

extension Console {
    /// The dates in the texts of this command.
    var times: LocalTimes { LocalTimes(zone: zone) }
}
