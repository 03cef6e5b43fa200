import TaskModel

extension WallTime {
    /// The time in UTC, such as `2027-01-15T08:00:00Z`.
    var text: String {
        let time = CivilTime(second: wholeSeconds)
        return "\(time.date)T\(time.clock)Z"
    }
}

extension Duration {
    /// The duration in the largest unit that it has at least two of, rounded up: `5 ms`, `90 s`, `12 min`, `3
    /// d`.
    var text: String { text(roundedUp: true) }

    /// Like ``text``, but rounded down, so that an elapsed time never looks as if it had reached a limit.
    var elapsedText: String { text(roundedUp: false) }

    /// The duration in two units, rounded up to a minute from 10 minutes on: `2 h 28 min`, `3 d 4 h`.
    var exactText: String {
        let minutes = (wholeMilliseconds + 59_999) / 60_000
        if minutes < 10 { return text }
        let (days, hours) = (minutes / 1440, minutes / 60 % 24)
        if days > 0 { return "\(days) d" + (hours > 0 ? " \(hours) h" : "") }
        if hours > 0 { return "\(hours) h" + (minutes % 60 > 0 ? " \(minutes % 60) min" : "") }
        return "\(minutes) min"
    }

    private func text(roundedUp: Bool) -> String {
        if (1..<1000).contains(wholeMilliseconds) { return "\(wholeMilliseconds) ms" }
        let seconds = max(0, (wholeMilliseconds + (roundedUp ? 999 : 0)) / 1000)
        for (unit, name) in [(86_400, "d"), (3600, "h"), (60, "min")] as [(Int64, String)]
        where seconds >= 2 * unit {
            return "\((seconds + (roundedUp ? unit - 1 : 0)) / unit) \(name)"
        }
        return "\(seconds) s"
    }
}

extension Double {
    /// The number with two decimals: `0.58`.
    var text: String {
        let hundredths = Int(self * 100 + (self < 0 ? -0.5 : 0.5))
        return
            "\(hundredths < 0 ? "-" : "")\(abs(hundredths) / 100).\((abs(hundredths) % 100).twoDigits)"
    }
}

extension TaskKind {
    /// The kind, with Apple's class for its requests: `processing (BGProcessingTaskRequest)`.
    var textWithClass: String {
        switch self {
        case .appRefresh: "\(rawValue) (BGAppRefreshTaskRequest)"
        case .processing: "\(rawValue) (BGProcessingTaskRequest)"
        case .continuedProcessing: "\(rawValue) (BGContinuedProcessingTaskRequest)"
        case .activity: "\(rawValue) (NSBackgroundActivityScheduler)"
        case .push, .transferEvents, .appLaunch: rawValue
        }
    }
}

extension String {
    /// Converts the name of a type to words: `batteryLevel` and `BatteryLevel` to `battery level`.
    var wordsOfName: String {
        reduce(into: "") { $0 += $1.isUppercase && !$0.isEmpty ? " " + $1.lowercased() : $1.lowercased() }
    }

    /// The text with its first letter in lower case.
    var withSmallLetter: String { prefix(1).lowercased() + dropFirst() }
}

extension [String] {
    /// The elements as a list in a sentence: `power`, `power and a network`, `power, a network and quiet`.
    var inSentence: String {
        count < 2 ? first ?? "" : dropLast().joined(separator: ", ") + " and " + (last ?? "")
    }
}
