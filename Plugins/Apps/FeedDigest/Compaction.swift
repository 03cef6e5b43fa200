import Foundation

/// Makes the digest smaller: it keeps each feed's newest entries, except those that are too old.
struct Compaction: Sendable {
    var digest = Digest.standard
    /// The greatest number of entries to keep of each feed.
    var entriesPerFeed = 200
    /// The age at which an entry is removed, in seconds since it was found.
    var age: TimeInterval = 90 * 24 * 60 * 60

    func run(now: Date) throws {
        let before = try digest.entries()
        var left: [String: Int] = [:]
        // The order is reversed, so that the limit keeps the newest entries.
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
