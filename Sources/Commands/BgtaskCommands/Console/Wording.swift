import ControlWire
import TaskModel

/// Quantities in words: short, with units, the same everywhere.
enum Wording {
    /// `850 ms`, `1.2 s`, `48 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
    static func duration(_ duration: Duration) -> String {
        let milliseconds = max(0, duration.wholeMilliseconds)
        let seconds = milliseconds / 1000
        switch seconds {
        case 0 where milliseconds == 0: return "0 s"
        case 0: return "\(milliseconds) ms"
        case 1..<10: return "\(seconds).\(milliseconds % 1000 / 100) s"
        case 10..<60: return "\(seconds) s"
        case 60..<3600: return pair(seconds / 60, "min", seconds % 60, "s")
        case 3600..<86_400: return pair(seconds / 3600, "h", seconds / 60 % 60, "min")
        default: return pair(seconds / 86_400, "d", seconds / 3600 % 24, "h")
        }
    }

    /// The same for a number of seconds.
    static func seconds(_ seconds: Double) -> String {
        duration(.milliseconds(Int64((seconds * 1000).rounded())))
    }

    /// `3.0 s ago`, `in 20 s`, `now`.
    static func relative(_ time: Timestamp, to now: WallTime) -> String {
        let difference = time.time - now
        if difference.wholeMilliseconds.magnitude < 1000 { return "now" }
        return difference < .zero ? "\(duration(.zero - difference)) ago" : "in \(duration(difference))"
    }

    /// `forecast: usually 22:40 (22:10 to 23:05), on 19 of 24 recorded days`, on local clocks.
    static func forecast(_ forecast: ForecastMessage, offset: Duration) -> String {
        func clock(_ time: Timestamp) -> String {
            String("\(Timestamp(time.time + offset))".dropFirst(11).prefix(5))
        }
        let days = "\(forecast.days) recorded \(forecast.days == 1 ? "day" : "days")"
        guard forecast.days >= Forecast.leastDays else {
            return "forecast: too little history yet, \(days) of the \(Forecast.leastDays) that it needs"
        }
        guard let usual = forecast.usual, let early = forecast.early, let late = forecast.late else {
            return "forecast: not within 24 h, going by \(days)"
        }
        return
            "forecast: usually \(clock(usual)) (\(clock(early)) to \(clock(late))), on \(forecast.starts) of \(days)"
    }

    /// `1 file`, `3 files`.
    static func count(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }

    /// `12.3 MiB`.
    static func bytes(_ count: Int64) -> String {
        var value = Double(count)
        for unit in ["B", "KiB", "MiB", "GiB"] {
            if value < 1024 || unit == "GiB" {
                let tenths = Int64((value * 10).rounded())
                return unit == "B" || tenths % 10 == 0
                    ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
            }
            value /= 1024
        }
        return "\(count) B"
    }

    /// `45 % 9/20 hashing`, `9 hashing` where no total is known.
    static func progress(_ progress: ProgressMessage?) -> String {
        guard let progress else { return "" }
        var parts: [String] = []
        if let fraction = progress.progress.fraction {
            parts.append("\(Int(fraction * 100)) %")
            parts.append("\(progress.completed)/\(progress.total)")
        } else {
            parts.append("\(progress.completed)")
        }
        if let message = progress.message, !message.isEmpty { parts.append(message) }
        return parts.joined(separator: " ")
    }

    /// What a policy found that does not object, and what it would prefer:
    /// `External power is not connected. Better: connected`.
    static func accepted(_ rationale: RationaleMessage) -> String {
        let statement = rationale.rationale.statement
        let suffix = ", by preference"
        guard rationale.required.hasSuffix(suffix) else { return statement }
        let wish = rationale.required.dropLast(suffix.count)
        return wish == rationale.observed ? statement : "\(statement). Better: \(wish)"
    }

    /// What the first veto found, and how many more there are: `The network is not connected (and 1 more)`.
    static func reason(_ verdicts: [VerdictMessage]) -> String {
        let vetoes = verdicts.filter { $0.decision != .proceed }
        guard let first = vetoes.first else { return "" }
        let others = vetoes.count > 1 ? " (and \(vetoes.count - 1) more)" : ""
        return (first.rationale.first?.rationale.statement ?? first.policy) + others
    }

    /// One line per quantity that keeps a request from starting, with what would help.
    static func blocking(_ verdicts: [VerdictMessage], now: WallTime) -> [String] {
        verdicts.filter { $0.decision != .proceed }.flatMap { verdict -> [String] in
            if verdict.rationale.isEmpty { return [verdict.policy] }
            return verdict.rationale.map { rationale in
                var text = "\(verdict.policy): \(rationale.rationale.sentence)"
                if let change = rationale.earliestChange {
                    text += ". This can change \(relative(change, to: now))"
                }
                // No full stop at the end: a remedy may end with a command that people copy.
                if let remedy = rationale.remedy { text += ". \(remedy)" }
                return text
            }
        }
    }

    private static func pair(_ large: Int64, _ largeUnit: String, _ small: Int64, _ smallUnit: String)
        -> String
    {
        small == 0 ? "\(large) \(largeUnit)" : "\(large) \(largeUnit) \(small) \(smallUnit)"
    }
}
