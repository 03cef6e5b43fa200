public import TaskModel

/// What the machine was like over the last weeks, change by change: what forecasts are made of.
public struct ConditionHistory: Equatable, Sendable {
    /// From one instant until the next one's.
    public struct Entry: Equatable, Sendable {
        /// When it began.
        public var at: WallTime
        /// The conditions; `nil` while the machine slept or no host ran: nothing could start.
        public var conditions: Conditions?

        /// Makes an entry.
        public init(at: WallTime, conditions: Conditions?) {
            self.at = at
            self.conditions = conditions
        }
    }

    /// How far back it reaches: 28 days, four of each weekday.
    public static let span = Duration.seconds(28 * 86_400)
    /// How many changes are kept: 20,000, about one in two minutes.
    static let capacity = 20_000

    /// Oldest first.
    public private(set) var entries: [Entry] = []

    /// Makes an empty history.
    public init() {}

    /// Takes note of a change; one that is older than the newest (the clock was set back) takes the place of
    /// what it contradicts.
    public mutating func note(_ conditions: Conditions?, at time: WallTime) {
        while let last = entries.last, last.at >= time { entries.removeLast() }
        if let last = entries.last, last.conditions == conditions { return }
        entries.append(Entry(at: time, conditions: conditions))
        guard entries.count > Self.capacity || (entries.first.map { time - $0.at > Self.span * 2 } ?? false)
        else { return }
        // In large steps, since removing the first moves all others. What was in force when the span began
        // stays.
        let firstKept = entries.lastIndex { time - $0.at >= Self.span } ?? 0
        entries.removeFirst(max(firstKept, entries.count - Self.capacity * 3 / 4))
    }

    /// This history, and then that of a later time.
    public func followed(by later: ConditionHistory) -> ConditionHistory {
        var whole = self
        for entry in later.entries { whole.note(entry.conditions, at: entry.at) }
        return whole
    }

    /// The changes of a window: first what was in force when it began; empty if nothing is known of its
    /// beginning.
    func changes(from start: WallTime, to end: WallTime) -> ArraySlice<Entry> {
        let first = index(after: start)
        guard first > 0 else { return [] }
        return entries[(first - 1)..<max(first, index(after: end))]
    }

    /// The first entry that begins later.
    private func index(after time: WallTime) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].at <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
