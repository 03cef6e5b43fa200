/// When a request will probably start, according to the conditions on earlier days.
///
/// For each recorded day, the policies decide when the request would start if the conditions of the next 24
/// hours were those of that day. The times below are these results, moved to the next 24 hours.
public struct Forecast: Equatable, Hashable, Sendable, Codable {
    /// How many days of history a forecast needs: 3.
    ///
    /// This number is our choice: with fewer days, the result would be chance.
    public static let leastDays = 3

    /// How many recorded days the forecast uses: at most 28.
    public var days: Int
    /// On how many of these days the request would have started within 24 hours.
    public var starts: Int
    /// The median of the start times; `nil` if there is too little history, or if it would have started on no
    /// day.
    public var usual: WallTime?
    /// The lower quartile: a quarter of the start times are earlier.
    public var early: WallTime?
    /// The upper quartile: a quarter of the start times are later.
    public var late: WallTime?

    /// Makes a forecast from start times, in any order.
    public init(days: Int, starts: [WallTime]) {
        self.days = days
        self.starts = starts.count
        guard days >= Self.leastDays, !starts.isEmpty else { return }
        let sorted = starts.sorted()
        usual = sorted[sorted.count / 2]
        early = sorted[sorted.count / 4]
        late = sorted[(sorted.count * 3) / 4]
    }

    /// The share of days on which the request would have started, 0 through 1; `nil` if there is too little
    /// history.
    public var confidence: Double? {
        days >= Self.leastDays ? Double(starts) / Double(days) : nil
    }
}
