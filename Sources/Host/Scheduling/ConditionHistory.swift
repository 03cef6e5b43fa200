public import TaskModel

/// The changes of the machine's conditions in the last weeks, for forecasts.
public struct ConditionHistory: Equatable, Sendable {
    /// The conditions from one time until the next entry.
    public struct Entry: Equatable, Sendable {
        /// When the conditions began to hold.
        public var at: WallTime
        /// The conditions; `nil` while no launch could start, because the machine slept or no host ran.
        public var conditions: Conditions?

        /// Creates an entry.
        public init(at: WallTime, conditions: Conditions?) {
            self.at = at
            self.conditions = conditions
        }
    }

    /// The age that forecasts use: 28 days, so that each weekday occurs four times.
    public static let span = Duration.seconds(28 * 86_400)
    /// The greatest number of entries: 20,000, about one for every two minutes of 28 days.
    static let capacity = 20_000

    /// The entries, oldest first.
    public private(set) var entries: [Entry] = []

    /// Creates an empty history.
    public init() {}

    /// Adds a change; entries with the same or a later time are removed, because the clock was set back.
    public mutating func note(_ conditions: Conditions?, at time: WallTime) {
        while let last = entries.last, last.at >= time { entries.removeLast() }
        if let last = entries.last, last.conditions == conditions { return }
        entries.append(Entry(at: time, conditions: conditions))
        guard entries.count > Self.capacity || (entries.first.map { time - $0.at > Self.span * 2 } ?? false)
        else { return }
        // Removing the first entries moves all others, so many are removed at once. The conditions at the
        // start of the span are kept.
        let firstKept = entries.lastIndex { time - $0.at >= Self.span } ?? 0
        entries.removeFirst(max(firstKept, entries.count - Self.capacity * 3 / 4))
    }

    /// This history, followed by that of a later period.
    public func followed(by later: ConditionHistory) -> ConditionHistory {
        var whole = self
        for entry in later.entries { whole.note(entry.conditions, at: entry.at) }
        return whole
    }

    /// The changes in a period, beginning with the conditions at its start; empty if those are not known.
    func changes(from start: WallTime, to end: WallTime) -> ArraySlice<Entry> {
        let first = index(after: start)
        guard first > 0 else { return [] }
        return entries[(first - 1)..<max(first, index(after: end))]
    }

    /// The newest conditions that were known at a time, and whether launches could start then.
    ///
    /// The conditions are `nil` if the history begins later. `isAwake` is false while the machine slept or no
    /// host ran; the conditions are then those from before.
    func state(at time: WallTime) -> (conditions: Conditions?, isAwake: Bool) {
        let past = entries[..<index(after: time)]
        return (past.last { $0.conditions != nil }?.conditions, past.last?.conditions != nil)
    }

    /// The index of the entry that holds at a time; `nil` if the history begins later.
    func indexOfEntry(at time: WallTime) -> Int? {
        let next = index(after: time)
        return next > 0 ? next - 1 : nil
    }

    /// The index of the first entry that begins after a time.
    private func index(after time: WallTime) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].at <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
