import HeapModule
import TaskModel

/// The position of a request in a queue: first by time, then by the request's number.
///
/// The key is current if its stamp is that of the request. When the request moves to another queue, it gets a
/// new stamp, and its old keys are skipped.
struct RequestKey: Comparable {
    let time: WallTime
    let id: RequestID
    let stamp: Int

    static func < (left: Self, right: Self) -> Bool {
        left.time == right.time ? left.id < right.id : left.time < right.time
    }
}

/// A queue of requests that can skip or remove all requests of some bundles quickly.
///
/// Bundles are identified by their numbers in ``PendingIndex``.
struct RequestQueue {
    /// The first key of a bundle.
    struct Top: Comparable {
        let key: RequestKey
        let bundle: Int
        /// The rank of the bundle when this value was made; the least rank comes first.
        ///
        /// If the rank has grown since, ``first(isCurrent:avoiding:rank:)`` corrects this value.
        var rank = -Double.infinity

        static func < (left: Self, right: Self) -> Bool {
            left.rank == right.rank ? left.key < right.key : left.rank < right.rank
        }
    }

    private var bundles: [Int: Heap<RequestKey>] = [:]
    /// The first key of each bundle, and keys that were once the first.
    private var tops = Heap<Top>()
    /// The number of keys, including those that are not current.
    private(set) var count = 0

    mutating func insert(_ key: RequestKey, of bundle: Int) {
        count += 1
        let isFirst = Self.insert(key, into: &bundles[bundle, default: []])
        if isFirst { tops.insert(Top(key: key, bundle: bundle)) }
    }

    private static func insert(_ key: RequestKey, into heap: inout Heap<RequestKey>) -> Bool {
        let isFirst = heap.min.map { key < $0 } ?? true
        heap.insert(key)
        return isFirst
    }

    /// Adds all keys of another queue; takes time in proportion to the shorter queue.
    mutating func absorb(_ other: RequestQueue) {
        var (large, small) = count >= other.count ? (self, other) : (other, self)
        self = RequestQueue()
        for (bundle, keys) in small.bundles { large.give(keys, to: bundle) }
        small = RequestQueue()
        self = large
    }

    /// Removes and returns all keys of a bundle.
    mutating func take(_ bundle: Int) -> Heap<RequestKey>? {
        guard let keys = bundles.removeValue(forKey: bundle) else { return nil }
        count -= keys.count
        return keys
    }

    /// Adds keys of a bundle; takes time in proportion to the smaller number of keys.
    mutating func give(_ keys: Heap<RequestKey>, to bundle: Int) {
        guard let first = keys.min else { return }
        count += keys.count
        guard var own = bundles.removeValue(forKey: bundle) else {
            bundles[bundle] = keys
            tops.insert(Top(key: first, bundle: bundle))
            return
        }
        let oldFirst = own.min
        if own.count >= keys.count {
            own.insert(contentsOf: keys.unordered)
        } else {
            let small = own.unordered
            own = keys
            own.insert(contentsOf: small)
        }
        if let newFirst = own.min, newFirst != oldFirst { tops.insert(Top(key: newFirst, bundle: bundle)) }
        bundles[bundle] = own
    }

    /// Corrects the order after the rank of a bundle became smaller.
    mutating func reconsider(_ bundle: Int) {
        if let first = bundles[bundle]?.min { tops.insert(Top(key: first, bundle: bundle)) }
    }

    /// The first current key of the bundle with the least rank, without those of some bundles.
    ///
    /// `isCurrent` is whether a key is current. `rank` gives the rank of a bundle by its number.
    mutating func first(
        isCurrent: (RequestKey) -> Bool, avoiding avoided: [Int], rank: (Int) -> Double
    ) -> Top? {
        var passedOver: [Top] = []
        defer { for top in passedOver { tops.insert(top) } }
        while let top = tops.min {
            guard bundles[top.bundle]?.min == top.key else {
                tops.removeMin()
                continue
            }
            let rank = rank(top.bundle)
            guard top.rank == rank else {
                tops.removeMin()
                tops.insert(Top(key: top.key, bundle: top.bundle, rank: rank))
                continue
            }
            guard isCurrent(top.key) else {
                remove(top)
                continue
            }
            if avoided.contains(top.bundle) {
                passedOver.append(tops.removeMin())
                continue
            }
            return top
        }
        return nil
    }

    /// Removes a key that ``first(isCurrent:avoiding:rank:)`` returned.
    mutating func remove(_ top: Top) {
        // In `tops`, the key may come after that of a skipped bundle. Then it stays, and is ignored later.
        if tops.min == top { tops.removeMin() }
        bundles[top.bundle]?.removeMin()
        count -= 1
        if let next = bundles[top.bundle]?.min {
            tops.insert(Top(key: next, bundle: top.bundle))
        } else {
            bundles[top.bundle] = nil
        }
    }

    /// Removes all keys that are not current.
    mutating func compact(isCurrent: (RequestKey) -> Bool) {
        let old = bundles
        self = RequestQueue()
        for (bundle, heap) in old { give(Heap(heap.unordered.filter(isCurrent)), to: bundle) }
    }
}
