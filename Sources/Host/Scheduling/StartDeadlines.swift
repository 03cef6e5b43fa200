import HeapModule
public import TaskModel

/// The pending requests that fail at a date, the earliest date first.
///
/// A request stays here when it is launched or cancelled; its entry is skipped when it comes up. When most
/// entries are of this sort, they are removed, so the size stays in proportion to the pending requests.
public struct StartDeadlines: Sendable {
    private struct Entry: Comparable {
        let date: WallTime
        let id: RequestID

        static func < (left: Self, right: Self) -> Bool {
            left.date == right.date ? left.id < right.id : left.date < right.date
        }
    }

    private var entries = Heap<Entry>()

    /// Makes an empty collection.
    public init() {}

    /// The number of entries, including those of requests that are not pending any more.
    var count: Int { entries.count }
    /// Whether there are no entries.
    public var isEmpty: Bool { entries.isEmpty }

    /// Whether the earliest date has come; its request need not be pending any more.
    public func isDue(at now: WallTime) -> Bool { entries.min.map { $0.date <= now } ?? false }

    /// Adds a request that became pending, if it has such a date.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - count: The number of pending requests.
    ///   - pending: Returns the pending request with a number; `nil` if it is not pending any more.
    public mutating func add(
        _ request: TaskRequest, among count: Int, pending: (RequestID) -> TaskRequest?
    ) {
        guard let date = request.failsAt else { return }
        if entries.count > 2 * count + 64 {
            var kept: [RequestID: Entry] = [:]
            for entry in entries.unordered where pending(entry.id)?.failsAt == entry.date {
                kept[entry.id] = entry
            }
            entries = Heap(kept.values)
        }
        entries.insert(Entry(date: date, id: request.id))
    }

    /// The earliest date of the pending requests; `nil` if there is none.
    public mutating func first(pending: (RequestID) -> TaskRequest?) -> WallTime? {
        while let first = entries.min {
            if pending(first.id)?.failsAt == first.date { return first.date }
            entries.removeMin()
        }
        return nil
    }

    /// Removes and returns the pending requests whose date has come.
    public mutating func take(until now: WallTime, pending: (RequestID) -> TaskRequest?) -> [TaskRequest] {
        var due: [TaskRequest] = []
        while let first = entries.min, first.date <= now {
            entries.removeMin()
            // The same request can be here twice, after an attempt.
            if let request = pending(first.id), request.failsAt == first.date, due.last?.id != first.id {
                due.append(request)
            }
        }
        return due
    }
}
