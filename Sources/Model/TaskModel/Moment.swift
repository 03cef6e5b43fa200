/// A point on the wall clock: time since 1970-01-01 00:00 UTC.
public struct WallTime: Hashable, Comparable, Sendable, Codable {
    /// Time since the epoch; negative before it.
    public var sinceEpoch: Duration

    /// Makes a point on the wall clock.
    public init(sinceEpoch: Duration) {
        self.sinceEpoch = sinceEpoch
    }

    /// Makes a point from milliseconds since the epoch, the unit of the store and the wire.
    public init(milliseconds: Int64) {
        sinceEpoch = .milliseconds(milliseconds)
    }

    /// Milliseconds since the epoch, rounded down.
    ///
    /// So a rounded point is never later, also before the epoch.
    public var milliseconds: Int64 {
        let towardsZero = sinceEpoch.wholeMilliseconds
        let isLater = towardsZero > .min && .milliseconds(towardsZero) > sinceEpoch
        return isLater ? towardsZero - 1 : towardsZero
    }

    /// Whole seconds since the epoch, rounded down.
    public var wholeSeconds: Int64 {
        let (seconds, attoseconds) = sinceEpoch.components
        return attoseconds < 0 ? seconds - 1 : seconds
    }

    /// The point as the store and the wire give it back: without anything below a millisecond.
    public var rounded: Self { Self(milliseconds: milliseconds) }

    /// Orders by time.
    public static func < (left: Self, right: Self) -> Bool { left.sinceEpoch < right.sinceEpoch }
    /// The point that is later by a duration.
    public static func + (left: Self, right: Duration) -> Self { Self(sinceEpoch: left.sinceEpoch + right) }
    /// The time between two points.
    public static func - (left: Self, right: Self) -> Duration { left.sinceEpoch - right.sinceEpoch }
}

/// One instant on the three clocks that the host uses.
///
/// Leases use `boot` (CLOCK_BOOTTIME, which includes sleep). Grace periods and the CPU window use `monotonic`
/// (CLOCK_MONOTONIC, which stops during sleep). Dates use `wall` (CLOCK_REALTIME, which may jump).
public struct Moment: Hashable, Sendable, Codable {
    /// The time on CLOCK_BOOTTIME.
    public var boot: Duration
    /// The time on CLOCK_MONOTONIC.
    public var monotonic: Duration
    /// The time on CLOCK_REALTIME.
    public var wall: WallTime

    /// Makes an instant from the readings of the three clocks.
    public init(boot: Duration, monotonic: Duration, wall: WallTime) {
        self.boot = boot
        self.monotonic = monotonic
        self.wall = wall
    }

    /// The instant after all three clocks have advanced by a duration.
    public func advanced(by duration: Duration) -> Self {
        Self(boot: boot + duration, monotonic: monotonic + duration, wall: wall + duration)
    }
}

/// A source of the current time: the machine's clocks in the host, a virtual clock in tests.
public protocol MomentSource: Sendable {
    /// Reads the three clocks.
    func now() -> Moment
}

extension Duration {
    /// Whole nanoseconds, rounded towards zero and limited to the range of `Int64` (292 years).
    public var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }

    /// Whole milliseconds, rounded towards zero and limited to the range of `Int64`.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        return product + attoseconds / 1_000_000_000_000_000
    }

    /// The duration in seconds, for display and for rates.
    public var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
