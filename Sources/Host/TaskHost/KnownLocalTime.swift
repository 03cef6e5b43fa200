import HostCore
import LinuxSystem
import TaskModel

/// What the core knows about the local time of the machine.
struct KnownLocalTime {
    private var changes: [LocalTimeChange] = []

    /// Starts with what the core was given at its beginning.
    init(_ changes: [LocalTimeChange] = []) { self.changes = changes }

    /// The inputs for the core at a time: the changes of the clocks if they are new, and the time.
    mutating func inputs(at now: WallTime) -> [HostInput] {
        let offset = ProcessFacts.localTimeOffset(at: now)
        let near = LocalTimeChange.near(now)
        let isNew = near != changes
        changes = near
        return (isNew ? [.localTimeChanges(near)] : []) + [.timePassed(localTimeOffset: .seconds(offset))]
    }
}

extension LocalTimeChange {
    /// The changes of the machine's clocks from two days before a time to eight days after it, in order.
    ///
    /// At most one change before the time and one after it is found, because no zone has two within days.
    /// Each takes some 20 conversions of less than a microsecond.
    static func near(_ time: WallTime) -> [LocalTimeChange] {
        let day = Duration.seconds(86_400)
        return [(time + (.zero - day * 2), time), (time, time + day * 8)].compactMap(Self.between)
    }

    /// The change between two times; `nil` if their local times have the same difference from UTC.
    private static func between(_ first: WallTime, _ last: WallTime) -> LocalTimeChange? {
        func offset(_ second: Int64) -> Int {
            ProcessFacts.localTimeOffset(at: WallTime(sinceEpoch: .seconds(second)))
        }
        var (low, high) = (first.wholeSeconds, last.wholeSeconds)
        let (before, after) = (offset(low), offset(high))
        if before == after { return nil }
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if offset(middle) == before { low = middle } else { high = middle }
        }
        return LocalTimeChange(
            at: WallTime(sinceEpoch: .seconds(high)), before: .seconds(before), after: .seconds(after))
    }
}
