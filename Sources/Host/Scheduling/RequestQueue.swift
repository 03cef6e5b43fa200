import HeapModule
import TaskModel

/// Where a request stands in an order: by time, then by age.
///
/// Its stamp tells whether it still stands there; a key whose request moved on since is skipped when it comes up.
struct RequestKey: Comparable {
    let time: WallTime
    let id: RequestID
    let stamp: Int

    static func < (left: Self, right: Self) -> Bool { (left.time, left.id) < (right.time, right.id) }
}

/// Requests in order, from which those of some bundles can be passed over without looking at each.
struct RequestQueue {
    private struct Top: Comparable {
        let key: RequestKey
        let bundle: BundleIdentifier
        static func < (left: Self, right: Self) -> Bool { left.key < right.key }
    }

    private var bundles: [BundleIdentifier: Heap<RequestKey>] = [:]
    /// The first key of every bundle, and some that are first no longer.
    private var tops = Heap<Top>()
    /// Keys, those of requests that moved on among them.
    private(set) var count = 0

    mutating func insert(_ key: RequestKey, of bundle: BundleIdentifier) {
        bundles[bundle, default: []].insert(key)
        count += 1
        if bundles[bundle]?.min == key { tops.insert(Top(key: key, bundle: bundle)) }
    }

    /// Takes in all of another queue; costs the smaller one's length.
    mutating func absorb(_ other: RequestQueue) {
        var (large, small) = count >= other.count ? (self, other) : (other, self)
        self = RequestQueue()
        for (bundle, heap) in small.bundles {
            for key in heap.unordered { large.insert(key, of: bundle) }
        }
        small = RequestQueue()
        self = large
    }

    /// The first that stands here still, of a bundle that is not to be avoided; it is taken out.
    mutating func pop(
        standing: (RequestKey) -> Bool, avoiding isAvoided: (BundleIdentifier) -> Bool
    ) -> RequestKey? {
        var avoided: [Top] = []
        defer { for top in avoided { tops.insert(top) } }
        while let top = tops.min {
            guard bundles[top.bundle]?.min == top.key else {
                tops.removeMin()
                continue
            }
            guard standing(top.key) else {
                removeTop(top)
                continue
            }
            if isAvoided(top.bundle) {
                avoided.append(tops.removeMin())
                continue
            }
            removeTop(top)
            return top.key
        }
        return nil
    }

    /// Forgets the keys of requests that moved on.
    mutating func compact(standing: (RequestKey) -> Bool) {
        let old = bundles
        self = RequestQueue()
        for (bundle, heap) in old {
            let kept = Heap(heap.unordered.filter(standing))
            guard let first = kept.min else { continue }
            bundles[bundle] = kept
            count += kept.count
            tops.insert(Top(key: first, bundle: bundle))
        }
    }

    private mutating func removeTop(_ top: Top) {
        tops.removeMin()
        bundles[top.bundle]?.removeMin()
        count -= 1
        if let next = bundles[top.bundle]?.min {
            tops.insert(Top(key: next, bundle: top.bundle))
        } else {
            bundles[top.bundle] = nil
        }
    }
}
