import HeapModule

/// What is to happen, and when on CLOCK_BOOTTIME.
struct Agenda<Item: Sendable>: Sendable {
    /// Small, because heaps move their entries about; the items lie beside them.
    private struct Entry: Comparable {
        var time: Duration
        /// What was entered first comes first.
        let number: Int

        static func < (left: Self, right: Self) -> Bool {
            (left.time, left.number) < (right.time, right.number)
        }
    }

    private var entries = Heap<Entry>()
    private var items: [Int: Item] = [:]
    private var count = 0

    /// When the next item is due.
    var next: Duration? { entries.min?.time }

    mutating func add(_ item: Item, at time: Duration) {
        count += 1
        items[count] = item
        entries.insert(Entry(time: time, number: count))
    }

    mutating func removeFirst() -> Item? {
        entries.popMin().flatMap { items.removeValue(forKey: $0.number) }
    }

    /// Moves everything to a later time.
    mutating func delay(by gap: Duration) {
        entries = Heap(
            entries.unordered.map { entry in
                var entry = entry
                entry.time += gap
                return entry
            })
    }
}
