import Foundation

/// Prunes the digest: of each feed the newest entries stay, and of those what is not too old.
struct Compaction: Sendable {
    var digest = Digest.standard
    /// How many entries of a feed stay at most.
    var entriesPerFeed = 200
    /// How many seconds after an entry was found it goes.
    var age: TimeInterval = 90 * 24 * 60 * 60

    func run(now: Date) throws {
        let before = try digest.entries()
        var left: [String: Int] = [:]
        // From the newest back, so that the newest are the ones that stay.
        let kept = before.reversed().filter { entry in
            left[entry.feed, default: 0] += 1
            return left[entry.feed, default: 0] <= entriesPerFeed && now.timeIntervalSince(entry.found) <= age
        }
        try Task.checkCancellation()
        guard kept.count < before.count else { return }
        try digest.replace(with: kept.reversed())
        Chain.logger.notice("compacted: \(kept.count) of \(before.count) entries stay")
    }
}
