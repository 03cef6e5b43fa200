import Calendars
import ControlWire
import TaskModel

/// Formats lines of the log for people.
enum LogText {
    /// The line as `02:45:08.123 notice L42 com.example.feed.refresh: [subsystem:category] text`.
    ///
    /// With `inLaunch`, it leaves out the launch's number and the identifier, which are the same in all
    /// lines.
    static func line(_ line: LogLineMessage, style: Style, inLaunch: Bool, clock: LogClock) -> String {
        var parts = [style.dim(clock.text(of: line.at.time)), level(line, style)]
        if !inLaunch {
            if let launch = line.launch { parts.append(launch.description) }
            if let identifier = line.identifier { parts.append(identifier.rawValue) }
        }
        let scope = [line.subsystem, line.category].compactMap { $0 }.filter { !$0.isEmpty }
        if !scope.isEmpty { parts.append("[\(Printable.text(scope.joined(separator: ":")))]") }
        parts.append(Printable.text(line.message))
        return parts.joined(separator: " ")
    }

    private static func level(_ line: LogLineMessage, _ style: Style) -> String {
        let source =
            switch line.source {
            case .host, .handler: line.level.rawValue
            case .standardOutput: "stdout"
            case .standardError: "stderr"
            }
        let padded = source + String(repeating: " ", count: max(0, 7 - source.count))
        return switch line.level {
        case .error: style.red(padded)
        case .warning: style.yellow(padded)
        case .notice, .info, .debug: padded
        }
    }
}

/// Writes the times of log lines.
struct LogClock {
    /// The zone of the times.
    var zone: ZoneRules
    /// A line of another day than this begins with its date.
    var now: WallTime

    /// The time in the zone to the millisecond, such as `02:45:08.123`, with the date if it is another day.
    func text(of time: WallTime) -> String {
        let (line, today) = (local(time), local(now))
        let clock = line.dropFirst(11).prefix(12)
        return line.prefix(10) == today.prefix(10) ? String(clock) : "\(line.prefix(10)) \(clock)"
    }

    /// The local date and time, as if the zone were UTC.
    private func local(_ time: WallTime) -> String { Timestamp(time + zone.offset(at: time)).description }
}
