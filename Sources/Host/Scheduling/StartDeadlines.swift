import HeapModule
import TaskModel

/// The pending requests that fail at a date, the earliest date first.
///
/// A request stays here when it is launched or cancelled; its entry is skipped when it comes up.
struct StartDeadlines: Sendable {
    private struct Entry: Comparable {
        let date: WallTime
        let id: RequestID

        static func < (left: Self, right: Self) -> Bool {
            left.date == right.date ? left.id < right.id : left.date < right.date
        }
    }

    private var entries = Heap<Entry>()

    var isEmpty: Bool { entries.isEmpty }

    /// Whether the earliest date has come; its request need not be pending any more.
    func isDue(at now: WallTime) -> Bool { entries.min.map { $0.date <= now } ?? false }

    /// Adds a request that became pending, if it has such a date.
    mutating func add(_ request: TaskRequest) {
        if let date = request.failsAt { entries.insert(Entry(date: date, id: request.id)) }
    }

    /// The earliest date of the pending requests; `nil` if there is none.
    mutating func first(pending: (RequestID) -> TaskRequest?) -> WallTime? {
        while let first = entries.min {
            if pending(first.id)?.failsAt == first.date { return first.date }
            entries.removeMin()
        }
        return nil
    }

    /// Removes and returns the pending requests whose date has come.
    mutating func take(until now: WallTime, pending: (RequestID) -> TaskRequest?) -> [TaskRequest] {
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
