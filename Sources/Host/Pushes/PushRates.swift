public import TaskModel

/// How many pushes from the network each bundle, and all bundles together, may still get: token buckets.
public struct PushRates: Sendable {
    /// The greatest numbers of pushes.
    public struct Limits: Equatable, Sendable {
        /// The number for one bundle, at once and then in each minute.
        public var perBundle: Int
        /// The number for all bundles together, at once and then in each minute.
        public var inAll: Int

        /// Sets both numbers; values below 1 count as 1.
        public init(perBundle: Int, inAll: Int) {
            self.perBundle = max(1, perBundle)
            self.inAll = max(1, inAll)
        }
    }

    private struct Bucket {
        var left: Double
        /// When ``left`` was computed, on CLOCK_BOOTTIME.
        var at: Duration
        let most: Double

        init(_ most: Int, at boot: Duration) { (left, at, self.most) = (Double(most), boot, Double(most)) }

        mutating func refill(at boot: Duration) {
            left = min(most, left + most * ((boot - at) / .seconds(60)))
            at = boot
        }

        mutating func putBack() { left = min(most, left + 1) }

        /// How long until there is one; zero if there is.
        ///
        /// What is left is a sum of fractions, so 1 may be missing by a rounding error.
        var wait: Duration { left + 1e-6 >= 1 ? .zero : .seconds(60) * ((1 - left) / most) }
    }

    private let limits: Limits
    private var all: Bucket
    private var bundles: [BundleIdentifier: Bucket] = [:]

    /// Makes full buckets.
    public init(_ limits: Limits, at boot: Duration) {
        self.limits = limits
        all = Bucket(limits.inAll, at: boot)
    }

    /// Counts a push of a bundle, unless there have been too many; a refused push is not counted.
    ///
    /// Only pushes whose signature is right, and whose id is new, may be counted, so that others can't use up
    /// the numbers.
    ///
    /// - Throws: ``PushRefusal`` with the code `tooManyPushes` and the time to wait.
    public mutating func take(_ bundle: BundleIdentifier, at boot: Duration) throws(PushRefusal) {
        var own = bundles[bundle] ?? Bucket(limits.perBundle, at: boot)
        own.refill(at: boot)
        all.refill(at: boot)
        defer { bundles[bundle] = own }
        guard own.wait == .zero else { throw refusal("the bundle gets", limits.perBundle, own.wait) }
        guard all.wait == .zero else { throw refusal("all bundles get", limits.inAll, all.wait) }
        own.left -= 1
        all.left -= 1
    }

    /// Gives back what ``take(_:at:)`` took, because the push turned out to be known.
    public mutating func giveBack(_ bundle: BundleIdentifier) {
        bundles[bundle]?.putBack()
        all.putBack()
    }

    private func refusal(_ who: String, _ limit: Int, _ wait: Duration) -> PushRefusal {
        PushRefusal(
            .tooManyPushes, "\(who) at most \(limit) pushes a minute", remedy: "Send fewer, or try later",
            retryAfter: max(1, Int(wait.inSeconds.rounded(.up))))
    }
}
