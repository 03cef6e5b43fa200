import DequeModule
import TaskModel

/// Transfers that wait for one server, oldest first.
struct TransferQueue: Sendable {
    private var ids: Deque<TransferID> = []

    var first: TransferID? { ids.first }
    var isEmpty: Bool { ids.isEmpty }

    /// The oldest transfers.
    func prefix(_ count: Int) -> Deque<TransferID>.SubSequence { ids.prefix(count) }

    /// Adds a transfer at the place of its age; new ones, which are the youngest, cost least.
    mutating func insert(_ id: TransferID) {
        if ids.last.map({ $0 < id }) ?? true { return ids.append(id) }
        let index = place(of: id)
        if ids[index] != id { ids.insert(id, at: index) }
    }

    /// Removes a transfer, if it is there.
    mutating func remove(_ id: TransferID) {
        if ids.first == id {
            ids.removeFirst()
            return
        }
        let index = place(of: id)
        if index < ids.count, ids[index] == id { ids.remove(at: index) }
    }

    /// The index of the first transfer that is not older.
    private func place(of id: TransferID) -> Int {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The time at which a transfer that waits may begin.
struct TransferAlarm: Comparable, Sendable {
    let due: WallTime
    let id: TransferID

    static func < (left: Self, right: Self) -> Bool { (left.due, left.id) < (right.due, right.id) }
}
