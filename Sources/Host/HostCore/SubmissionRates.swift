import TaskModel

/// How many requests the handlers of each bundle may still submit: a token bucket for each bundle.
///
/// Without it, one handler that submits in a loop would fill the store, and the host would do nothing else.
struct SubmissionRates: Sendable {
    private struct Bucket {
        /// How many submissions are left.
        var left: Double
        /// When ``left`` was computed, on CLOCK_BOOTTIME.
        var at: Duration
        /// Whether the bundle was refused a submission since the bucket was last half full; the log says it
        /// once.
        var isExceeded = false
    }

    /// The answer about one submission.
    enum Answer: Equatable {
        case accepted
        /// The bundle must wait this long for the next one; `isFirst` is true once in each flood.
        case exceeded(wait: Duration, isFirst: Bool)
    }

    private var buckets: [BundleIdentifier: Bucket] = [:]

    /// Counts a submission of a bundle's handler.
    ///
    /// - Parameters:
    ///   - bundle: The bundle.
    ///   - perMinute: How many submissions it has at once, and how many more each minute; at least 1.
    ///   - boot: The time on CLOCK_BOOTTIME.
    /// - Returns: Whether it is within the rate.
    mutating func take(of bundle: BundleIdentifier, perMinute: Int, at boot: Duration) -> Answer {
        let most = Double(max(1, perMinute))
        var bucket = buckets[bundle] ?? Bucket(left: most, at: boot)
        bucket.left = min(most, bucket.left + most * ((boot - bucket.at) / .seconds(60)))
        bucket.at = boot
        if bucket.left >= most / 2 { bucket.isExceeded = false }
        defer { buckets[bundle] = bucket }
        // What is left is a sum of fractions, so 1 may be missing by a rounding error.
        guard bucket.left + 1e-6 >= 1 else {
            let isFirst = !bucket.isExceeded
            bucket.isExceeded = true
            return .exceeded(wait: .seconds(60) * ((1 - bucket.left) / most), isFirst: isFirst)
        }
        bucket.left -= 1
        return .accepted
    }
}
