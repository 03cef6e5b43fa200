import HeapModule

/// A queue of future items, ordered by their time on CLOCK_BOOTTIME.
struct Agenda<Item: Sendable>: Sendable {
    /// A small entry of the heap, which moves its entries often; the items are stored separately.
    private struct Entry: Comparable {
        var time: Duration
        /// The number of the item; of two items with the same time, the one that was added first comes first.
        let number: Int

        static func < (left: Self, right: Self) -> Bool {
            (left.time, left.number) < (right.time, right.number)
        }
    }

    private var entries = Heap<Entry>()
    private var items: [Int: Item] = [:]
    private var count = 0

    /// The time of the first item; `nil` if there are no items.
    var next: Duration? { entries.min?.time }

    mutating func add(_ item: Item, at time: Duration) {
        count += 1
        items[count] = item
        entries.insert(Entry(time: time, number: count))
    }

    mutating func removeFirst() -> Item? {
        entries.popMin().flatMap { items.removeValue(forKey: $0.number) }
    }

    /// Moves all items to a later time.
    mutating func delay(by gap: Duration) {
        entries = Heap(
            entries.unordered.map { entry in
                var entry = entry
                entry.time += gap
                return entry
            })
    }
}
