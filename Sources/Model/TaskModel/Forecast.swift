/// When a request would likely start, from what the machine was like on earlier days.
///
/// For each recorded day the policies are asked when they would let it start if the coming 24 hours were like
/// that day. The dates below are those answers, moved to the coming day.
public struct Forecast: Equatable, Hashable, Sendable, Codable {
    /// How many days of history a forecast needs: 3.
    ///
    /// Ours, as for the hours of use: fewer are chance.
    public static let leastDays = 3

    /// How many recorded days were asked, at most 28.
    public var days: Int
    /// On how many of them it would have started within 24 hours.
    public var starts: Int
    /// The middle one of the starts; `nil` with too little history, or where no day had one.
    public var usual: WallTime?
    /// A quarter of the starts came before this.
    public var early: WallTime?
    /// A quarter of the starts came after this.
    public var late: WallTime?

    /// Makes a forecast from the starts, in any order.
    public init(days: Int, starts: [WallTime]) {
        self.days = days
        self.starts = starts.count
        guard days >= Self.leastDays, !starts.isEmpty else { return }
        let sorted = starts.sorted()
        usual = sorted[sorted.count / 2]
        early = sorted[sorted.count / 4]
        late = sorted[(sorted.count * 3) / 4]
    }

    /// The share of the days on which it would have started, 0 through 1; `nil` with too little history.
    public var confidence: Double? {
        days >= Self.leastDays ? Double(starts) / Double(days) : nil
    }
}
