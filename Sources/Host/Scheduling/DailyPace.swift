import TaskModel

/// How a daily budget is distributed over the hours of a local day.
struct DailyPace {
    /// When the day begins.
    private let start: WallTime
    /// The share of the budget that is added in each hour; the sum is 1.
    private let hours: [Double]

    /// The distribution for a bundle: the hours of its usual use count up to four times as much as the
    /// others.
    init(of usage: UsageHistogram, on day: Int64, in situation: Situation) {
        start = situation.start(ofDay: day)
        let weights = (0..<24).map { hour in
            1 + 3 * (usage.likelihood(inHour: day * 24 + Int64(hour), in: situation) ?? 0)
        }
        let sum = weights.reduce(0, +)
        hours = weights.map { $0 / sum }
    }

    /// The share of the budget that is added between midnight and a time of this day, from 0 to 1.
    func share(until time: WallTime) -> Double {
        let passed = min(24, max(0, (time - start).inSeconds / 3600))
        let whole = Int(passed)
        let added = hours.prefix(whole).reduce(0, +)
        return whole < 24 ? added + hours[whole] * (passed - Double(whole)) : 1
    }

    /// When a share of the budget has been added, rounded up to a millisecond.
    func time(of share: Double) -> WallTime {
        var left = max(0, share)
        for (hour, part) in hours.enumerated() {
            if left < part {
                return start + .milliseconds(Int64(((Double(hour) + left / part) * 3_600_000).rounded(.up)))
            }
            left -= part
        }
        return start + .seconds(86_400)
    }
}
