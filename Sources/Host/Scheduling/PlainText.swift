import TaskModel

extension WallTime {
    /// The time in UTC, such as `2027-01-15T08:00:00Z`.
    var text: String {
        let seconds = milliseconds.floorDivided(by: 1000)
        let (days, rest) = (seconds.floorDivided(by: 86_400), seconds.floorRemainder(by: 86_400))
        let (year, month, day) = Self.date(ofDay: days)
        return "\(year)-\(month.twoDigits)-\(day.twoDigits)"
            + "T\((rest / 3600).twoDigits):\((rest / 60 % 60).twoDigits):\((rest % 60).twoDigits)Z"
    }

    /// Seconds since the epoch, rounded down.
    var wholeSeconds: Int64 { milliseconds.floorDivided(by: 1000) }

    /// The date of a day since 1970-01-01, computed in eras of 400 years (146,097 days) that begin on 1
    /// March.
    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let sinceEra0 = day + 719_468
        let era = sinceEra0.floorDivided(by: 146_097)
        let dayOfEra = sinceEra0.floorRemainder(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1
        )
    }
}

extension Duration {
    /// The duration in the largest unit that it has at least two of, rounded up: `5 ms`, `90 s`, `12 min`, `3
    /// d`.
    var text: String { text(roundedUp: true) }

    /// Like ``text``, but rounded down, so that an elapsed time never looks as if it had reached a limit.
    var elapsedText: String { text(roundedUp: false) }

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
            "\(hundredths < 0 ? "-" : "")\(abs(hundredths) / 100).\(Int64(abs(hundredths) % 100).twoDigits)"
    }
}

extension Int64 {
    var twoDigits: String { self < 10 ? "0\(self)" : "\(self)" }
    func floorDivided(by divisor: Int64) -> Int64 {
        self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
    }
    func floorRemainder(by divisor: Int64) -> Int64 { self - floorDivided(by: divisor) * divisor }
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
