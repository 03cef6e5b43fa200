import TaskModel

/// The numbers of the pending requests in ascending order, for listings in pages.
///
/// A removed number stays in the array until half of all numbers are removed ones, so that a removal costs
/// little. Nearly every new number is the greatest.
struct RequestOrder: Sendable {
    private var ids: [RequestID] = []
    /// How many of the numbers are not pending any more.
    private var remains = 0

    /// Adds a number that was not pending.
    mutating func insert(_ id: RequestID) {
        guard let last = ids.last, id <= last else { return ids.append(id) }
        let index = firstIndex(after: id)
        // A request that is put back has its old number, which may have stayed behind.
        if index > 0, ids[index - 1] == id { remains -= 1 } else { ids.insert(id, at: index) }
    }

    /// Notes that one request is not pending any more; `isPending` says which numbers still are.
    mutating func remove(isPending: (RequestID) -> Bool) {
        remains += 1
        guard remains > 64, remains * 2 > ids.count else { return }
        ids.removeAll { !isPending($0) }
        remains = 0
    }

    /// The numbers after this one, in ascending order, including those that stayed behind.
    func after(_ id: RequestID?) -> ArraySlice<RequestID> {
        ids[(id.map(firstIndex(after:)) ?? 0)...]
    }

    private func firstIndex(after id: RequestID) -> Int {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] <= id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
