import ArgumentParser
import ControlWire
import TaskModel

/// The value of `--earliest` or `--since`: a duration from now, or a date.
enum BeginDate: Equatable, Sendable {
    case after(Duration)
    case date(WallTime)

    /// Reads `30s`, `500ms`, `5m`, `2h`, `1d` or an RFC 3339 date.
    ///
    /// - Throws: `ValidationError`, whose message lists the valid forms.
    init(text: String) throws {
        if let duration = Self.duration(text) {
            self = .after(duration)
        } else if let date = Timestamp(text) {
            self = .date(date.time)
        } else {
            throw ValidationError(
                "Use a number and a unit without a space, such as 30s, 5m, 2h or 1d, or a date such as "
                    + "2026-11-21T08:00Z.")
        }
    }

    /// The date that the option names; a duration counts from `now`.
    func time(from now: WallTime) -> WallTime {
        switch self {
        case .after(let duration): now + duration
        case .date(let date): date
        }
    }

    /// The date that an option names, if a duration counts back from `now`.
    func time(before now: WallTime) -> WallTime {
        switch self {
        case .after(let duration): now + (.zero - duration)
        case .date(let date): date
        }
    }

    /// The duration of a whole number with a unit; `nil` for any other text, and for more than a hundred
    /// years.
    private static func duration(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits) else { return nil }
        let milliseconds: Int64
        switch text.dropFirst(digits.count) {
        case "ms": milliseconds = 1
        case "s": milliseconds = 1000
        case "m", "min": milliseconds = 60_000
        case "h": milliseconds = 3_600_000
        case "d": milliseconds = 86_400_000
        default: return nil
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: milliseconds)
        guard !overflow, product <= 36_500 * 86_400_000 else { return nil }
        return .milliseconds(product)
    }
}
