import HeapModule
import TaskModel

/// Where a request stands in an order: by time, then by age.
///
/// Its stamp shows whether it still stands there; a key whose request moved on since is skipped when it comes
/// up.
struct RequestKey: Comparable {
    let time: WallTime
    let id: RequestID
    let stamp: Int

    static func < (left: Self, right: Self) -> Bool {
        left.time == right.time ? left.id < right.id : left.time < right.time
    }
}

/// Requests in order, from which those of some bundles can be passed over, or taken, without looking at each.
///
/// Bundles go by the numbers that the index gives them.
struct RequestQueue {
    /// The first of a bundle.
    struct Top: Comparable {
        let key: RequestKey
        let bundle: Int
        static func < (left: Self, right: Self) -> Bool { left.key < right.key }
    }

    private var bundles: [Int: Heap<RequestKey>] = [:]
    /// The first key of every bundle, and some that are first no longer.
    private var tops = Heap<Top>()
    /// Keys, those of requests that moved on among them.
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

    /// Takes in all of another queue; costs the smaller one's length.
    mutating func absorb(_ other: RequestQueue) {
        var (large, small) = count >= other.count ? (self, other) : (other, self)
        self = RequestQueue()
        for (bundle, keys) in small.bundles { large.give(keys, to: bundle) }
        small = RequestQueue()
        self = large
    }

    /// Takes out everything of a bundle.
    mutating func take(_ bundle: Int) -> Heap<RequestKey>? {
        guard let keys = bundles.removeValue(forKey: bundle) else { return nil }
        count -= keys.count
        return keys
    }

    /// Takes in keys of a bundle; costs the smaller number of them.
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

    /// The first that stands here still, of a bundle that is not to be avoided.
    mutating func first(standing: (RequestKey) -> Bool, avoiding avoided: [Int]) -> Top? {
        var passedOver: [Top] = []
        defer { for top in passedOver { tops.insert(top) } }
        while let top = tops.min {
            guard bundles[top.bundle]?.min == top.key else {
                tops.removeMin()
                continue
            }
            guard standing(top.key) else {
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

    /// Takes out the first of a bundle, as ``first(standing:avoiding:)`` gave it.
    mutating func remove(_ top: Top) {
        // Its top may stand behind one that is to be avoided; it is skipped when it comes up.
        if tops.min == top { tops.removeMin() }
        bundles[top.bundle]?.removeMin()
        count -= 1
        if let next = bundles[top.bundle]?.min {
            tops.insert(Top(key: next, bundle: top.bundle))
        } else {
            bundles[top.bundle] = nil
        }
    }

    /// Forgets the keys of requests that moved on.
    mutating func compact(standing: (RequestKey) -> Bool) {
        let old = bundles
        self = RequestQueue()
        for (bundle, heap) in old { give(Heap(heap.unordered.filter(standing)), to: bundle) }
    }
}
